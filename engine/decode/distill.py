"""Make `smollm2-draft`: the target cut down to a few layers and distilled on the target's own samples.

Three stages, each resumable: the target writes continuations of generated prompts and keeps its
most likely next tokens at every position; the student learns those distributions; the result is
saved with the facts of its training. Knowledge distillation: Hinton et al. 2015; for drafts:
DistillSpec (Zhou et al. 2024), here with the forward divergence.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from engine.contract.seeds import Stream
from engine.decode import models
from engine.decode.llama import Llama
from engine.decode.registry import Entry
from engine.decode.sample import Decoder, Row


@dataclass(frozen=True)
class Recipe:
    """Everything the draft depends on."""

    seed: int = 20261130
    prompts: int = 1536
    sampling_batch: int = 64
    new_tokens: int = 96
    kept: int = 64  # most likely next tokens kept from the target at each position
    layers: tuple[int, ...] = (0, 1, 2, 3, 28, 29)
    outputs: int = 8192  # rows of the draft's head
    epochs: int = 4
    batch: int = 16
    rate: float = 8e-4
    warmup: int = 20
    checkpoint_every: int = 20


def prompts(recipe: Recipe) -> list[str]:
    """Distinct pairings of template and topic, in a random order fixed by the seed."""
    text = (
        resources.files("engine.experiments.prompts")
        .joinpath("distillation.toml")
        .read_text(encoding="utf-8")
    )
    source = tomllib.loads(text)
    pairs = [(t["text"], topic) for t in source["template"] for topic in source["topics"]]
    order = Stream(recipe.seed, "distillation/prompts").permutation(len(pairs))[: recipe.prompts]
    return [pairs[int(i)][0].replace("{topic}", pairs[int(i)][1]) for i in order]


def train(target: Entry, folder: Path, recipe: Recipe) -> None:
    """Run all stages in `folder`, which afterwards holds the draft and `training.json`."""
    work = folder / "work"
    parts = sample_all(target, work / f"samples-{_sampling_key(recipe)}", recipe)
    samples = [sample for part in parts for sample in read_part(part)]
    head_tokens = frequent_tokens(samples, recipe.outputs)
    fit_ = fit(target, work / f"checkpoint-{key(asdict(recipe))}.safetensors", samples, head_tokens, recipe)
    models.save_student(fit_.model, head_tokens, folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        (folder / name).write_bytes((target.folder / name).read_bytes())
    facts = {
        "recipe": asdict(recipe),
        "samples": len(samples),
        "sampled_tokens": sum(sample.new for sample in samples),
        "positions_an_epoch": sum(len(sample.best) for sample in samples),
        "steps": fit_.steps,
        "last_epoch_loss_nats": fit_.loss,
    }
    (folder / "training.json").write_text(json.dumps(facts, indent=2), encoding="utf-8")


@dataclass(frozen=True)
class Fit:
    """A trained student and its mean loss over the last epoch, nats a position."""

    model: Any
    loss: float
    steps: int


Best = tuple[Tensor, Tensor]  # tokens (n, kept) and their log-probabilities (n, kept)


@dataclass(frozen=True)
class Sample:
    """A prompt with its continuation (n tokens), and the target's `kept` best at each position (n, kept)."""

    ids: Tensor
    new: int
    best: Tensor
    log_probability: Tensor


def _sampling_key(recipe: Recipe) -> str:
    """What the samples depend on; their number aside, since more of them are the same ones and then some."""
    return key([recipe.seed, recipe.sampling_batch, recipe.new_tokens, recipe.kept])


def key(settings: Any) -> str:
    """A short digest of settings, to name what depends on them."""
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:12]


def sample_all(target: Entry, work: Path, recipe: Recipe) -> list[Path]:
    """Let the target continue every prompt, greedily and at temperature 1 by turns; one file a batch."""
    texts = prompts(recipe)
    work.mkdir(parents=True, exist_ok=True)
    starts = range(0, len(texts), recipe.sampling_batch)
    parts = [work / f"samples-{start:05d}.safetensors" for start in starts]
    if all(part.exists() for part in parts):
        return parts
    model, chat = models.load(target.name), models.load_chat(target.name)
    for start, part in tqdm(
        list(zip(starts, parts, strict=True)), desc="the target writes samples", unit="batch"
    ):
        if not part.exists():
            batch = texts[start : start + recipe.sampling_batch]
            rows = [_row(chat.prompt(text), start + i, recipe) for i, text in enumerate(batch)]
            write_part(part, _sample(model, rows, chat.end, recipe))
    return parts


def _row(prompt: list[int], index: int, recipe: Recipe) -> Row:
    greedy = index % 2 == 0
    stream = Stream(recipe.seed, f"distillation/sample/{index}")
    return Row(tuple(prompt), None if greedy else stream.uniform(recipe.new_tokens))


def _sample(model: Llama, rows: Sequence[Row], end: int, recipe: Recipe) -> list[Sample]:
    decoder = Decoder(model, rows, recipe.new_tokens, end)
    best: list[list[Best]] = [[] for _ in rows]

    def watch(index: int, logits: Tensor) -> None:
        best[index].append(_best(logits, recipe.kept))

    logits = decoder.prefill(watch)
    while True:
        tokens = decoder.choose(logits)
        if not any(decoder.open):
            break
        logits = decoder.step(tokens)
        step = _best(logits, recipe.kept)
        for index, is_open in enumerate(decoder.open):
            if is_open:
                best[index].append((step[0][index : index + 1], step[1][index : index + 1]))
    joined = [(torch.cat([b[0] for b in row]), torch.cat([b[1] for b in row])) for row in best]
    return [
        Sample(torch.tensor([*row.prompt, *text], dtype=torch.int32), len(text), tokens, logp)
        for row, text, (tokens, logp) in zip(rows, decoder.texts, joined, strict=True)
    ]


def _best(logits: Tensor, kept: int) -> Best:
    values, tokens = logits.topk(kept, dim=-1)
    logp = values - logits.logsumexp(dim=-1, keepdim=True)
    return tokens.to(torch.int32), logp.to(torch.float32)


def write_part(path: Path, samples: Sequence[Sample]) -> None:
    """Keep one batch of samples; the file appears whole or not at all."""
    tensors: dict[str, Tensor] = {}
    for index, sample in enumerate(samples):
        tensors |= {
            f"{index:04d}.ids": sample.ids,
            f"{index:04d}.new": torch.tensor(sample.new),
            f"{index:04d}.best": sample.best,
            f"{index:04d}.log_probability": sample.log_probability,
        }
    save_whole(path, tensors)


def read_part(path: Path) -> list[Sample]:
    """The samples of one batch, in order."""
    tensors = load_file(path)
    return [
        Sample(
            tensors[f"{index:04d}.ids"],
            int(tensors[f"{index:04d}.new"]),
            tensors[f"{index:04d}.best"],
            tensors[f"{index:04d}.log_probability"],
        )
        for index in range(len(tensors) // 4)
    ]


def save_whole(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write a safetensors file so that a killed process leaves the old one or none."""
    temporary = path.with_suffix(".part")
    save_file(tensors, temporary)
    temporary.replace(path)


def frequent_tokens(samples: Sequence[Sample], outputs: int) -> Tensor:
    """The `outputs` tokens most often written in the samples, then by id; in rising order. (outputs,)"""
    counts = torch.zeros(1 + max(int(s.best.max()) for s in samples), dtype=torch.int64)
    for sample in samples:
        counts += torch.bincount(sample.ids.long(), minlength=len(counts))[: len(counts)] * 1000
        counts += torch.bincount(sample.best[:, :4].flatten().long(), minlength=len(counts))
    order = torch.argsort(counts, descending=True, stable=True)[:outputs]
    return order.sort().values


def fit(target: Entry, state: Path, samples: Sequence[Sample], head_tokens: Tensor, recipe: Recipe) -> Fit:
    """Teach the student; continues from the checkpoint `state` where there is one."""
    torch.manual_seed(recipe.seed)
    model = models.student(target, recipe.layers, head_tokens)
    batches = schedule(samples, recipe.seed, recipe.batch, recipe.epochs)
    rows = torch.full((model.config.vocab_size,), -1, dtype=torch.int64)
    rows[head_tokens] = torch.arange(len(head_tokens))

    def loss(step: int) -> Tensor:
        return divergence(model, [samples[i] for i in batches[step]], rows)

    losses = learn(model, loss, len(batches), state, recipe, "the draft learns")
    tail = losses[-(len(batches) // recipe.epochs) :]
    return Fit(model.eval(), sum(tail) / len(tail), len(batches))


class Pace(Protocol):
    """How fast a model learns: the highest rate, steps to reach it, steps between checkpoints."""

    @property
    def rate(self) -> float: ...
    @property
    def warmup(self) -> int: ...
    @property
    def checkpoint_every(self) -> int: ...


def learn(
    model: Any, loss: Callable[[int], Tensor], steps: int, state: Path, pace: Pace, title: str
) -> list[float]:
    """Descend `loss(step)` for `steps` steps, from the checkpoint `state` if any. Returns all losses."""
    model.train()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=pace.rate, betas=(0.9, 0.95), weight_decay=0.01)
    done, losses = _resume(state, model, optimiser)
    with tqdm(total=steps, initial=done, desc=title, unit="step") as bar:
        for step in range(done, steps):
            for group in optimiser.param_groups:
                group["lr"] = pace.rate * _warm_cosine(step, steps, pace.warmup)
            found = loss(step)
            optimiser.zero_grad(set_to_none=True)
            found.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            losses.append(float(found.detach()))
            bar.update()
            bar.set_postfix(loss=f"{sum(losses[-20:]) / len(losses[-20:]):.3f}")
            if (step + 1) % pace.checkpoint_every == 0:
                _checkpoint(state, model, optimiser, losses)
    return losses


def schedule(samples: Sequence[Sample], seed: int, batch: int, epochs: int) -> list[list[int]]:
    """Batches of neighbours in length, shuffled anew in every epoch."""
    by_length = sorted(range(len(samples)), key=lambda i: (len(samples[i].ids), i))
    chunks = [by_length[i : i + batch] for i in range(0, len(by_length), batch)]
    out = []
    for epoch in range(epochs):
        order = Stream(seed, f"distillation/epoch/{epoch}").permutation(len(chunks))
        out += [chunks[int(i)] for i in order]
    return out


def _warm_cosine(step: int, steps: int, warmup: int) -> float:
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def divergence(model: Any, batch: Sequence[Sample], rows: Tensor) -> Tensor:
    """Divergence, in nats a position, of the student from the target over the tokens both can name."""
    ids = pad_sequence([s.ids.long() for s in batch], batch_first=True)
    best = pad_sequence([s.best.long() for s in batch], batch_first=True)  # (B, n, kept)
    logp = pad_sequence([s.log_probability for s in batch], batch_first=True, padding_value=-torch.inf)
    logits = model(input_ids=ids, use_cache=False).logits.float()[:, : best.shape[1]]
    at = rows[best]  # (B, n, kept), -1 off the draft's list
    logq = logits.gather(2, at.clamp(min=0)) - logits.logsumexp(dim=-1, keepdim=True)
    share = logp.exp() * (at >= 0)
    gap = torch.where(share > 0, logp - logq, 0.0)
    return (share * gap).sum() / sum(len(s.best) for s in batch)


def _checkpoint(path: Path, model: Any, optimiser: torch.optim.Optimizer, losses: list[float]) -> None:
    """Weights and the optimiser's tensors as such, its settings and the losses as JSON beside them."""
    temporary = path.with_suffix(".part")
    moved = optimiser.state_dict()
    tensors = {f"model/{name}": tensor for name, tensor in model.state_dict().items()}
    for index, kept in moved["state"].items():
        tensors |= {f"optimiser/{index}/{name}": tensor for name, tensor in kept.items()}
    facts = {"groups": json.dumps(moved["param_groups"]), "losses": json.dumps(losses)}
    save_file({name: tensor.clone() for name, tensor in tensors.items()}, temporary, facts)
    temporary.replace(path)


def _resume(path: Path, model: Any, optimiser: torch.optim.Optimizer) -> tuple[int, list[float]]:
    if not path.exists():
        return 0, []
    with safe_open(path, "pt") as file:
        facts = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
    weights: dict[str, Tensor] = {}
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        kind, _, rest = name.partition("/")
        if kind == "model":
            weights[rest] = tensor
        else:
            index, _, part = rest.partition("/")
            state.setdefault(int(index), {})[part] = tensor
    model.load_state_dict(weights)
    optimiser.load_state_dict({"state": state, "param_groups": json.loads(facts["groups"])})
    losses: list[float] = json.loads(facts["losses"])
    return len(losses), losses
