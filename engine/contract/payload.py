"""Payload documents: what an experiment emits and what the site cites.

Every number keeps the decimal lexeme it was written with: `0.006860` stays `0.006860`. Models are
frozen and strict; unknown fields, NaN and infinities are refused.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    TypeAdapter,
    WithJsonSchema,
)
from typing_extensions import TypeAliasType

SCHEMA_ROOT = "specdec-sidechannels/"
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Lexeme(str):
    """A decimal number exactly as it is written in JSON."""

    __slots__ = ()

    def __new__(cls, text: str) -> Lexeme:
        if not _JSON_NUMBER.fullmatch(text) or not math.isfinite(float(text)):
            raise ValueError(f"{text!r} is not a finite JSON number")
        return super().__new__(cls, text)


def lexeme(value: float | int) -> Lexeme:
    """The shortest lexeme that reads back as this number."""
    return Lexeme(repr(value))


def _number(value: Any) -> int | Lexeme:
    if isinstance(value, Lexeme) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return lexeme(value)
    raise ValueError("a finite number is wanted")


Number = Annotated[int | Lexeme, PlainValidator(_number), WithJsonSchema({"type": "number"})]
Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Scalar = Annotated[bool, Field(strict=True)] | Text | Number


class Document(BaseModel):
    """Frozen, strict, closed to unknown fields."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class Ends(Document):
    """An interval by another method than the published one."""

    low: Number
    """Lower end, in the unit of the estimate."""
    high: Number
    """Upper end, in the unit of the estimate."""


class Statistic(Document):
    """How a value follows from the committed state: columns are summed over the rows, then combined."""

    kind: Literal["ratio", "difference", "sum", "share", "seed_spread", "seed_difference", "seed_gain"]
    """`ratio`: numerator over denominator. `difference`: of two ratios, the second one `minus`. `sum`:
    of the numerator. `share`: of independent trials, counted below the line, that succeed. `seed_spread`:
    half width over seeds, one numerator and denominator column a seed. `seed_difference`: the same of two
    runs that differ by seeds alone. `seed_gain`: how many of such pairs show a gain of `bar` or more."""
    numerator: list[str]
    """State columns added up above the line."""
    denominator: list[str] | None = None
    """State columns added up below the line."""
    minus: Statistic | None = None
    """The ratio that is taken away, of kind `ratio`."""
    family: int | None = None
    """Only rows whose column `family` holds this number; all rows where absent."""
    intervals: Literal["all"] | None = None
    """`all`: a ratio has its BCa interval too, a difference also its bootstrap-t interval."""
    prompts: int | None = None
    """The seed kinds: how many prompts a study has."""
    subsets: int | None = None
    """The seed kinds: how many random studies of that size are drawn."""
    bar: Number | None = None
    """`seed_gain`: the gain that counts."""
    stream: str
    """Name of the random stream, under the payload's root seed."""


class Leaf(Document):
    """A number with its unit: a quantity, or an estimate where it has an interval."""

    value: Number
    """The number itself."""
    low: Number | None = None
    """Lower end of the interval, in the same unit."""
    high: Number | None = None
    """Upper end of the interval, in the same unit."""
    level: Number | None = None
    """Confidence level of the interval, 0 … 1."""
    method: Text | None = None
    """How the interval was made."""
    resamples: int | None = None
    """Bootstrap resamples."""
    clusters: int | None = None
    """Clusters (prompts) behind the number."""
    observations: int | None = None
    """Observations behind the number: the sum of the denominator."""
    bootstrap_t: Ends | None = None
    """The bootstrap-t interval, at the same level from the same resamples."""
    bca: Ends | None = None
    """The bias-corrected and accelerated interval, at the same level from the same resamples."""
    cluster_t: Ends | None = None
    """The cluster-robust t interval, at the same level."""
    unit: Text
    """What one of it is."""
    machine: bool | None = None
    """True where the number depends on the machine; such numbers are left out of exact reproduction."""
    statistic: Statistic | None = None
    """How it follows from the state."""
    qualifier: Literal["=", "~", ">", "<"] | None = None
    """`reported` documents: how the source hedges it."""
    source: Text | None = None
    """`reported` documents: the source's own id for it."""


Results = TypeAliasType("Results", "dict[Identifier, Leaf | Results]")
Config = TypeAliasType("Config", "dict[Identifier, Scalar | list[Scalar] | Config]")


class FileDigest(Document):
    """A file the run read."""

    path: Text
    """Path from the repository root."""
    sha256: Digest
    """Digest of its bytes."""


class ModelDigest(Document):
    """A model the run used."""

    name: Text
    """Name in the engine's registry."""
    sha256: Digest
    """Digest of the file that pins it: the GGUF as shipped, or the trained weights."""


class Provenance(Document):
    """Where the numbers came from."""

    command: list[Text] | Text
    """The command that makes this document."""
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    """Commit of the code that ran."""
    dirty: bool
    """Whether the engine's files differed from that commit."""
    versions: dict[str, Text]
    """Versions of what computed it."""
    device: Text
    """What it ran on."""
    models: list[ModelDigest]
    """The weights, pinned."""
    inputs: list[FileDigest]
    """Files read, pinned."""


class State(Document):
    """Whole numbers, one row a cluster, from which every estimate follows exactly."""

    columns: list[Text]
    """Names of the columns; the first is `cluster`."""
    rows: list[list[int]]
    """One row a cluster, one whole number a column."""


class Measured(Document):
    """What one run measured."""

    schema_: Literal["specdec-sidechannels/payload/1"] = Field(alias="schema")
    """Kind and version of this document."""
    name: Name
    """Record and name, as in the path."""
    question: Text
    """What was asked."""
    regime: Config
    """The exact conditions the numbers hold under."""
    config: Config
    """Settings of the run."""
    seeds: dict[Identifier, int]
    """Root seeds; every stream is named under one."""
    provenance: Provenance
    """Where the numbers came from."""
    results: Results
    """The numbers, named."""
    absent: dict[str, Text] | None = None
    """Results the data could not give, each with the reason."""
    state: State | None = None
    """What the results follow from."""


class Rehearsal(Measured):
    """A quick run, never published."""

    schema_: Literal["specdec-sidechannels/rehearsal/1"] = Field(alias="schema")  # type: ignore[assignment]
    """Kind and version of this document."""


class Reader(Document):
    """Who judged, and how far from those who are judged."""

    program: Text
    """The program that judged."""
    version: Text
    """Its version, raised whenever it would judge otherwise."""
    independence: Text
    """Whether its authors, its code and its data are those of what it judges."""


class Fragility(Document):
    """How few clusters decide a label."""

    flips_after: int | None = None
    """The fewest clusters found whose removal changes the label; absent where none was found."""
    exact: bool | None = None
    """True where no smaller removal does; false where the number is an upper bound."""
    clusters: int
    """Clusters that the numbers of its rules count together."""
    tried: int
    """Clusters of the largest removal that was tried; no estimate loses more than half of its own."""
    becomes: Text | None = None
    """The label without them."""
    afresh_after: int | None = None
    """The fewest, of the removals tried, after which a fresh bootstrap of what remains changes it too."""
    removed: dict[Name, list[int]] | None = None
    """Those clusters, as each payload numbers them; payloads about the same prompts lose the same."""


class Robustness(Document):
    """The label by other readings of the same state; absent where a reading cannot be made."""

    bootstrap_t: Text | None = None
    """With bootstrap-t intervals in place of the published ones."""
    cluster_t: Text | None = None
    """With cluster-robust t intervals in their place."""
    without_two: Text | None = None
    """Without the two clusters whose removal brings it nearest to changing, bootstrapped afresh."""
    seeds: int
    """Other seeds under which it was bootstrapped."""
    same_seeds: int
    """Those of them that give the same label."""


class Judgement(Document):
    """One label as published and as recomputed."""

    source: Text
    """The file whose rules were judged, pinned under the provenance's inputs."""
    rules: dict[Text, Text]
    """The rules as they read when they were judged, by the word that each gives."""
    published: Text
    """The label that the record shows."""
    recomputed: Text | None = None
    """The label by the critic's own numbers; absent where no rule decides it, or it cannot be made."""
    agrees: bool | None = None
    """Whether label and numbers come out as published; absent where no rule decides the label."""
    problems: list[Text]
    """What does not come out as published."""
    numbers: dict[Text, Literal["recomputed", "as written"]]
    """The numbers that its rules name, by address; those without state are taken as they are written."""
    robustness: Robustness | None = None
    """The label by other readings of the same state."""
    fragility: Fragility | None = None
    """How few clusters decide it."""


class Critic(Measured):
    """An independent recomputation of labels from committed state; its inputs are what it judged."""

    schema_: Literal["specdec-sidechannels/critic/1"] = Field(alias="schema")  # type: ignore[assignment]
    """Kind and version of this document."""
    regime: Reader  # type: ignore[assignment]
    """Who judged."""
    labels: dict[Text, dict[Literal["status", "verdict", "outcome"], Judgement]]
    """What was judged, by the id of the finding or kill criterion."""


class Registered(Document):
    """Bars and constants fixed before the runs they govern; never edited."""

    schema_: Literal["specdec-sidechannels/registered/1"] = Field(alias="schema")
    """Kind and version of this document."""
    name: Name
    """Record and name, as in the path."""
    question: Text
    """What the bars decide."""
    config: Config
    """Settings fixed in advance."""
    results: Results
    """The bars, named."""


class Reported(Document):
    """Figures of others, always shown as reported, never recomputed."""

    schema_: Literal["specdec-sidechannels/reported/1"] = Field(alias="schema")
    """Kind and version of this document."""
    name: Name
    """Record and name, as in the path."""
    question: Text
    """What the source asked."""
    regime: Config
    """The source's conditions, as far as it states them."""
    citation: Text
    """The source."""
    results: Results
    """Its figures, named."""


Payload = Measured | Rehearsal | Critic | Registered | Reported
ADAPTER: TypeAdapter[Payload] = TypeAdapter(Annotated[Payload, Field(discriminator="schema_")])


def json_schema() -> dict[str, Any]:
    """The JSON Schema of all kinds, as the site's generator carries it."""
    schema = ADAPTER.json_schema(by_alias=True, ref_template="#/$defs/{model}")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
