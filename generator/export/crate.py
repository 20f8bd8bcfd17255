"""The RO-Crate of an export: files with sizes and digests, people, licence. The one door to rocrate."""

from __future__ import annotations

import json
from hashlib import sha256
from mimetypes import MimeTypes

from rocrate.model.contextentity import ContextEntity
from rocrate.model.person import Person
from rocrate.model.softwareapplication import SoftwareApplication
from rocrate.rocrate import ROCrate

from generator.export.contents import Contents
from generator.record.version import DISTRIBUTION, installed

PATH = "ro-crate-metadata.json"
TYPES = MimeTypes(filenames=())
"""Media types as Python knows them, whatever the machine says."""
TYPES.add_type("text/markdown", ".md")


def metadata(contents: Contents) -> bytes:
    """The metadata file, equal for equal contents."""
    crate = ROCrate()
    crate.name = contents.name
    crate.description = str(contents.citation.get("abstract") or f"{contents.name}: a record of findings.")
    crate.datePublished = contents.date
    if licence := contents.citation.get("license"):
        address = f"https://spdx.org/licenses/{licence}"
        about = {"@type": "CreativeWork", "name": str(licence)}
        crate.license = crate.add(ContextEntity(crate, address, about))
    if contents.commit:
        crate.root_dataset["version"] = contents.commit
    people = [_person(crate, each) for each in contents.people]
    if people:
        crate.root_dataset["author"] = people
    generator = crate.add(_software(crate))
    for path, data in contents.files.items():
        _add_file(crate, contents, path, data, generator)
    text = json.dumps(crate.metadata.generate(), indent=2, ensure_ascii=False)
    return f"{text}\n".encode()


def _person(crate: ROCrate, person: dict[str, str]) -> Person:
    identifier = person.get("orcid") or f"#{'-'.join(person['name'].lower().split())}"
    return crate.add(Person(crate, identifier, {"name": person["name"]}))


def _software(crate: ROCrate) -> SoftwareApplication:
    about = {"name": DISTRIBUTION, "softwareVersion": installed()}
    return SoftwareApplication(crate, f"#{DISTRIBUTION}", about)


def _add_file(
    crate: ROCrate, contents: Contents, path: str, data: bytes, generator: SoftwareApplication
) -> None:
    kind = TYPES.guess_type(path)[0] or "application/octet-stream"
    about: dict[str, object] = {
        "name": path,
        "contentSize": str(len(data)),
        "sha256": sha256(data).hexdigest(),
        "encodingFormat": kind,
    }
    finding = next((each for each in contents.record.findings if each.path == path), None)
    if finding:
        about["isBasedOn"] = [{"@id": each} for each in dict.fromkeys(finding.payloads.values())]
    file = crate.add_file(dest_path=path, properties=about)
    if path.startswith("site/"):
        file["creator"] = generator
