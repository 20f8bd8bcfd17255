"""Are replayed rounds those of live decoding, and is the text the target's own?

Three comparisons on the real pair: live greedy text against transformers' own greedy decoding; live
greedy rounds against rounds replayed from that text, one by one; and tokens a check of live sampled
decoding against replay of independently sampled texts, in mean, paired by prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from engine.contract.payload import Measured, Payload, State, Statistic
from engine.contract.provenance import gather
from engine.decode import registry
from engine.decode.drafts.lookup import Lookup
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

EVERY = 4  # one prompt in this many is decoded greedily, live and by the peer
BATCH = 12


@dataclass
class ReplayCheck:
    """Live decoding beside replay; built on the texts and readings of the acceptance experiment."""

    inner: Acceptance = field(default_factory=lambda: Acceptance(replace(Settings(), seeds=1)))

    @property
    def settings(self) -> Settings:
        """The settings of the acceptance experiment, with one seed."""
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
        """Texts and readings, then live decoding of each draft and mode, then the peer."""
        out = self.inner.tasks()
        for draft in DRAFTS:
            for mode, chosen, cost in (
                ("greedy", self.greedy_prompts, 45.0),
                ("sampled", self.all_prompts, 60.0),
            ):
                for start in range(0, len(chosen), BATCH):
                    part = chosen[start : start + BATCH]
                    work = partial(self.live, draft=draft, chosen=part, sampled=mode == "sampled")
                    out.append(Task(f"live/{mode}/{draft}/{start}", cost, work))
        for start in range(0, len(self.greedy_prompts), BATCH):
            part = self.greedy_prompts[start : start + BATCH]
            out.append(Task(f"peer/{start}", 50.0, partial(self.peer, chosen=part)))
        return out

    def live(self, _: Documents, *, draft: str, chosen: range, sampled: bool) -> list[dict[str, Any]]:
        """Live decoding: tokens, rounds as [proposed, accepted, emitted], and where the draft agrees."""
        from engine.decode.live import decode
        from engine.decode.replay import greedy_agreement, read
        from engine.decode.verifier import Draws

        target, small, chat = self.inner.loaded
        settings, out = self.settings, []
        for index in chosen:
            prompt = self.inner.prompt_ids[index]
            scheme = self._draft(draft, small, len(prompt))
            name = f"replay/{draft}/{self.inner.prompts[index].id}"
            decoded = decode(
                target,
                scheme,
                prompt,
                length=settings.family_length,
                new_tokens=settings.new_tokens,
                end=chat.end,
                draws=Draws(settings.root, name) if sampled else None,
            )
            rounds = [[r.proposed, r.accepted, r.emitted] for r in decoded.rounds]
            agrees = greedy_agreement(read(small, prompt, decoded.tokens), decoded.tokens)
            stands = "".join("01"[int(a)] for a in agrees)
            out.append({"tokens": list(decoded.tokens), "rounds": rounds, "stands": stands})
        return out

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
        columns += [
            f"{d}_{w}_{x}" for d in DRAFTS for w in ("live", "replayed") for x in ("emitted", "rounds")
        ]
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
                config=config(settings, len(rows)) | {"greedy_prompts": len(self.greedy_prompts)},
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
        """The rounds of a live greedy text, replayed from one reading of it."""
        from engine.decode import replay

        settings, text = self.settings, one["tokens"]
        if draft == "lookup":
            lookup = Lookup(settings.lookup_longest, settings.lookup_shortest)
            accepted = replay.by_lookup(documents["read/greedy"]["prompts"][index], text, lookup)
        else:
            accepted = replay.by_agreement(np.array([c == "1" for c in one["stands"]]))
        walked = replay.rounds(
            accepted, text=len(text), length=settings.family_length, new_tokens=settings.new_tokens
        )
        return [[r.proposed, r.accepted, r.emitted] for r in walked]

    def _sampled(self, documents: Documents) -> list[list[int]]:
        """Per prompt and draft: tokens and rounds, live and replayed, of different texts of one law."""
        out: list[list[int]] = [[] for _ in self.inner.prompts]
        for draft in DRAFTS:
            live = self._joined(documents, f"live/sampled/{draft}")
            replayed = self.inner.rounds(documents, draft, 0, self.settings.family_length)
            for row, one, walked in zip(out, live, replayed, strict=True):
                row += [len(one["tokens"]), len(one["rounds"]), sum(r.emitted for r in walked), len(walked)]
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

        def pair(draft: str, which: str) -> tuple[list[str], list[str]]:
            return [f"{draft}_{which}_emitted"], [f"{draft}_{which}_rounds"]

        yield "greedy.tokens", "tokens", total("greedy_tokens")
        yield "greedy.tokens_as_peer", "tokens", total("greedy_tokens_as_peer")
        yield "greedy.tokens_as_batched", "tokens", total("greedy_tokens_as_batched")
        for draft in DRAFTS:
            yield f"{draft}.greedy_rounds", "rounds", total(f"{draft}_greedy_rounds")
            yield f"{draft}.greedy_rounds_as_replayed", "rounds", total(f"{draft}_greedy_rounds_as_replayed")
            above, below = pair(draft, "live")
            live = Statistic(kind="ratio", numerator=above, denominator=below, stream="bootstrap")
            above, below = pair(draft, "replayed")
            again = Statistic(kind="ratio", numerator=above, denominator=below, stream="bootstrap")
            yield f"{draft}.live", "tokens a check", live
            yield f"{draft}.replayed", "tokens a check", again
            yield (
                f"{draft}.live_minus_replayed",
                "tokens a check",
                Statistic(
                    kind="difference",
                    numerator=live.numerator,
                    denominator=live.denominator,
                    minus=again,
                    stream="bootstrap",
                ),
            )


def _common(first: list[Any], second: list[Any]) -> int:
    """How many items agree before the first that differs."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count
