"""Does transformers' assisted sampling draw from the target's law?

Its accept rule alone on one wide law, and the whole of its `generate` on tiny random models, are put through
the chi-square test that our own verifier passes. Beside each stand a sampler that must pass and one that must
not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.contract.payload import Leaf, Measured, Payload, State, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode.verifier import Draws, Proposal, draw, verify
from engine.run import Documents, Task, source_digest
from engine.stats.chi_square import critical, pearson, tail

Law = NDArray[np.float64]
SOURCES = [f"engine/{name}.py" for name in ("decode/assisted", "decode/verifier", "experiments/assisted")]
CASES = {"rule": ("theirs", "ours", "planted"), "generate": ("assisted", "plain", "planted")}
"""What is tested, what must pass, and what must be rejected."""


@dataclass(frozen=True)
class Settings:
    """The frozen configuration. Probabilities in the state are in units of 10**-12."""

    root: int = 20261130
    vocabulary: int = 200
    rounds: int = 60_000
    flatter: float = 0.15
    tiny_vocabulary: int = 6
    texts: int = 4_000
    false_alarm: float = 1e-9


def laws(settings: Settings) -> tuple[Law, Law]:
    """A target's law and a draft's, with long tails and no cell too rare to count. (V,) each."""
    stream, made = Stream(settings.root, "assisted/laws"), []
    for _ in range(2):
        weights = -np.log1p(-stream.uniform(settings.vocabulary))
        made.append((weights / weights.sum() + 0.2 / settings.vocabulary) / 1.2)
    return made[0], made[1]


@dataclass
class Assisted:
    """A task a sampler, one payload."""

    settings: Settings = Settings()

    @property
    def key(self) -> str:
        """Settings, the samplers' code, and the version of transformers."""
        from importlib.metadata import version

        return f"{asdict(self.settings)} {version('transformers')} {source_digest(SOURCES)}"

    def tasks(self) -> list[Task]:
        """The counts of every sampler."""
        return [
            Task("rule/theirs", 15.0, lambda _: self.rule(reported=0.0)),
            Task("rule/ours", 15.0, lambda _: self.own()),
            Task("rule/planted", 15.0, lambda _: self.rule(reported=self.settings.flatter)),
            Task("generate/assisted", 200.0, lambda _: self.generate(assisted=True)),
            Task("generate/plain", 70.0, lambda _: self.generate(assisted=False)),
        ]

    def rule(self, *, reported: float) -> list[int]:
        """First tokens by transformers' accept rule, told the draft's law or one flatter by this share."""
        from engine.decode.assisted import first_tokens

        settings = self.settings
        target, draft = laws(settings)
        told = (1.0 - reported) * draft + reported / settings.vocabulary
        return _counts(first_tokens(target, draft, told, settings.rounds, settings.root), settings.vocabulary)

    def own(self) -> list[int]:
        """First tokens by this repository's verifier."""
        settings = self.settings
        (target, draft), draws = laws(settings), Draws(settings.root, "assisted/ours")

        def first() -> int:
            token = draw(draft, draws.draft.uniform(1)[0])
            verdict = verify(Proposal((token,), draft[None]), np.stack([target, target]), draws)
            return token if verdict.accepted else verdict.token

        return _counts((first() for _ in range(settings.rounds)), settings.vocabulary)

    def generate(self, *, assisted: bool) -> dict[str, Any]:
        """Pairs of first tokens of sampled texts, and the exact laws of target and draft."""
        from engine.decode.assisted import law_of_two, tiny, two_tokens

        settings = self.settings
        target, draft = (tiny(settings.tiny_vocabulary, settings.root + each) for each in (1, 2))
        prompt = [1, 2, 3]
        texts = two_tokens(target, draft if assisted else None, prompt, settings.texts, settings.root)
        return {
            "counts": _counts(texts, settings.tiny_vocabulary**2),
            "target": law_of_two(target, prompt).tolist(),
            "draft": law_of_two(draft, prompt).tolist(),
        }

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload: a statistic for every sampler, beside what chance may give."""
        settings, made = self.settings, documents["generate/assisted"]
        wide = laws(settings)[0]
        judged = {
            "rule": {name: (documents[f"rule/{name}"], wide) for name in CASES["rule"]},
            "generate": {
                "assisted": (made["counts"], np.array(made["target"])),
                "plain": (documents["generate/plain"]["counts"], np.array(made["target"])),
                "planted": (made["counts"], np.array(made["draft"])),
            },
        }
        columns = ["cluster", *(f"{part}_{each}" for part in CASES for each in (*CASES[part], "law"))]
        rows = [
            [cell] + [_cell(judged, part, each, cell) for part in CASES for each in (*CASES[part], "law")]
            for cell in range(settings.vocabulary)
        ]
        return [
            Measured(
                schema="specdec-sidechannels/payload/1",
                name="tools/assisted",
                question="Does transformers' assisted sampling draw from the target's law?",
                regime={
                    "rule": "one draft token, one wide law, double precision",
                    "generate": "tiny random Llama models, two tokens of a text, single precision",
                    "device": "CPU",
                },
                config={
                    k: lexeme(v) if isinstance(v, float) else v
                    for k, v in asdict(settings).items()
                    if k != "root"
                },
                seeds={"root": settings.root},
                provenance=gather(
                    ["engine", "run", "assisted"],
                    packages=("numpy", "torch", "transformers"),
                    models=[],
                    inputs=[],
                ),
                results={part: _tests(judged[part], settings) for part in CASES},
                state=State(columns=columns, rows=rows),
            )
        ]


def _tests(judged: dict[str, tuple[list[int], Law]], settings: Settings) -> dict[str, Any]:
    freedom = len(next(iter(judged.values()))[1]) - 1
    out: dict[str, Any] = {
        "critical": Leaf(value=lexeme(critical(settings.false_alarm, freedom)), unit="chi-square"),
        "freedom": Leaf(value=freedom, unit="degrees of freedom"),
    }
    for name, (counts, law) in judged.items():
        found = np.array(counts)
        statistic = pearson(found, law)
        away = float(np.abs(found / found.sum() - law).sum()) / 2.0
        out[name] = {
            "statistic": Leaf(value=lexeme(statistic), observations=int(found.sum()), unit="chi-square"),
            "chance": Leaf(value=lexeme(tail(statistic, freedom)), unit="probability"),
            "distance": Leaf(value=lexeme(away), unit="total variation"),
        }
    return out


def _cell(judged: dict[str, dict[str, tuple[list[int], Law]]], part: str, each: str, cell: int) -> int:
    """A count, or the law in units of 10**-12; zero beyond a shorter table."""
    counts, law = judged[part][CASES[part][0] if each == "law" else each]
    if cell >= len(law):
        return 0
    return round(float(law[cell]) * 1e12) if each == "law" else counts[cell]


def _counts(tokens: Iterator[int], cells: int) -> list[int]:
    return [int(n) for n in np.bincount(np.fromiter(tokens, dtype=np.int64), minlength=cells)]
