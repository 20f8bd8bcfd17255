"""The audit passes an honest site and refuses each planted fault with its own code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import finished_site as made
import pytest

from generator.audit import verify
from generator.report.refusal import Report

FINDING = "site/findings/F-01.html"
PAYLOAD_PAGE = "site/payloads/acceptance/lookup.html"
DIGEST = made.Payload().sha256


def _report(root: Path, changes: dict[str, str] | None = None) -> Report:
    made.write(root, changes)
    return verify(root, root / "site")


def _codes(root: Path, changes: dict[str, str]) -> set[str]:
    return {each.code for each in _report(root, changes).refusals}


def test_an_honest_site_passes_and_is_counted(tmp_path: Path) -> None:
    report = _report(tmp_path)
    assert report.refusals == []
    assert (report.numbers, report.derived, report.claims, report.computed, report.pages) == (11, 1, 2, 9, 5)
    assert report.exempt["verbatim lines"] == 18


LEAF = made.leaf("/results/tokens/value", "places(2)", "2.60")
CLUSTERS = made.leaf("/results/tokens/clusters", "words", "eighty-four")
DERIVED = made.derived(made.RATIO, "12989/5000", "times(2)", "2.60×")
SIGNED = made.leaf("/results/margin/value", "signed(3)", "−0.007")
TARGET = made.leaf("/regime/target", "text", "SmolLM2-135M")


def _leaf(**changes: str) -> str:
    """The first mark with attributes or its link changed."""
    mark = LEAF
    for name, value in changes.items():
        mark = re.sub(
            rf' {name.replace("_", "-")}="[^"]*"', f' {name.replace("_", "-")}="{value}"', mark, count=1
        )
    return mark


MARKS: dict[str, tuple[str, str, str]] = {
    "a number replaced by its own text": (LEAF, "2.60", "untraced-number"),
    "a number word replaced by its own text": (CLUSTERS, "eighty-four", "untraced-word"),
    "a derived number replaced by its own text": (DERIVED, "2.60×", "untraced-number"),
    "another shown text": (LEAF, LEAF.replace(">2.60<", ">2.61<"), "display-mismatch"),
    "rounding half up": (SIGNED, SIGNED.replace("−0.007", "−0.006"), "display-mismatch"),
    "a hyphen for a minus": (SIGNED, SIGNED.replace("−0.007", "-0.007"), "display-mismatch"),
    "another value": (LEAF, _leaf(value="2.5979"), "display-mismatch"),
    "an equal value written otherwise": (LEAF, _leaf(value="2.59780"), "display-mismatch"),
    "another digest": (LEAF, _leaf(data_sha256="0" * 64), "payload-changed"),
    "another line": (LEAF, _leaf(data_line="9"), "place-mismatch"),
    "another span": (LEAF, _leaf(data_span="1-7"), "place-mismatch"),
    "a span that is no span": (LEAF, _leaf(data_span="x"), "place-mismatch"),
    "a neighbour's pointer": (LEAF, _leaf(data_ptr="/results/tokens/low"), "place-mismatch"),
    "a pointer to nothing": (LEAF, _leaf(data_ptr="/results/tokens/mean"), "unknown-field"),
    "a pointer that is none": (LEAF, _leaf(data_ptr="results"), "unknown-field"),
    "a pointer to an object": (LEAF, _leaf(data_ptr="/results/tokens"), "place-mismatch"),
    "a payload that is not there": (LEAF, _leaf(data_src="payloads/none.json"), "unknown-payload"),
    "a path out of the repository": (LEAF, _leaf(data_src="../x.json"), "unknown-payload"),
    "an absolute path": (LEAF, _leaf(data_src="/etc/hostname"), "unknown-payload"),
    "a form of another kind": (LEAF, _leaf(data_format="places(3)"), "display-mismatch"),
    "a form that is none": (LEAF, _leaf(data_format="float"), "display-mismatch"),
    "a percentage of a value with a unit": (
        made.leaf("/results/rate/value", "plain", "36"),
        made.leaf("/results/rate/value", "percent(0)", "3600%"),
        "unit-mismatch",
    ),
    "times of a value with a unit": (LEAF, LEAF.replace("places(2)", "times(2)"), "unit-mismatch"),
    "a value that would vanish": (
        made.leaf("/results/tiny/value", "sig(2)", "1.5 × 10⁻⁶"),
        made.leaf("/results/tiny/value", "places(2)", "0.00"),
        "zero-shown",
    ),
    "an attribute left out": (LEAF, LEAF.replace(' data-line="8"', ""), "untraced-number"),
    "an attribute too many": (
        LEAF,
        LEAF.replace(" data-line", ' data-note="x" data-line'),
        "untraced-number",
    ),
    "a class of its own": (LEAF, LEAF.replace('class="num"', 'class="num forged"'), "untraced-number"),
    "a data element that is no mark": (LEAF, '<data value="2.60">2.60</data>', "untraced-number"),
    "a mark with a second number in it": (LEAF, LEAF.replace("</a>", "</a> 9"), "untraced-number"),
    "a mark around markup": (LEAF, LEAF.replace(">2.60<", "><b>2.60</b><"), "untraced-number"),
    "a mark without a link": (LEAF, re.sub(r"</?a[^>]*>", "", LEAF), "place-mismatch"),
    "a link to another line": (LEAF, LEAF.replace("#L8", "#L9"), "place-mismatch"),
    "a link to another page": (LEAF, LEAF.replace("lookup.html", "other.html"), "place-mismatch"),
    "a link to a page that shows no lines": (
        LEAF,
        re.sub('href="[^"]*"', 'href="F-01.html#L8"', LEAF),
        "place-mismatch",
    ),
    "a link out of the site": (LEAF, LEAF.replace("../payloads", "https://x.org"), "place-mismatch"),
    "text from elsewhere in the payload": (
        TARGET,
        made.leaf("/config/secret", "text", "Twelve models won."),
        "unknown-field",
    ),
    "text that was changed": (TARGET, TARGET.replace(">SmolLM2-135M<", ">SmolLM2-136M<"), "display-mismatch"),
    "text passed off as a number": (TARGET, TARGET.replace("num text", "num"), "unknown-field"),
    "an interval with its bounds swapped": (
        made.interval(),
        f'<span class="ci">{LEAF} [{made.leaf("/results/tokens/high", "places(2)", "2.80")},'
        f" {made.leaf('/results/tokens/low', 'places(2)', '2.41')}]</span>",
        "place-mismatch",
    ),
    "an interval of two forms": (
        made.interval(),
        made.interval().replace("places(2)", "places(1)", 1).replace(">2.60<", ">2.6<", 1),
        "display-mismatch",
    ),
    "an interval without its bounds": (
        made.interval(),
        f'<span class="ci">{LEAF}</span>',
        "display-mismatch",
    ),
    "a derived value changed": (DERIVED, DERIVED.replace("12989/5000", "13/5"), "display-mismatch"),
    "a derived value not in lowest terms": (
        DERIVED,
        DERIVED.replace("12989/5000", "25978/10000"),
        "display-mismatch",
    ),
    "a derived text changed": (DERIVED, DERIVED.replace(">2.60×<", ">2.61×<"), "display-mismatch"),
    "an expression changed": (
        DERIVED,
        made.derived(["*", *made.RATIO[1:]], "12989/5000", "times(2)", "2.60×"),
        "display-mismatch",
    ),
    "a digest in an expression changed": (
        DERIVED,
        DERIVED.replace(DIGEST, "0" * 64, 1),
        "payload-changed",
    ),
    "a literal in an expression": (
        DERIVED,
        made.derived(["/", made.RATIO[1], "1"], "12989/5000", "times(2)", "2.60×"),
        "literal-in-expression",
    ),
    "units put together": (
        DERIVED,
        made.derived(["+", made.operand("/results/bytes/value"), made.RATIO[1]], "1/1", "places(2)", "1.00"),
        "unit-mismatch",
    ),
    "times of a ratio with a unit": (
        DERIVED,
        made.derived(["/", made.RATIO[1], made.operand("/results/bytes/value")], "1/1", "times(2)", "1.00×"),
        "display-mismatch",
    ),
    "a division by zero": (
        DERIVED,
        made.derived(["/", made.RATIO[1], ["-", made.RATIO[1], made.RATIO[1]]], "1/1", "times(2)", "1.00×"),
        "bad-template",
    ),
    "an expression that is no JSON": (
        DERIVED,
        re.sub('data-expression="[^"]*"', 'data-expression="["', DERIVED),
        "bad-template",
    ),
    "an expression without fields": (DERIVED, made.derived(["min"], "1/1", "places(0)", "1"), "bad-template"),
    "a claim that is false": (
        made.claim(made.FASTER, "more than plain decoding"),
        made.claim(["<", *made.FASTER[1:]], "more than plain decoding"),
        "claim-false",
    ),
    "a claim about nothing": (
        made.claim(made.TWICE, "twice"),
        made.claim(["==", "2", "2"], "twice"),
        "untraced-word",
    ),
    "a word that its claim does not name": (
        made.claim(made.TWICE, "twice"),
        made.claim(made.FASTER, "twice"),
        "untraced-word",
    ),
    "a cardinal inside a claim": (
        made.claim(made.TWICE, "twice"),
        made.claim(made.TWICE, "two"),
        "untraced-word",
    ),
    "a claim without its comparison": (
        made.claim(made.TWICE, "twice"),
        '<span class="claim">twice</span>',
        "bad-template",
    ),
    "a sign typed before a number": (SIGNED, "−" + LEAF, "display-mismatch"),
    "a sign and a space before a number": (f" {SIGNED}", f" = - {LEAF}", "display-mismatch"),
    "a percent sign typed after a number": (LEAF, LEAF + "%", "unit-mismatch"),
    "percent in words after a number": (CLUSTERS, LEAF + " percent", "unit-mismatch"),
    "a suffix typed after a number": (LEAF, LEAF + "k", "display-mismatch"),
    "a point typed before a number": (LEAF, " ." + LEAF, "display-mismatch"),
    "two numbers run together": (LEAF, LEAF + LEAF, "display-mismatch"),
    "two numbers joined by a point": (LEAF, LEAF + "." + LEAF, "display-mismatch"),
    "minus in words before a number": (SIGNED, "minus " + LEAF, "display-mismatch"),
    "a magnitude typed after a number": (LEAF, LEAF + "\u00a0k", "display-mismatch"),
    "a title on the link of a mark": (LEAF, LEAF.replace("<a ", '<a title="9" '), "untraced-number"),
    "an anchor that passes for a line": ("<p>It", '<p id="L8">It', "place-mismatch"),
    "a base address": ("</head>", '<base href="https://x.org/"></head>', "bad-page"),
    "a drawing inside an address": (
        'src="x5.png"',
        'src="data:image/svg+xml,%3Csvg%3E%3Ctext%3E7%3C/text%3E%3C/svg%3E"',
        "bad-page",
    ),
    "a list that counts down": ("</body>", "<ol reversed><li>a</li></ol></body>", "untraced-number"),
    "a digit typed against a number": (LEAF, LEAF + "5", "untraced-number"),
    "an id that leads elsewhere": ('href="F-01.html">F-01', 'href="../index.html">F-01', "unknown-id"),
    "an id that leads nowhere": ("kill-criteria.html#K-1", "kill-criteria.html#K-2", "unknown-id"),
    "an id of nothing": (">K-1</a>", ">K-9</a>", "unknown-id"),
    "template markup left over": ("like GPT-4", "like {{ a.x }} GPT-4", "leftover-template"),
    "template markup left over in an attribute": ('title="words"', 'title="{{ a.x }}"', "leftover-template"),
    "a name that is not in the list": ("like GPT-4", "like GPT-5", "untraced-number"),
}


@pytest.mark.parametrize(("old", "new", "code"), MARKS.values(), ids=MARKS.keys())
def test_a_changed_mark_is_refused(old: str, new: str, code: str, tmp_path: Path) -> None:
    honest = made.finding_page()
    assert old in honest
    assert code in _codes(tmp_path, {FINDING: honest.replace(old, new)})


def test_a_number_of_a_payload_that_its_finding_does_not_declare_is_refused(tmp_path: Path) -> None:
    finding = made.FINDING.replace(made.PATH, "payloads/acceptance/other.json")
    assert _codes(tmp_path, {"findings/F-01.md": finding}) >= {"payload-undeclared"}
    erratum = f"---\nid: E-1\nfinding: F-01\npayloads: {{a: {made.PATH}}}\n---\nText.\n"
    corrected = {"findings/F-01.md": finding, "findings/errata/E-1.md": erratum}
    assert "payload-undeclared" not in _codes(tmp_path, corrected)


PLANTED: dict[str, tuple[str, Callable[[str], str]]] = {
    "body": (FINDING, lambda text: text.replace("</body>", "<p>It is 7.</p></body>")),
    "title": (FINDING, lambda text: text.replace("<title>", "<title>7 of ")),
    "title that claims another number": (
        FINDING,
        lambda text: text.replace("<title>A check emits 2.60", "<title>A check emits 2.41"),
    ),
    "description": (FINDING, lambda text: text.replace('content="emits', 'content="7 emits')),
    "description that turns the sentence": (
        FINDING,
        lambda text: text.replace('content="emits', 'content="never emits'),
    ),
    "keywords": (FINDING, lambda text: text.replace("</head>", '<meta name="keywords" content="7"></head>')),
    "navigation": (FINDING, lambda text: text.replace("<nav>", '<nav><a href="../index.html">7 more</a>')),
    "table of contents": (
        FINDING,
        lambda text: text.replace('">A check emits 2.60 tokens</a>', '">A check emits 2.41 tokens</a>'),
    ),
    "alternative text": (FINDING, lambda text: text.replace('alt="a curve"', 'alt="7 curves"')),
    "title attribute": (FINDING, lambda text: text.replace('title="words"', 'title="7 words"')),
    "spoken label": (FINDING, lambda text: text.replace("<p>It", '<p aria-label="7">It')),
    "drawing": (FINDING, lambda text: text.replace("</body>", "<svg><text>7</text></svg></body>")),
    "linked data": (
        FINDING,
        lambda text: text.replace(
            "</head>", '<script type="application/ld+json">{"name": "7 runs"}</script></head>'
        ),
    ),
    "linked data, a number": (
        FINDING,
        lambda text: text.replace(
            "</head>", '<script type="application/ld+json">{"value": 7}</script></head>'
        ),
    ),
    "style element": (
        FINDING,
        lambda text: text.replace("</head>", '<style>p::before { content: "7" }</style></head>'),
    ),
    "attribute that a stylesheet prints": (
        FINDING,
        lambda text: text.replace("<p>It", '<p data-line="7">It'),
    ),
    "noscript": (FINDING, lambda text: text.replace("</body>", "<noscript>7</noscript></body>")),
    "template element": (FINDING, lambda text: text.replace("</body>", "<template>7</template></body>")),
    "hidden paragraph": (FINDING, lambda text: text.replace("</body>", "<p hidden>7</p></body>")),
    "form field": (
        FINDING,
        lambda text: text.replace("</body>", '<input value="7"><textarea>8</textarea></body>'),
    ),
    "error page": ("site/404.html", lambda text: text.replace("</body>", "<p>7</p></body>")),
    "stylesheet": ("site/assets/own.css", lambda text: text.replace("→", "\\37")),
    "stylesheet counter": (
        "site/assets/own.css",
        lambda text: text + "li::before { content: counter(item) }",
    ),
    "search title": (
        "site/search/search_index.json",
        lambda text: text.replace("A check emits 2.60", "A check emits 2.61"),
    ),
    "search text": (
        "site/search/search_index.json",
        lambda text: text.replace("It emits 2.60", "It emits 2.41"),
    ),
    "search text of another page": (
        "site/search/search_index.json",
        lambda text: text.replace("findings/F-01.html#emits", "index.html"),
    ),
    "feed": ("site/feed.xml", lambda text: "<rss><channel><title>7 runs</title></channel></rss>"),
    "plain text": ("site/llms.txt", lambda text: "It is 7.\n"),
    "drawing in a file": ("site/figure.svg", lambda text: "<svg><text>7</text></svg>"),
}


@pytest.mark.parametrize(("path", "plant"), PLANTED.values(), ids=PLANTED.keys())
def test_a_numeral_planted_on_a_surface_is_refused(
    path: str, plant: Callable[[str], str], tmp_path: Path
) -> None:
    honest = made.files().get(path, "")
    planted = plant(honest)
    assert planted != honest
    assert "untraced-number" in _codes(tmp_path, {path: planted})


@pytest.mark.parametrize("path", [FINDING, "site/404.html", "site/index.html"])
@pytest.mark.parametrize(
    "word",
    [
        "seven",
        "thr<i>ee</i>",
        "th&shy;ree",
        "th<script></script>ree",
        "th<noscript></noscript>ree",
        "th<!-- -->ree",
        "half",
        "the third",
    ],
)
def test_a_number_word_planted_in_a_page_is_refused(path: str, word: str, tmp_path: Path) -> None:
    text = made.files()[path].replace("</body>", f"<p>There is {word} run.</p></body>")
    assert _codes(tmp_path, {path: text}) == {"untraced-word"}


def _lexemes() -> list[tuple[int, str]]:
    """Offset and digit of each digit of each value that the finding cites."""
    payload = made.Payload()
    pointers = sorted(set(re.findall(r'data-ptr="([^"]+)"', made.finding_page())) - {"/regime/target"})
    found = []
    for pointer in pointers:
        _, _, start, end = payload.place(pointer)
        found += [(at, chr(payload.data[at])) for at in range(start, end) if chr(payload.data[at]).isdigit()]
    return found


@pytest.mark.parametrize(("at", "digit"), _lexemes())
def test_a_changed_digit_of_a_cited_value_is_refused_though_every_digest_agrees(
    at: int, digit: str, tmp_path: Path
) -> None:
    text = made.PAYLOAD[:at] + str((int(digit) + 1) % 9 + (digit == "8")) + made.PAYLOAD[at + 1 :]
    new = made.Payload(text).sha256
    changes = {
        path: content.replace(DIGEST, new) for path, content in made.files().items() if path != made.PATH
    }
    changes |= {made.PATH: text, "site/payloads/acceptance/lookup.json": text}
    changes[PAYLOAD_PAGE] = made.payload_page(made.Payload(text))
    assert _codes(tmp_path, changes) & {"display-mismatch", "zero-shown", "claim-false", "bad-payload"}


def test_a_payload_page_without_anchors_is_no_place_to_land(tmp_path: Path) -> None:
    text = re.sub(r'<span id="L\d+">(.*)</span>', r"\1", made.payload_page())
    assert "place-mismatch" in _codes(tmp_path, {PAYLOAD_PAGE: text})


def test_the_offline_form_of_the_search_index_is_read_too(tmp_path: Path) -> None:
    honest = "var __index = " + made.files()["site/search/search_index.json"] + ";"
    assert _codes(tmp_path, {"site/search/search_index.js": honest}) == set()
    planted = honest.replace("It emits 2.60", "It emits 2.41")
    assert "untraced-number" in _codes(tmp_path, {"site/search/search_index.js": planted})


@pytest.mark.parametrize(("shown", "codes"), [("code", set()), ("em", {"untraced-word"})])
def test_a_word_of_code_is_a_word_of_code_in_the_search_index_too(
    shown: str, codes: set[str], tmp_path: Path
) -> None:
    words = "Start it with mitigation none now."
    page = made.page(f"<p>{words.replace('none', f'<{shown}>none</{shown}>')}</p>")
    entry = {"location": "serve.html", "title": "Serve", "text": f"<p>{words}</p>"}
    index = {**made.SEARCH, "docs": [entry]}
    changes = {"site/serve.html": page, "site/search/search_index.json": json.dumps(index)}
    assert _codes(tmp_path, changes) == codes
    elsewhere = json.dumps({**index, "docs": [{**entry, "location": "404.html"}]})
    assert "untraced-word" in _codes(tmp_path, {**changes, "site/search/search_index.json": elsewhere})


VERBATIM: dict[str, tuple[str, str, str]] = {
    "a digit of the block": ("2.5978", "2.5979", "display-mismatch"),
    "a line left out": ('<span id="L9">', '<span id="L9" hidden>', "display-mismatch"),
    "an anchor moved": ('<span id="L9">', '<span id="L10">', "place-mismatch"),
    "lines beyond the file": ("#L1-L18", "#L1-L19", "place-mismatch"),
    "lines without a range": (
        f'data-verbatim="{made.PATH}#L1-L18"',
        f'data-verbatim="{made.PATH}"',
        "untraced-number",
    ),
    "a digest of the block": (
        f'<pre data-verbatim="{made.PATH}#L1-L18" data-sha256="{DIGEST}"',
        f'<pre data-verbatim="{made.PATH}#L1-L18" data-sha256="{"0" * 64}"',
        "payload-changed",
    ),
    "a line number": ("1\n2\n3", "1\n3\n3", "place-mismatch"),
    "a line number too many": ("17\n18", "17\n18\n19", "place-mismatch"),
    "a payload digest shown": (
        made.computed(f"sha256:{made.PATH}", DIGEST),
        made.computed(f"sha256:{made.PATH}", "0" * 64),
        "display-mismatch",
    ),
}


@pytest.mark.parametrize(("old", "new", "code"), VERBATIM.values(), ids=VERBATIM.keys())
def test_a_changed_copy_of_a_file_is_refused(old: str, new: str, code: str, tmp_path: Path) -> None:
    honest = made.payload_page()
    assert old in honest
    assert code in _codes(tmp_path, {PAYLOAD_PAGE: honest.replace(old, new)})


@pytest.mark.parametrize(
    "rule", ["findings-count", "findings-count:null", "payloads-count", "numbers-count", "kills-count"]
)
def test_a_computed_number_is_counted_again(rule: str, tmp_path: Path) -> None:
    text = re.sub(rf'"{rule}" value="\d+">\d+<', f'"{rule}" value="5">5<', made.landing_page())
    assert _codes(tmp_path, {"site/index.html": text}) == {"display-mismatch"}


@pytest.mark.parametrize("rule", ["made-up", "findings-count:good", "sha256:findings/none.md", "date"])
def test_a_rule_outside_the_table_is_refused(rule: str, tmp_path: Path) -> None:
    text = made.page(f"<p>{made.computed(rule, '5')}</p>")
    assert _codes(tmp_path, {"site/index.html": text}) & {"untraced-number", "unknown-payload"}


def test_a_site_of_another_commit_is_refused_by_its_digests(tmp_path: Path) -> None:
    changed = made.PAYLOAD.replace('"note": "NOTE"', '"note": "other"')
    assert "payload-changed" in _codes(tmp_path, {made.PATH: changed})


def test_the_copy_of_a_payload_has_the_bytes_of_the_repository(tmp_path: Path) -> None:
    assert _codes(tmp_path, {"site/payloads/acceptance/lookup.json": made.PAYLOAD + " "}) == {
        "payload-changed"
    }


def test_a_rehearsal_is_never_published(tmp_path: Path) -> None:
    text = made.PAYLOAD.replace("sidechannels/payload/1", "sidechannels/rehearsal/1")
    changes = {
        made.PATH: text,
        FINDING: made.page(f"<p>{made.leaf('/config/also', 'plain', '2', made.Payload(text))}</p>"),
    }
    assert "bad-payload" in _codes(tmp_path, changes)


HOSTILE = [
    '"><script>alert(7)</script>',
    "</a></data> 7 <data>",
    "&lt;b&gt; &amp; \\u003cimg\\u003e",
    "</code></pre><p>7</p>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_payload_cannot_leave_its_mark(text: str, tmp_path: Path) -> None:
    payload = made.Payload(made.PAYLOAD.replace("NOTE", text.replace("\\", "\\\\").replace('"', '\\"')))
    body = f"<p>{made.leaf('/regime/note', 'text', text, payload)}</p>"
    changes = {
        made.PATH: payload.data.decode(),
        "site/payloads/acceptance/lookup.json": payload.data.decode(),
        "site/index.html": made.page("<p>Words.</p>"),
        "site/search/search_index.json": '{"docs": []}',
        FINDING: made.page(body),
        PAYLOAD_PAGE: made.payload_page(payload),
    }
    assert _codes(tmp_path, changes) == set()
    escaped = made.page(body).replace(escape(text), text)
    if escaped != made.page(body):
        assert _codes(tmp_path, {**changes, FINDING: escaped})
    raw = made.payload_page(payload).replace(escape(text), text)
    if raw != made.payload_page(payload):
        assert _codes(tmp_path, {**changes, PAYLOAD_PAGE: raw}) & {
            "display-mismatch",
            "bad-page",
            "untraced-number",
        }


def test_traced_text_is_short(tmp_path: Path) -> None:
    payload = made.Payload(made.PAYLOAD.replace("NOTE", "word " * 30))
    body = f"<p>{made.leaf('/regime/note', 'text', 'word ' * 30, payload)}</p>"
    assert "too-large" in _codes(tmp_path, {made.PATH: payload.data.decode(), FINDING: made.page(body)})


def test_a_text_that_turns_the_order_around_is_refused(tmp_path: Path) -> None:
    payload = made.Payload(made.PAYLOAD.replace("NOTE", "\\u202eword"))
    body = f"<p>{made.leaf('/regime/note', 'text', chr(0x202E) + 'word', payload)}</p>"
    assert "bad-encoding" in _codes(tmp_path, {made.PATH: payload.data.decode(), FINDING: made.page(body)})


def test_the_search_index_is_read_whatever_it_holds(tmp_path: Path) -> None:
    for text in ("{", "[]", json.dumps({"docs": [7]}), json.dumps({"docs": [{"text": "x"}]}), "[" * 5000):
        assert _codes(tmp_path, {"site/search/search_index.json": text}) == {"bad-page"}


STATUS = '<span class="badge status status-{}">{}</span>'
LINKED = '<a class="ref" href="findings/F-01.html">F-01</a> '


@pytest.mark.parametrize(
    ("page", "badge", "refused"),
    [
        ("site/findings/F-01.html", STATUS.format("holds", "holds"), False),
        ("site/findings/F-01.html", STATUS.format("null", "null"), True),
        ("site/findings/F-01.html", STATUS.format("holds", "null"), True),
        ("site/findings/F-01.html", STATUS.format("null", "holds"), True),
        ("site/index.html", LINKED + STATUS.format("holds", "holds"), False),
        ("site/index.html", LINKED + STATUS.format("open", "open"), True),
        ("site/index.html", LINKED.replace("F-01", "F-09") + STATUS.format("holds", "holds"), True),
        ("site/index.html", STATUS.format("holds", "holds"), True),
        ("site/index.html", LINKED + STATUS.format("holds", "holds").replace("span", "SPAN"), True),
        ("site/index.html", LINKED + '<b class="status-null badge">null</b>', True),
        ("site/index.html", "<p>status-holds</p>", False),
    ],
)
def test_a_status_that_no_condition_binds_is_that_of_its_finding(
    tmp_path: Path, page: str, badge: str, refused: bool
) -> None:
    made.write(tmp_path)
    file = tmp_path / page
    file.write_text(file.read_text("utf-8").replace("</body>", f"<p>{badge}</p></body>"), "utf-8")
    codes = {each.code for each in verify(tmp_path, tmp_path / "site").refusals}
    assert ("verdict-mismatch" in codes) == refused
