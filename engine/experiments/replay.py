"""Are replayed rounds those of live decoding, and is the text the target's own?

On the real pair. Greedily: live text against transformers' own, and live rounds against those replayed
from the text, one by one. Sampled: looking up draws nothing, so its rounds must again be those replayed
from the live text, one by one. The draft model's, under several live seeds, are compared in mean, paired
by prompt, with replay of the same live texts under fresh draws, where only the rule can make a
difference, and with replay of the texts that the acceptance experiment sampled on its own, where the
law of the text can too. A control replays the same live texts by a wrong rule, which must show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.contract.payload import Measured, Payload, State, Statistic
from engine.contract.provenance import gather
from engine.contract.seeds import Stream
from engine.decode import registry, replay
from engine.decode.drafts.lookup import Lookup
from engine.decode.verifier import Draws
from engine.experiments.acceptance import (
    DRAFTS,
    PROMPTS_FILE,
    Acceptance,
    Settings,
    config,
    evaluate,
)
from engine.run import Documents, Task, source_digest
from engine.stats.statistic import Table

LIVE_SEEDS = {"lookup": 1, "draft": 3}  # live sampled continuations of each prompt
EVERY = 4  # one prompt in this many is decoded greedily, live and by the peer
BATCH = 12


@dataclass
class ReplayCheck:
    """Live decoding beside replay; built on the texts and readings of the acceptance experiment."""

    inner: Acceptance = field(default_factory=Acceptance)

    @property
    def settings(self) -> Settings:
        """The settings of the acceptance experiment."""
        return self.inner.settings

    @property
    def key(self) -> str:
        """As the acceptance experiment's, and this file's code."""
        return f"{self.inner.key} {source_digest(['engine/experiments/replay.py'])}"

    @property
    def greedy_prompts(self) -> range:
        """Indices of the prompts that are decoded greedily."""
        return range(0, len(self.inner.prompts), EVERY)

    @property
    def all_prompts(self) -> range:
        """Indices of all prompts."""
        return range(len(self.inner.prompts))

    def tasks(self) -> list[Task]:
        """The acceptance experiment's, then live decoding of each draft, mode and seed, then the peer."""
        owner = ("acceptance", self.inner.key)
        out = [replace(task, owner=owner) for task in self.inner.tasks()]
        for draft in DRAFTS:
            for part, name in _parts(self.greedy_prompts, f"live/greedy/{draft}"):
                out.append(Task(name, 30.0, partial(self.live_greedy, draft=draft, chosen=part)))
            for seed in range(LIVE_SEEDS[draft]):
                for part, name in _parts(self.all_prompts, f"live/seed-{seed}/{draft}"):
                    work = partial(self.live_sampled, draft=draft, chosen=part, seed=seed)
                    out.append(Task(name, 40.0, work))
        for part, name in _parts(self.greedy_prompts, "peer"):
            out.append(Task(name, 40.0, partial(self.peer, chosen=part)))
        return out

    def live_greedy(self, _: Documents, *, draft: str, chosen: range) -> list[dict[str, Any]]:
        """Live greedy decoding: tokens, rounds as [proposed, accepted, emitted], where the draft agrees."""
        from engine.decode.replay import greedy_agreement, read

        out = []
        for index in chosen:
            one = self._decode(draft, index, None)
            text = one["tokens"]
            agrees = greedy_agreement(read(self.inner.loaded[1], self.inner.prompt_ids[index], text), text)
            out.append(one | {"stands": _bits(agrees)})
        return out

    def live_sampled(self, _: Documents, *, draft: str, chosen: range, seed: int) -> list[dict[str, Any]]:
        """Live sampled decoding, and for the draft model two readings of the same text under fresh draws.

        `stands` is by the rule of replay; `control` by a wrong one, which keeps a token as often as the
        draft would have drawn it.
        """
        from engine.decode.replay import read, sampled_agreement

        target, small, _chat = self.inner.loaded
        out = []
        for index in chosen:
            name = f"replay/{draft}/{self.inner.prompts[index].id}" + (f"/seed-{seed}" if seed else "")
            one = self._decode(draft, index, Draws(self.settings.root, name))
            if draft == "draft":
                prompt, text = self.inner.prompt_ids[index], one["tokens"]
                first, second = read(target, prompt, text), read(small, prompt, text)
                uniform = Stream(self.settings.root, f"{name}/again").uniform(len(text))
                one["stands"] = _bits(sampled_agreement(first, second, uniform))
                one["control"] = _bits(uniform < np.exp(second.log_probability))
            out.append(one)
        return out

    def _decode(self, draft: str, index: int, draws: Draws | None) -> dict[str, Any]:
        from engine.decode.live import decode

        target, small, chat = self.inner.loaded
        settings, prompt = self.settings, self.inner.prompt_ids[index]
        decoded = decode(
            target,
            self._draft(draft, small, len(prompt)),
            prompt,
            length=settings.family_length,
            new_tokens=settings.new_tokens,
            end=chat.end,
            draws=draws,
        )
        rounds = [[r.proposed, r.accepted, r.emitted] for r in decoded.rounds]
        return {"tokens": list(decoded.tokens), "rounds": rounds}

    def _draft(self, draft: str, small: Any, prompt: int) -> Any:
        from engine.decode.drafts.model import ModelDraft

        if draft == "lookup":
            return Lookup(self.settings.lookup_longest, self.settings.lookup_shortest)
        return ModelDraft(small, capacity=prompt + self.settings.new_tokens + 1)

    def peer(self, _: Documents, *, chosen: range) -> list[list[int]]:
        """transformers' own greedy decoding, one row at a time. New token ids a prompt."""
        import torch

        from engine.decode.models import peer

        model = peer(self.settings.target)
        out = []
        for index in chosen:
            ids = torch.tensor([self.inner.prompt_ids[index]])
            done = model.generate(ids, do_sample=False, max_new_tokens=self.settings.new_tokens)
            out.append(done[0, ids.shape[1] :].tolist())
        return out

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload: counts that must be equal, and paired differences in mean."""
        columns = ["cluster", "greedy_tokens", "greedy_tokens_as_peer", "greedy_tokens_as_batched"]
        columns += [f"{d}_greedy_{x}" for d in DRAFTS for x in ("rounds", "rounds_as_replayed")]
        columns += ["lookup_sampled_rounds", "lookup_sampled_rounds_as_replayed"]
        columns += [f"{d}_{w}_{x}" for d in DRAFTS for w in ("live", "apart") for x in ("emitted", "rounds")]
        columns += [f"draft_{w}_{x}" for w in ("again", "control") for x in ("emitted", "rounds")]
        greedy, sampled = self._greedy(documents), self._sampled(documents)
        rows = [[i, *greedy.get(i, [0] * 7), *sampled[i]] for i in range(len(self.inner.prompts))]
        settings = self.settings
        table = Table.from_rows(
            columns, rows, root=settings.root, resamples=settings.resamples, level=settings.level
        )
        results, absent = evaluate(list(self._statements()), table)
        return [
            Measured(
                schema="specdec-sidechannels/payload/1",
                name="acceptance/replay",
                question="Are replayed rounds those of live decoding, and is the text the target's own?",
                regime={
                    "target": registry.entry(settings.target).title,
                    "draft": "prompt lookup and smollm2-draft",
                    "precision": "fp32",
                    "decoding": "greedily and at temperature one",
                    "device": "CPU",
                },
                config=config(settings, len(rows))
                | {
                    "greedy_prompts": len(self.greedy_prompts),
                    "live_seeds": LIVE_SEEDS["draft"],
                    "live_seeds_lookup": LIVE_SEEDS["lookup"],
                },
                seeds={"root": settings.root},
                provenance=gather(
                    ["engine", "run", "replay"],
                    packages=("numpy", "torch", "transformers"),
                    models=self.inner.models,
                    inputs=[PROMPTS_FILE],
                ),
                results=results,
                absent=absent or None,
                state=State(columns=columns, rows=rows),
            )
        ]

    def _greedy(self, documents: Documents) -> dict[int, list[int]]:
        """Per compared prompt: tokens, as the peer, as batched; per draft: rounds, rounds as replayed."""
        peer = dict(zip(self.greedy_prompts, self._joined(documents, "peer"), strict=True))
        batched = self.inner.texts(documents, None)
        out: dict[int, list[int]] = {}
        for draft in DRAFTS:
            decoded = self._joined(documents, f"live/greedy/{draft}")
            for index, one in zip(self.greedy_prompts, decoded, strict=True):
                if index not in out:
                    text = one["tokens"]
                    out[index] = [len(text), _common(text, peer[index]), _common(text, batched[index])]
                replayed = self._replayed(documents, draft, index, one)
                out[index] += [len(one["rounds"]), _common(one["rounds"], replayed)]
        return out

    def _replayed(self, documents: Documents, draft: str, index: int, one: dict[str, Any]) -> list[list[int]]:
        """The rounds of a live text, replayed from one reading of it."""
        if draft == "draft":
            return self._walk(one["tokens"], _agreement(one["stands"]))
        lookup = Lookup(self.settings.lookup_longest, self.settings.lookup_shortest)
        prompt = documents["read/greedy"]["prompts"][index]
        return self._walk(one["tokens"], replay.by_lookup(prompt, one["tokens"], lookup))

    def _walk(self, text: list[int], accepted: replay.Accepted) -> list[list[int]]:
        length, limit = self.settings.family_length, self.settings.new_tokens
        walked = replay.rounds(accepted, text=len(text), length=length, new_tokens=limit)
        return [[r.proposed, r.accepted, r.emitted] for r in walked]

    def _sampled(self, documents: Documents) -> list[list[int]]:
        """Per prompt, the columns of sampled decoding, over all seeds.

        Rounds of looking up and those as replayed; per draft tokens and rounds, live and of the texts
        sampled apart; then tokens and rounds of the draft model's live texts again, and by the control.
        """
        live = {
            draft: [self._joined(documents, f"live/seed-{s}/{draft}") for s in range(LIVE_SEEDS[draft])]
            for draft in DRAFTS
        }
        length = self.settings.family_length
        apart = {
            draft: [self.inner.rounds(documents, draft, s, length) for s in range(self.settings.seeds)]
            for draft in DRAFTS
        }
        out = []
        for index in self.all_prompts:
            ones = {draft: [seed[index] for seed in live[draft]] for draft in DRAFTS}
            replayed = [self._replayed(documents, "lookup", index, one) for one in ones["lookup"]]
            row = [sum(len(one["rounds"]) for one in ones["lookup"])]
            row += [sum(_common(one["rounds"], r) for one, r in zip(ones["lookup"], replayed, strict=True))]
            for draft in DRAFTS:
                row += [
                    sum(len(o["tokens"]) for o in ones[draft]),
                    sum(len(o["rounds"]) for o in ones[draft]),
                ]
                walks = [seed[index] for seed in apart[draft]]
                row += [sum(r.emitted for walk in walks for r in walk), sum(len(walk) for walk in walks)]
            for rule in ("stands", "control"):
                again = [self._walk(o["tokens"], _agreement(o[rule])) for o in ones["draft"]]
                row += [sum(r[2] for walk in again for r in walk), sum(len(walk) for walk in again)]
            out.append(row)
        return out

    def _joined(self, documents: Documents, prefix: str) -> list[Any]:
        parts = [
            (int(name.rsplit("/", 1)[1]), found)
            for name, found in documents.items()
            if name.startswith(prefix)
        ]
        return [one for _, part in sorted(parts, key=lambda pair: pair[0]) for one in part]

    def _statements(self) -> Iterator[tuple[str, str, Statistic]]:
        def total(column: str) -> Statistic:
            return Statistic(kind="sum", numerator=[column], stream="bootstrap")

        def mean(reading: str) -> Statistic:
            above, below = [f"{reading}_emitted"], [f"{reading}_rounds"]
            return Statistic(kind="ratio", numerator=above, denominator=below, stream="bootstrap")

        def difference(reading: str, other: str) -> Statistic:
            one = mean(reading)
            return Statistic(
                kind="difference",
                numerator=one.numerator,
                denominator=one.denominator,
                minus=mean(other),
                stream="bootstrap",
            )

        for name in ("tokens", "tokens_as_peer", "tokens_as_batched"):
            yield f"greedy.{name}", "tokens", total(f"greedy_{name}")
        for draft in DRAFTS:
            for name in ("greedy_rounds", "greedy_rounds_as_replayed"):
                yield f"{draft}.{name}", "rounds", total(f"{draft}_{name}")
        for name in ("sampled_rounds", "sampled_rounds_as_replayed"):
            yield f"lookup.{name}", "rounds", total(f"lookup_{name}")
        for draft, others in (("lookup", ("apart",)), ("draft", ("again", "control", "apart"))):
            yield f"{draft}.live", "tokens a check", mean(f"{draft}_live")
            for other in others:
                yield f"{draft}.{other}", "tokens a check", mean(f"{draft}_{other}")
                statistic = difference(f"{draft}_live", f"{draft}_{other}")
                yield f"{draft}.live_minus_{other}", "tokens a check", statistic


def _parts(chosen: range, prefix: str) -> Iterator[tuple[range, str]]:
    """The chosen prompts in batches, each with the name of its task."""
    for start in range(0, len(chosen), BATCH):
        yield chosen[start : start + BATCH], f"{prefix}/{start}"


def _bits(agrees: NDArray[np.bool_]) -> str:
    return "".join("01"[int(a)] for a in agrees)


def _agreement(bits: str) -> replay.Accepted:
    return replay.by_agreement(np.array([c == "1" for c in bits]))


def _common(first: list[Any], second: list[Any]) -> int:
    """How many items agree before the first that differs."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count
