"""The closed lists of number words, the words that only claim, and the phrases that merely look like them.

Every exemption is one row: an expression over lower-case text, one phrase that it lets pass, and one
beside it that stays refused. The tests read the rows.
"""

from __future__ import annotations

from dataclasses import dataclass


def _list(words: str) -> list[str]:
    return words.split()


ONES = _list("one two three four five six seven eight nine")
TEENS = _list(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty "
    "fifty sixty seventy eighty ninety"
)
MAGNITUDES = _list("hundred thousand million billion trillion quadrillion dozen")
CARDINALS = [
    *ONES,
    *TEENS,
    *MAGNITUDES,
    *(f"{word}s" for word in MAGNITUDES),
    *_list("tens fours sixes sevens eights nines twenties thirties forties fifties sixties seventies"),
    *_list("eighties nineties hundredths googol umpteen"),
]

FRACTION_NAMES = {"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8}
FRACTION_NAMES |= {"ninth": 9, "tenth": 10, "twentieth": 20, "hundredth": 100, "thousandth": 1000}

ORDINALS = [
    *(name for name in FRACTION_NAMES if name not in ("quarter", "hundredth", "thousandth")),
    *(f"{name}s" for name in FRACTION_NAMES if name not in ("quarter", "hundredth")),
    *_list("eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"),
    *_list("thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"),
    *_list("hundredth thousandth millionth millionths billionth billionths"),
]
"""Ordinals that are refused wherever they stand; first and second need a rank around them (PHRASES)."""

MULTIPLES = {
    **dict.fromkeys(_list("half halves halve halved halving"), "1/2"),
    **dict.fromkeys(_list("twice double doubles doubled doubling"), "2"),
    **dict.fromkeys(_list("thrice triple triples tripled tripling treble trebled"), "3"),
    **dict.fromkeys(_list("quadruple quadruples quadrupled quadrupling"), "4"),
    **dict.fromkeys(_list("quintuple quintupled"), "5"),
    **dict.fromkeys(_list("none zero zeros zeroes nil nought naught"), "0"),
}
"""Words that relate, each with the constant that a claim around it must name."""

FOLD = dict(zip([*ONES, *TEENS], [*range(1, 20), *range(20, 100, 10)], strict=True))
FOLD |= {"hundred": 100, "thousand": 1000, "million": 10**6}
"""What stands before -fold, and how much it means."""

CLAIMING = _list(
    "most all every both only majority minority never always neither outperform outperforms outperformed "
    "outperforming surpass surpasses surpassed exceed exceeds exceeded largest smallest highest lowest "
    "best worst fastest slowest"
)
"""Words that claim without counting: they warn until a claim binds them."""

COMPARATIVES = r"(?:more|less|fewer|better|worse|faster|slower|larger|smaller|higher|lower)\s+than"

_DETERMINER = r"(?:the|its|each|every|very|whose)"
_POSSESSOR = r"(?:their|our|your|his|her|my)"
_AFTER_A_SECOND = (
    r"(?:and|or|of|in|on|at|for|with|than|when|as|is|was|are|if|while|per|to|by|from|after|before|but"
    r"|on|over|under|against|here|there|long|ago|later|a|the|we|it|that|which)\b"
)
PHRASES = (
    rf"\b{_DETERMINER}\s+first(?!\s+(?:time|place|glance|of\s+all)\b)(?![\w-])",
    r"\b(?:rank|ranks|ranked|ranking|place|placed|places|finish|finished|finishes)\s+(?:first|second|third)\b",
    rf"\b(?:{_DETERMINER}|{_POSSESSOR})\s+second(?![\w-])",
    rf"\ba\s+second(?=\s+(?!{_AFTER_A_SECOND})[a-z])",
    r"\bfirst-(?!class|hand|party|come|time|rate|name|person)[a-z]+",
    r"\bsecond-(?!hand|guess|class|rate|person)[a-z]+",
    r"\ba\s+couple(?=\s+of\b|\s+more\b|[.,;:)]|$)",
    r"\ba\s+pair(?=\s+of\b)",
    r"\bscores\s+of\b",
    r"\b(?:a|per|one|by\s+a)[\s-]quarter\b",
    r"\bquarters?\s+of\b",
    r":(?:keycap_[a-z]+|[a-z]+_place_medal|[a-z_]*place):",
)
"""Longer forms that count although their words alone do not."""


@dataclass(frozen=True, slots=True)
class Exemption:
    """A phrase that looks like a number and is none."""

    name: str
    expression: str
    passes: str
    refused: str


_CLAUSE = (
    r"(?=\s*[.,;:)!?\]…—]|\s*$|\s+(?:we|you|i|it|they|he|she|that|which|who|whose|to|in|on|at|of|from|with|for"
    r"|by|is|was|has|had|does|did|used|given|above|below|and|or|but|as|than|because|where|when)\b)"
)

_QUALITY = (
    r"(?:new|old|other|same|last|next|right|wrong|good|better|best|simple|simpler|small|smaller|large|larger"
    r"|big|bigger|different|former|latter|previous|existing|first|second|short|shorter|long|longer|plain|real"
    r"|custom|default|single|possible|simplest|latest|only|main|original|usual|common|current|given|general"
    r"|obvious|local|global|official|whole|empty|similar|suitable|separate|proper|correct|matching|missing)"
)

EXEMPTIONS = (
    Exemption("no one", r"\bno[\s-]one\b(?!-)", "No one measured it.", "No, one run failed."),
    Exemption("one another", r"\bone\s+another\b", "They check one another.", "One other run failed."),
    Exemption(
        "the one we kept",
        rf"\b(?:the|this|that|which|each|every|any|another)\s+ones?\b{_CLAUSE}",
        "This is the one we kept.",
        "This is the one run we kept.",
    ),
    Exemption(
        "a new one",
        rf"\b(?:the|a|an|each|any)\s+(?:{_QUALITY}\s+){{1,2}}ones?\b{_CLAUSE}",
        "We wrote a new one.",
        "We wrote a new one-layer draft.",
    ),
    Exemption("plural ones", r"\bones\b", "The old ones stay.", "The old one hundred stay."),
    Exemption(
        "one of",
        rf"\bone\s+of\b(?!\s+(?:the\s+)?(?:{'|'.join([*ONES, *TEENS])}|[0-9]))",
        "One of the runs failed.",
        "One of two runs failed.",
    ),
    Exemption("possessive one", r"\bone['’]s\b", "It depends on one's draft.", "It depends on one draft."),
    Exemption(
        "generic one",
        r"\b(?:if|when|that|as|what|how|where|whether|because|so|then|,)\s+one\s+(?:can|cannot|may|might|must"
        r"|could|should|would|wants|needs|expects|prefers|has\s+to|looks|reads|uses|takes|sees|gets)\b"
        r"|\bone\s+(?:has\s+to|can|cannot|may|might|must|could|should|would)\b",
        "This is what one would expect.",
        "This is what one run gave.",
    ),
    Exemption(
        "without one",
        rf"\b(?:without|choose|pick|provide|write|define)\s+one\b{_CLAUSE}"
        r"|\bcreates?\s+one\s+(?:implicitly|yourself|for\s+you)\b",
        "A record without one is refused.",
        "A record without one run is refused.",
    ),
    Exemption(
        "one way",
        r"\bone\s+(?:way\s+(?:to|is\s+to)|use\s+(?:for|of)\s+(?:this|it)|example\s+would\s+be)\b",
        "One way to read it is this.",
        "One way failed.",
    ),
    Exemption(
        "one by one",
        r"\bone\s+(?:by\s+one|at\s+a\s+time|or\s+the\s+other|and\s+the\s+same|after\s+(?:another|the\s+other))\b"
        r"|\b(?:for\s+one\s+thing|one\s+day|on\s+(?:the\s+)?one\s+hand|one\s+way\s+or\s+another)\b",
        "They arrive one by one.",
        "They arrive at one a minute.",
    ),
    Exemption(
        "one-off",
        r"\bone-(?:off|offs|way|hot|liner|liners|to-one|on-one|to-many|time|sided|tailed|stop|click|size-fits-all)\b"
        r"|\btwo-(?:way|sided|tailed|factor)\b|\ball[\s-]in[\s-]one\b|\bone[\s-]and[\s-]only\b|\btwo['’]s\s+complement\b",
        "It is a one-off.",
        "It is a one-layer draft.",
    ),
    Exemption(
        "discourse ordinal",
        r"(?:(?:^|[\n.;:!?(—–*]|\band|\bbut)\s*)(?:first|second|third|fourth|fifth|sixth)(?:ly)?\s*(?=[,:])",
        "First, the draft proposes. Third, the target checks.",
        "The third run failed.",
    ),
    Exemption(
        "third party",
        r"\b(?:an?\s+)?third[\s-]part(?:y|ies)\b",
        "No third-party script is loaded.",
        "The third part is missing.",
    ),
    Exemption(
        "half as a term",
        r"\bhalf[\s-](?:even|open|closed|up|down|widths?|precision|life|lives|way)\b",
        "Rounding is half-even.",
        "Rounding is half done.",
    ),
    Exemption(
        "double as a term",
        r"\b(?:double|triple)[\s-](?:precision|quot\w+|check\w*|click\w*|blind|buffer\w*|bracket\w*|brace\w*"
        r"|dash\w*|colon\w*|slash\w*|underscore\w*|backtick\w*|negative)\b"
        r"|\bdouble-(?:wrapp|count|escap|encod|free|clos|book)\w*",
        "Sums are kept in double precision.",
        "Sums are kept at double length.",
    ),
    Exemption(
        "zero as a term",
        r"\b(?:non[\s-]?zero|zero[\s-]width|zero-(?:based|copy|padded|indexed|day|shot)|zero\s+out|zeroed)\b"
        r"|\b(?:negative|signed|minus|absolute|year)\s+zero\b",
        "The index is zero-based.",
        "The index is zero here.",
    ),
    Exemption(
        "or more",
        r"\b(?:zero|one|two)\s+or\s+more\b|\bmore\s+than\s+one\b|\bone\s+thing\b"
        r"|\bone\s+or\s+(?:both|several|many|multiple)\b",
        "Name one or more payloads, more than one if need be.",
        "Name one or two payloads.",
    ),
    Exemption(
        "second as a term",
        r"\b(?:an?|the|its|their|our|your|his|her|my)\s+second[\s-](?:nature|thoughts?|wind)\b",
        "It became a second nature.",
        "It became a second run.",
    ),
    Exemption(
        "in and out",
        r"\b(?:first|last)[\s-](?:in|come)[\s,-]+(?:first|last)[\s-](?:out|served)\b",
        "Coding is last in, first-out.",
        "Coding is best at the first out.",
    ),
    Exemption(
        "none the less", r"\bnone\s+the\s+(?:less|wiser)\b", "It was none the less kept.", "None was kept."
    ),
)
