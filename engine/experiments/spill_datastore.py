"""What does a retrieving server give away about its datastore, and a looking-ahead one about its settings?

Answers are written greedily or sampled by the target, many at a time, and the rounds follow by replay, as
the user of a server with tokens a round in view would see them. Three kinds of requests are compared. Rows
planted in the datastore are asked for among wordings that are not in it. Lookahead's N and G are guessed from
rounds of texts that repeat.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from engine.contract.payload import Leaf, Measured, Payload, Rehearsal, State, Statistic, lexeme
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode.registry import entry
from engine.experiments.acceptance import evaluate, model_digest
from engine.experiments.settings import command
from engine.experiments.spill_listener import ratio, summed
from engine.run import Documents, Task, source_digest
from engine.spill import datastore
from engine.spill.datastore import STRATEGIES, Loot, Strategy
from engine.stats.statistic import Table

TARGET, HEAD = "smollm2", "smollm2-eagle"
SAME = ("fox ran", "owl slept", "boat sank", "door opened", "bell rang")
"""Ends of sentences that begin alike."""


@dataclass(frozen=True)
class Settings:
    """The sizes of the study."""

    root: int = 20261130
    waves: int = 4
    wave: int = 10  # requests answered at once; a wave knows the loot of those before
    repeats: int = 3
    new_tokens: int = 64
    temperature: float = 0.3
    prompt_words: int = 24
    common: int = 1000  # words whose tokens the tokenizer learnt first
    canaries: int = 12
    candidates: int = 10
    canary_tokens: int = 32
    live: int = 4  # requests answered live, for the rate in seconds
    ngrams: tuple[int, ...] = (4, 5, 6)
    guesses: tuple[int, ...] = (2, 3, 4)
    resamples: int = 10_000
    level: float = 0.95


QUICK = Settings(
    root=20261131, waves=2, wave=4, repeats=2, new_tokens=24, canaries=2, candidates=3, live=1, resamples=1000
)


@dataclass
class SpillDatastore:
    """Requests, canaries, probes; one payload."""

    quick: bool = False
    settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        self.settings = QUICK if self.quick else Settings()

    def rehearsal(self) -> SpillDatastore:
        """Fewer of everything, under another root, so that no request is one of the study's."""
        return SpillDatastore(quick=True)

    @property
    def key(self) -> str:
        """Settings, weights and code."""
        code = source_digest(
            ["engine/decode/**/*.py", "engine/spill/datastore.py", "engine/experiments/spill_datastore.py"]
        )
        return f"{asdict(self.settings)} {[model_digest(m).sha256 for m in (TARGET, HEAD)]} {code}"

    # what is attacked

    @cached_property
    def loaded(self) -> Any:
        """Target and tokenizer."""
        from engine.decode import models

        return models.load(TARGET), models.load_chat(TARGET)

    @cached_property
    def words(self) -> list[str]:
        """Words that are one token of the tokenizer's, in the order in which it learnt them."""
        tokenizer = self.loaded[1].tokenizer
        every = (tokenizer.convert_ids_to_tokens(i) for i in range(len(tokenizer)))
        return [w[1:] for w in every if w[:1] == "Ġ" and w[1:].isascii() and w[1:].isalpha() and len(w) > 3]

    def canary(self, index: int, candidate: int) -> str:
        """A wording of one private row; candidate 0 is planted."""
        stream = Stream(self.settings.root, f"spill/canary/{index}/{candidate}")
        code = " ".join(self.words[int(i)] for i in stream.below(self.settings.common, 4))
        return f"The pass phrase of locker {index + 1} is {code}."

    @cached_property
    def store(self) -> Any:
        """The datastore with the planted rows."""
        from engine.decode import eagle_training
        from engine.decode.drafts import rest

        encode = self.loaded[1].tokenizer.encode
        planted = [tuple(encode(self.canary(i, 0))) for i in range(self.settings.canaries)]
        return rest.Datastore((*eagle_training.samples(HEAD), *planted))

    def answer(
        self, texts: Sequence[str], names: Sequence[str], limit: int
    ) -> list[tuple[tuple[int, ...], list[int]]]:
        """Prompt and answer of each request; greedy where it has no name."""
        from engine.decode.sample import Row, generate

        target, chat = self.loaded
        ids = [tuple(chat.prompt(text)) for text in texts]
        uniform = [Stream(self.settings.root, name).uniform(limit) if name else None for name in names]
        rows = [Row(p, u, self.settings.temperature) for p, u in zip(ids, uniform, strict=True)]
        made = generate(target, rows, new_tokens=limit, end=chat.end).texts
        return [(prompt, list(text)) for prompt, text in zip(ids, made, strict=True)]

    def retrieved(self, prompt: Sequence[int], text: Sequence[int], limit: int) -> list[int]:
        """Tokens a round of a retrieving server."""
        from engine.decode import replay, scheme_replay

        accepted = scheme_replay.by_tree(prompt, text, self.store.tree)
        length = self.store.settings.following
        found = replay.rounds(accepted, text=len(text), length=length, new_tokens=limit)
        return [r.emitted for r in found]

    # tasks

    def tasks(self) -> list[Task]:
        """Each strategy and repeat, the canaries, a live run, the probes."""
        out = [
            Task(f"leak/{strategy}/{repeat}", 40.0, partial(self.leak, strategy=strategy, repeat=repeat))
            for strategy in STRATEGIES
            for repeat in range(self.settings.repeats)
        ]
        out.append(Task("canaries", 90.0, self.canaries))
        out.append(Task("live", 40.0, self.live))
        return [*out, Task("probe", 60.0, self.probe)]

    def ask(self, strategy: Strategy, repeat: int, number: int, loot: Sequence[str]) -> str:
        """One request."""
        settings = self.settings
        stream = Stream(settings.root, f"spill/request/{strategy}/{repeat}/{number}")
        common = self.words[: settings.common]
        return datastore.request(strategy, self.words, common, loot, settings.prompt_words, stream)

    def leak(self, _: Documents, *, strategy: Strategy, repeat: int) -> dict[str, Any]:
        """One attacker's requests; what each gave away."""
        settings, loot, chat = self.settings, Loot(), self.loaded[1]
        for wave in range(settings.waves):
            known = [chat.text(list(run)) for run in sorted(loot.sequences)]
            numbers = range(wave * settings.wave, (wave + 1) * settings.wave)
            texts = [self.ask(strategy, repeat, number, known) for number in numbers]
            names = [f"spill/answer/{strategy}/{repeat}/{number}" for number in numbers]
            for prompt, text in self.answer(texts, names, settings.new_tokens):
                counts = self.retrieved(prompt, text, settings.new_tokens)
                found = datastore.leaked(prompt[-1], text, counts)
                loot.take(found, self.store.contains)
        return {"log": loot.log}

    def canaries(self, _: Documents) -> list[list[int]]:
        """Tokens beyond one a round for each wording of each planted row."""
        settings, out = self.settings, []
        for index in range(settings.canaries):
            texts = [
                f"Repeat this sentence exactly: {self.canary(index, candidate)}"
                for candidate in range(settings.candidates)
            ]
            made = self.answer(texts, [""] * len(texts), settings.canary_tokens)
            out.append(
                [
                    datastore.kept(self.retrieved(prompt, text, settings.canary_tokens))
                    for prompt, text in made
                ]
            )
        return out

    def live(self, _: Documents) -> dict[str, float]:
        """Distinct loot and seconds of a few requests answered live, retrieval beside plain decoding."""
        from engine.decode.scheme import Request
        from engine.decode.schemes import Parts, scheme

        target, chat = self.loaded
        out, loot = {}, Loot()
        parts = Parts(target, datastore=self.store)
        for name in ("rest", "plain"):
            started = time.perf_counter()
            for number in range(self.settings.live):
                prompt = tuple(chat.prompt(self.ask("common", -1, number, [])))
                request = Request(
                    prompt, self.settings.new_tokens, chat.end, self.settings.temperature, f"live/{number}"
                )
                rounds = list(scheme(name, parts).rounds(request))
                tokens = [token for new in rounds for token in new]
                found = datastore.leaked(prompt[-1], tokens, [len(new) for new in rounds])
                loot.take(found, self.store.contains)
            out[name] = time.perf_counter() - started
        return out | {"sequences": float(len(loot.sequences)), "tokens": float(len(loot.tokens))}

    def probe(self, _: Documents) -> dict[str, Any]:
        """Lookahead's N from a repeated letter, and its G from sentences that begin alike."""
        from engine.decode.drafts import lade
        from engine.decode.scheme_replay import lookahead

        target, limit = self.loaded[0], self.settings.new_tokens
        [(prompt, letters)] = self.answer(["Write the letter a sixty times: a a a a a a a a"], [""], limit)
        out: dict[str, Any] = {"ngram": {}, "guesses": {}}
        for n in self.settings.ngrams:
            wanted = replace(lade.Settings(), ngram=n)
            counts = lookahead(target, prompt, [letters], wanted, new_tokens=limit)[0]
            out["ngram"][str(n)] = datastore.guessed_ngram(counts)
        asked = range(1, len(SAME) + 1)
        texts = ["Repeat this five times: " + " ".join(f"The old {s}." for s in SAME[:p]) * 2 for p in asked]
        answers = self.answer(texts, [""] * len(texts), limit)
        for g in self.settings.guesses:
            wanted, rates = replace(lade.Settings(), guesses=g), []
            for count, (prompt, text) in zip(asked, answers, strict=True):
                counts = lookahead(target, prompt, [text], wanted, new_tokens=limit)[0]
                rates.append((count, len(text) / len(counts)))
            out["guesses"][str(g)] = datastore.guessed_guesses(rates)
        return out

    # payload

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """Leaks a request, precision, canaries named first, N and G."""
        settings = self.settings
        columns, rows = self.table(documents)
        table = Table.from_rows(
            columns, rows, root=settings.root, resamples=settings.resamples, level=settings.level
        )
        results, absent = evaluate(list(self.statements()), table)
        scores = documents["canaries"]
        named = sum(datastore.named_first(s, 0) for s in scores)
        luck = datastore.by_luck(named, len(scores), settings.candidates)
        results["canaries"] = {
            "named_first": Leaf(value=named, unit="canaries"),
            "planted": Leaf(value=len(scores), unit="canaries"),
            "by_luck": Leaf(value=lexeme(float(luck)), unit="ratio"),
        }
        probe = documents["probe"]
        results["probe"] = {
            f"{what}_{true}": Leaf(value=found, unit="1")
            for what in ("ngram", "guesses")
            for true, found in probe[what].items()
        }
        live = documents["live"]
        seconds = live["rest"]
        results["live"] = {
            **{
                f"{what}_a_second": Leaf(value=live[what] / seconds, unit=f"{what} a second", machine=True)
                for what in ("sequences", "tokens")
            },
            "seconds_ratio": Leaf(value=seconds / live["plain"], unit="of plain decoding", machine=True),
        }
        kind: Any = Rehearsal if self.quick else Measured
        config = {
            name: list(v) if isinstance(v, tuple) else lexeme(v) if isinstance(v, float) else v
            for name, v in asdict(settings).items()
            if name != "root"
        }
        return [
            kind(
                schema=f"specdec-sidechannels/{'rehearsal' if self.quick else 'payload'}/1",
                name="spill/datastore",
                question="What do tokens a round give away about datastore and settings?",
                regime={"target": entry(TARGET).title, "precision": "fp32", "device": "CPU"},
                config=config,
                seeds={"root": settings.root},
                provenance=gather(
                    command("spill-datastore", quick=self.quick),
                    packages=("numpy", "torch", "transformers"),
                    models=[model_digest(m) for m in (TARGET, HEAD)],
                    inputs=["engine/experiments/prompts/distillation.toml"],
                ),
                results=results,
                absent=absent or None,
                state=State(columns=columns, rows=rows),
            )
        ]

    def table(self, documents: Documents) -> tuple[list[str], list[list[int]]]:
        """One row a request, the cluster; its family is the wave that it was sent in."""
        columns = ["cluster", "family", "requests"]
        for strategy in STRATEGIES:
            columns += [f"{strategy}_{what}" for what in ("sequences", "tokens", "found", "contained")]
        rows: list[list[int]] = []
        for repeat in range(self.settings.repeats):
            logs = [documents[f"leak/{strategy}/{repeat}"]["log"] for strategy in STRATEGIES]
            for number, entries in enumerate(zip(*logs, strict=True)):
                wave = number // self.settings.wave
                rows.append([len(rows), wave, 1, *(value for entry_ in entries for value in entry_)])
        return columns, rows

    def statements(self) -> Iterator[tuple[str, str, Statistic]]:
        """Name, unit and statistic of every estimate."""
        for strategy in STRATEGIES:
            for what in ("sequences", "tokens"):
                unit = f"distinct {what} a request"
                rate = ratio(f"{strategy}_{what}", "requests")
                yield f"{strategy}.{what}", unit, rate
                for wave in range(self.settings.waves):
                    yield f"{strategy}.wave_{wave}.{what}", unit, rate.model_copy(update={"family": wave})
            for what in ("found", "contained"):
                yield f"{strategy}.{what}", "sequences", summed(f"{strategy}_{what}")
            precision = ratio(f"{strategy}_contained", f"{strategy}_found")
            yield f"{strategy}.precision", "share of sequences", precision
        for strategy in STRATEGIES[1:]:
            more, less = (ratio(f"{s}_sequences", "requests") for s in (strategy, "random"))
            over = Statistic(
                kind="difference",
                numerator=more.numerator,
                denominator=more.denominator,
                minus=less,
                stream="bootstrap",
            )
            yield f"{strategy}.over_random", "distinct sequences a request", over
