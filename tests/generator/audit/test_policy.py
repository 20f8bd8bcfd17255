"""A policy that is there has to hold: it lists every inline script, and lets nothing else in."""

from __future__ import annotations

import pytest

from generator.audit import policy as audited
from generator.render.policy import HEAD, governed

DATA = "<script type='application/json'>{}</script>"
PAGE = f"<head>{HEAD}<script>one()</script>{DATA}</head><script src=a.js></script>"


def messages(html: str) -> list[str]:
    return [each.message for each in audited.judge(html)]


def test_what_the_renderer_writes_the_audit_accepts() -> None:
    assert messages(governed(PAGE)) == []
    assert governed(PAGE).count("'sha256-") == 1


def test_a_page_without_a_policy_is_left_to_its_builder() -> None:
    assert messages(PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("one()", "two()", "does not list this script"),
        ("</head>", "<script type=module>import 'a'</script></head>", "does not list this script"),
        ("script-src 'self'", "script-src 'unsafe-inline' 'self'", "'unsafe-inline'"),
        ("script-src 'self'", "script-src https://example.org 'self'", "https://example.org"),
        ("script-src 'self'", "script-src *; script-src 'self'", "from *"),
    ],
)
def test_a_policy_that_does_not_hold_is_refused(old: str, new: str, said: str) -> None:
    spoiled = governed(PAGE).replace(old, new, 1)
    assert any(said in each for each in messages(spoiled))
