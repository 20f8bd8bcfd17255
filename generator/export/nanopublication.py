"""One assertion a finding, as nanopublications are made: what is said, from what, published by whom."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from generator.export.contents import Contents, provenance
from generator.export.trail import leaves
from generator.number.evaluate import Evaluation
from generator.record.version import DISTRIBUTION, installed

CONTEXT = {
    "np": "http://www.nanopub.org/nschema#",
    "prov": "http://www.w3.org/ns/prov#",
    "dct": "http://purl.org/dc/terms/",
    "schema": "http://schema.org/",
    "f": "urn:findings:",
}


def written(contents: Contents, evaluations: Mapping[str, Evaluation]) -> Iterator[tuple[str, bytes]]:
    """Path and bytes of each, by the id of the finding."""
    for each in contents.record.findings:
        document = publication(contents, evaluations[each.path])
        text = json.dumps(document, indent=2, ensure_ascii=False)
        yield f"nanopublications/{each.id}.json", f"{text}\n".encode()


def publication(contents: Contents, evaluation: Evaluation) -> dict[str, object]:
    """Head, assertion, provenance and publication info of a finding, each a named graph."""
    source = evaluation.source
    name = f"f:{source.id}"
    page = f"findings/{source.id}.html"
    numbers = contents.numbers["pages"].get(page, {})
    graphs = {each: f"{name}/{each}" for each in ("assertion", "provenance", "pubinfo")}
    head = {
        "@id": name,
        "@type": "np:Nanopublication",
        "np:hasAssertion": {"@id": graphs["assertion"]},
        "np:hasProvenance": {"@id": graphs["provenance"]},
        "np:hasPublicationInfo": {"@id": graphs["pubinfo"]},
    }
    asserted = {
        "@id": f"{name}/finding",
        "schema:name": _title(contents, page),
        "f:status": evaluation.status.words if evaluation.status else "open",
        "f:number": [_number(page, key, entry) for key, entry in numbers.items()],
    }
    return {
        "@context": CONTEXT,
        "@graph": [
            {"@id": f"{name}/head", "@graph": [head]},
            {"@id": graphs["assertion"], "@graph": [asserted]},
            {"@id": graphs["provenance"], "@graph": [_origin(contents, graphs["assertion"], numbers)]},
            {"@id": graphs["pubinfo"], "@graph": [_published(contents, name)]},
        ],
    }


def _title(contents: Contents, page: str) -> str:
    """The title as the finished page says it to machines."""
    html = contents.files[f"site/{page}"].decode()
    _, _, after = html.partition('<script type="application/ld+json">')
    return str(json.loads(after.partition("</script>")[0])["name"])


def _number(page: str, key: str, entry: Mapping[str, Any]) -> dict[str, object]:
    about: dict[str, object] = {
        "@id": f"f:number/{quote(f'{page}#{key}', safe='/')}",
        "schema:value": entry["shown"],
        "f:exact": entry["value"],
        "f:page": f"{page}#{key}",
    }
    if "path" in entry:
        return about | {"f:payload": entry["path"], "f:pointer": entry["pointer"], "f:line": entry["line"]}
    return about | {"f:expression": json.dumps(entry["expression"], separators=(",", ":"))}


def _origin(contents: Contents, assertion: str, numbers: Mapping[str, Any]) -> dict[str, object]:
    """The payloads that the assertion is derived from, by content, and the runs that made them."""
    paths = (
        path
        for entry in numbers.values()
        for path in ([entry["path"]] if "path" in entry else leaves(entry["expression"]))
    )
    return {
        "@id": assertion,
        "prov:wasDerivedFrom": [_payload(contents, path) for path in dict.fromkeys(paths)],
    }


def _payload(contents: Contents, path: str) -> dict[str, object]:
    about = provenance(contents.record.payloads[path])
    command = about.get("command", "")
    return {
        "@id": contents.numbers["payloads"][path]["swhid"],
        "schema:name": path,
        "schema:sha256": contents.numbers["payloads"][path]["sha256"],
        "f:command": command if isinstance(command, str) else " ".join(map(str, command)),
        "f:commit": str(about.get("commit", "")),
    }


def _published(contents: Contents, name: str) -> dict[str, object]:
    about: dict[str, object] = {
        "@id": name,
        "dct:created": contents.date,
        "f:generator": f"{DISTRIBUTION} {installed()}",
        "f:commit": contents.commit,
    }
    if people := contents.people:
        about["dct:creator"] = [person["name"] for person in people]
    if licence := contents.citation.get("license"):
        about["dct:license"] = {"@id": f"https://spdx.org/licenses/{licence}"}
    return about
