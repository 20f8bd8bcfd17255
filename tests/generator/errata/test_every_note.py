"""Wherever a corrected number is read, a missing note is refused: no page can keep quiet about an erratum."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import corrected_record as record
import pytest
import sample_record
from test_errata_pages import SECOND, TABLE

from generator import audit
from generator.render.publish import publish

ALIAS = f"payloads: {{a: {record.LOOKUP}}}\n"
KILL = f"""---
id: K-2
title: Checks emit {{{{ a.results.tokens_per_check | places(2) }}}} tokens
fires_when: a.results.tokens_per_check.high < a.results.vanilla
{ALIAS}---

Stop below {{{{ a.results.vanilla }}}}; a check emits {{{{ a.results.tokens_per_check | places(1) }}}} tokens.
"""
DEVIATIONS = f"""---
deviations: []
{ALIAS}---

Nothing was bent at {{{{ (a.results.tokens_per_check / a.results.vanilla) | times(1) }}}}.
"""
LISTED = sample_record.PAGE + '\n{% listing "kills" %}\n\n{% listing "findings" %}\n'
CLAIMED = f"""---
title: Claims
{ALIAS}---

# Claims

It is {{% claim a.results.tokens_per_check > a.results.vanilla %}}more{{% endclaim %}} than nothing.

The prompts are {{{{ a.results.tokens_per_check.clusters }}}}, with either count.
"""
CHANGES = {
    record.FIRST: record.erratum(1),
    record.SECOND: SECOND,
    "findings/K-2.md": KILL,
    "findings/DEVIATIONS.md": DEVIATIONS,
    "site_src/reading.md": TABLE,
    "site_src/listed.md": LISTED,
    "site_src/claims.md": CLAIMED,
}

NOTE = re.compile(r'<aside class="erratum-note".*?</aside>', re.DOTALL)
HEAD = re.compile(r'<div class="correction">.*?</div>', re.DOTALL)
NAMED = re.compile(r" by <a[^<>]*>E-1</a>, <a[^<>]*>E-2</a>")
PLACES = [
    ("findings/F-01.html", NOTE, 4),
    ("findings/F-01.html", HEAD, 2),
    ("index.html", NOTE, 2),
    ("index.html", NAMED, 1),
    ("reading.html", NOTE, 6),
    ("claims.html", NOTE, 2),
    ("kill-criteria.html", NOTE, 2),
    ("kill-criteria.html", HEAD, 4),
    ("deviations.html", NOTE, 2),
    ("listed.html", NAMED, 3),
    ("findings/index.html", NAMED, 1),
]

Site = tuple[Path, audit.Audit]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    root = record.write(tmp_path_factory.mktemp("noted"), CHANGES)
    publish(root, root / "site")
    judged = audit.Audit(root, root / "site")
    assert not judged.run().refusals
    return root / "site", judged


def _refused(site: Site, page: str, change: Callable[[str], str]) -> set[str]:
    """The codes with which a changed page is refused; the page is put back."""
    folder, judged = site
    file = folder / page
    before = file.read_bytes()
    try:
        file.write_text(change(before.decode()), "utf-8")
        return {each.code for each in judged.again([page]).refusals}
    finally:
        file.write_bytes(before)


@pytest.mark.parametrize(("page", "pattern", "count"), PLACES)
def test_each_note_that_is_left_out_or_without_its_reason_is_refused(
    site: Site, page: str, pattern: re.Pattern[str], count: int
) -> None:
    found = list(pattern.finditer((site[0] / page).read_text("utf-8")))
    assert len(found) == count
    for each in found:
        left_out = each.string[: each.start()] + each.string[each.end() :]
        assert "bad-erratum" in _refused(site, page, lambda _, text=left_out: text)
        if pattern is not NAMED:
            other = re.sub("(?:Rounds|So was) [^.]*", "Never mind", each[0])
            silent = each.string[: each.start()] + other + each.string[each.end() :]
            assert "bad-erratum" in _refused(site, page, lambda _, text=silent: text)


def test_a_note_a_paragraph_later_is_not_beside_its_number(site: Site) -> None:
    moved = _refused(site, "claims.html", lambda text: NOTE.sub(lambda each: f"<p>So.</p>{each[0]}", text, 1))
    assert moved == {"bad-erratum"}


def test_a_field_that_reads_the_same_before_and_after_wants_no_note(site: Site) -> None:
    html = (site[0] / "claims.html").read_text("utf-8")
    last = html.index("The prompts are")
    assert 'data-ptr="/results/tokens_per_check/clusters"' in html[last:]
    assert "erratum-note" not in html[last:]
