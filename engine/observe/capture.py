"""One pass of a transformers module over a prompt and its text, with everything a harvest keeps.

Shapes: n checked positions, V vocabulary. A checked position t is one whose token the target has read;
the token `ahead` of it is in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.contract.errors import BadData
from engine.observe.constants import Sideband
from engine.observe.streams.stream import Recorder


@dataclass(frozen=True)
class Source:
    """A text to capture: its cluster, which of the cluster's texts it is, and a name for messages."""

    cluster: int
    text: int
    name: str


class Capture:
    """A module with recorders hooked into it; used as a context, so that the hooks come out again."""

    def __init__(self, module: Any, recorders: Sequence[Recorder], constants: Sideband) -> None:
        self.module, self.recorders, self.constants = module, recorders, constants

    def __enter__(self) -> Capture:
        self.module.set_attn_implementation("eager")
        self.handles = [handle for recorder in self.recorders for handle in recorder.attach(self.module)]
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self.handles:
            handle.remove()

    @torch.inference_mode()
    def read(self, source: Source, prompt: Sequence[int], text: Sequence[int]) -> dict[str, NDArray[Any]]:
        """All arrays of one text, a row a checked position; empty where the text is too short.

        Raises `BadData` where the model gives anything but finite logits.
        """
        ahead, first = self.constants.label.ahead, len(prompt) - 1
        ids = torch.tensor([[*prompt, *text]])
        rows = slice(first, ids.shape[1] - ahead)
        read = ids[:, : rows.stop].to(self.module.device)
        hidden = self.module.model(input_ids=read, use_cache=False).last_hidden_state[0, rows]
        logits = self.module.lm_head(hidden).float()
        if not bool(torch.isfinite(logits).all()):
            raise BadData(source.name, "makes logits that are not finite.", "Check the weights.")
        out = {
            **_places(source, ids[0].numpy(), rows, len(prompt), ahead),
            **_distribution(logits, self.constants),
            "hidden": hidden.float().cpu().numpy(),
        }
        for recorder in self.recorders:
            out |= recorder.take(rows)
        return out


def _places(
    source: Source, ids: NDArray[np.int64], rows: slice, prompt: int, ahead: int
) -> dict[str, NDArray[Any]]:
    at = np.arange(rows.start, rows.stop)
    named = {
        "prompt": np.full(len(at), source.cluster),
        "text": np.full(len(at), source.text),
        "position": at,
        "prompt_length": np.full(len(at), prompt),
        "token": ids[at],
        "next_token": ids[at + 1],
        "label_token": ids[at + ahead],
    }
    return {name: array.astype(np.int32) for name, array in named.items()}


def _distribution(logits: torch.Tensor, constants: Sideband) -> dict[str, NDArray[Any]]:
    """The next-token distribution, summarised. (n, V) → `summary` (n, 12) and the likeliest ids."""
    kept = constants.harvest.top
    log_p = logits.double().log_softmax(dim=-1)
    p = log_p.exp()
    best, ids = log_p.topk(min(constants.harvest.mass, log_p.shape[-1]), dim=-1)
    top = best[:, :kept]
    entropy = -(p * log_p).sum(dim=-1)
    rest = (1 - top.exp().sum(dim=-1)).clamp(min=1e-9).log()
    collision, mass = (p * p).sum(dim=-1), best.exp().sum(dim=-1)
    summary = torch.cat([top, torch.stack([entropy, rest, collision, mass], dim=-1)], dim=-1)
    return {
        "summary": summary.float().cpu().numpy(),
        "top_ids": ids[:, :kept].to(torch.int32).cpu().numpy(),
        "top_log_probability": top.float().cpu().numpy(),
    }
