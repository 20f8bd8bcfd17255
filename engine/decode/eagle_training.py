"""Make `smollm2-eagle`: a draft head trained on the target's own features along its own samples.

Three stages, each resumable: the target continues generated prompts, greedily and at temperature one by
turns; it reads each text once for its features; the head learns to guess the next feature and the law that
follows from it. The samples stay beside the head, for the retrieval datastore is made of them. Loss: the
divergence of the head's law from the target's over the head's tokens, and a tenth of the smooth L1 distance
of the features; noise on the inputs as in Li et al. 2024.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from tqdm import tqdm

from engine.contract.seeds import Stream
from engine.contract.store import write_text
from engine.decode import distill, models
from engine.decode.eagle import Head, unroll
from engine.decode.linear import Weight
from engine.decode.llama import Cache, Layer, Llama, final_hidden
from engine.decode.registry import Entry, require
from engine.decode.sample import Row, generate

SAMPLES = "samples.json"
FEATURES_BATCH = 16


@dataclass(frozen=True)
class Recipe:
    """Everything the head depends on."""

    seed: int = 20261130
    prompts: int = 768
    sampling_batch: int = 64
    new_tokens: int = 80
    outputs: int = 8192  # tokens the head can name
    epochs: int = 6
    batch: int = 8
    rate: float = 1e-3
    warmup: int = 20
    checkpoint_every: int = 40
    noise: float = 0.1  # features are trained on with uniform noise of this size
    feature_weight: float = 0.1


Text = tuple[list[int], list[int]]  # prompt and continuation


class Trainable(nn.Module):
    """The head's weights under training, in the layout of `block`."""

    def __init__(self, target: Llama, layer: Layer) -> None:
        super().__init__()
        width = target.shape.width
        self.shape, self.embedding = target.shape, target.embedding
        self.join = nn.Linear(2 * width, width)
        with torch.no_grad():  # at first the feature passes and the token adds nothing
            self.join.weight.copy_(torch.cat([torch.eye(width), torch.zeros(width, width)], dim=1))
            self.join.bias.zero_()
        self.attention_norm = nn.Parameter(layer.attention_norm.clone())
        self.mlp_norm = nn.Parameter(layer.mlp_norm.clone())
        self.query_key_value = _linear(layer.query_key_value)
        self.attention_out = _linear(layer.attention_out)
        self.gate_up = _linear(layer.gate_up)
        self.down = _linear(layer.down)

    def head(self, outputs: Weight, tokens: Tensor) -> Head:
        """These weights as a head; its outputs are the target's rows of `tokens`."""
        layer = Layer(
            self.attention_norm,
            cast(Weight, self.query_key_value),
            cast(Weight, self.attention_out),
            self.mlp_norm,
            cast(Weight, self.gate_up),
            cast(Weight, self.down),
        )
        norm = torch.ones(self.shape.width)
        model = Llama(self.shape, self.embedding, (layer,), norm, outputs, tokens)
        return Head(model, self.join.weight, self.join.bias)


def _linear(weight: Weight) -> nn.Linear:
    made = nn.Linear(weight.matrix.shape[1], weight.matrix.shape[0], bias=False)
    made.weight = nn.Parameter(weight.matrix.clone())
    return made


def train(target: Entry, folder: Path, recipe: Recipe) -> None:
    """Run all stages in `folder`, which afterwards holds the head, the samples and `training.json`."""
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    model, chat = models.load(target.name), models.load_chat(target.name)
    prompts = [chat.prompt(text) for text in distill.prompts(_prompts(recipe))]
    texts = write_texts(model, prompts, chat.end, work, recipe)
    tokens = frequent([token for _, text in texts for token in text], recipe.outputs)
    parts = read_features(model, texts, work, recipe)
    losses = fit(
        model, parts, tokens, work / f"checkpoint-{distill.key(asdict(recipe))}.safetensors", folder, recipe
    )
    write_text(folder / SAMPLES, json.dumps([text for _, text in texts]))
    steps = len(parts) * -(-FEATURES_BATCH // recipe.batch)
    facts = {
        "recipe": asdict(recipe),
        "sampled_tokens": sum(len(text) for _, text in texts),
        "steps": len(losses),
        "last_epoch_loss": sum(losses[-steps:]) / len(losses[-steps:]),
    }
    write_text(folder / "training.json", json.dumps(facts, indent=2))


def _prompts(recipe: Recipe) -> distill.Recipe:
    return distill.Recipe(seed=recipe.seed, prompts=recipe.prompts)


def write_texts(
    model: Llama, prompts: Sequence[list[int]], end: int, work: Path, recipe: Recipe
) -> list[Text]:
    """The target's continuations, every other one greedy; one file a batch."""
    name = distill.key([recipe.seed, recipe.sampling_batch, recipe.new_tokens])
    out: list[Text] = []
    starts = range(0, len(prompts), recipe.sampling_batch)
    for start in tqdm(starts, desc="the target writes samples", unit="batch"):
        path = work / f"texts-{name}-{start:05d}.json"
        batch = prompts[start : start + recipe.sampling_batch]
        if not path.exists():
            rows = [
                Row(tuple(p), _uniform(start + i, recipe) if (start + i) % 2 else None)
                for i, p in enumerate(batch)
            ]
            made = generate(model, rows, new_tokens=recipe.new_tokens, end=end).texts
            write_text(path, json.dumps(made))
        out += [(p, t) for p, t in zip(batch, json.loads(path.read_text()), strict=True)]
    return out


def _uniform(index: int, recipe: Recipe) -> Any:
    return Stream(recipe.seed, f"eagle/sample/{index}").uniform(recipe.new_tokens)


def frequent(tokens: Sequence[int], outputs: int) -> Tensor:
    """The `outputs` tokens written most often, then the lowest ids; in rising order. (outputs,)"""
    order = [token for token, _ in sorted(Counter(tokens).items(), key=lambda kv: (-kv[1], kv[0]))]
    seen = set(order)
    order += [token for token in range(outputs + len(seen)) if token not in seen]
    return torch.tensor(sorted(order[:outputs]))


def read_features(model: Llama, texts: Sequence[Text], work: Path, recipe: Recipe) -> list[Path]:
    """The target's features of every text, neighbours in length together; a file a batch, in fp16."""
    name = distill.key([recipe.seed, recipe.sampling_batch, recipe.new_tokens, recipe.prompts])
    rows = sorted(([*p, *t] for p, t in texts), key=len)
    out = []
    for start in tqdm(range(0, len(rows), FEATURES_BATCH), desc="the target reads them", unit="batch"):
        path = work / f"features-{name}-{start:05d}.safetensors"
        if not path.exists():
            ids, lengths = padded(rows[start : start + FEATURES_BATCH])
            hidden = final_hidden(model, ids, Cache(model, rows=len(ids), capacity=ids.shape[1]), 0)
            distill.save_whole(path, {"ids": ids, "lengths": lengths, "features": hidden.half()})
        out.append(path)
    return out


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Rows filled up with zeros to one length, and their lengths."""
    longest = max(map(len, rows))
    return torch.tensor([[*r, *[0] * (longest - len(r))] for r in rows]), torch.tensor([len(r) for r in rows])


def fit(
    target: Llama, parts: Sequence[Path], tokens: Tensor, state: Path, folder: Path, recipe: Recipe
) -> list[float]:
    """Teach the head, from the checkpoint `state` where there is one, and keep it in `folder`."""
    torch.manual_seed(recipe.seed)
    student = Trainable(target, target.layers[-1])
    outputs = Weight(target.head.matrix[tokens].clone())
    halves = [(path, at) for path in parts for at in range(0, FEATURES_BATCH, recipe.batch)]
    order = [
        halves[int(i)]
        for epoch in range(recipe.epochs)
        for i in Stream(recipe.seed, f"eagle/epoch/{epoch}").permutation(len(halves))
    ]
    held = {path: load_file(path) for path in parts}
    angles = rotary(target, max(int(part["ids"].shape[1]) for part in held.values()) + 1)

    def loss(step: int) -> Tensor:
        path, at = order[step]
        part = {name: tensor[at : at + recipe.batch] for name, tensor in held[path].items()}
        noise = Stream(recipe.seed, f"eagle/noise/{step}")
        return distance(student.head(outputs, tokens), part, angles, noise, recipe)

    losses = distill.learn(student, loss, len(order), state, recipe, "the head learns")
    save(student, tokens, folder)
    return losses


def rotary(target: Llama, capacity: int) -> tuple[Tensor, Tensor]:
    """The rotary angles of the first positions."""
    cache = Cache(target, rows=1, capacity=capacity)
    return cache.cos, cache.sin


def distance(
    head: Head, part: dict[str, Tensor], angles: tuple[Tensor, Tensor], noise: Stream, recipe: Recipe
) -> Tensor:
    """Nats a position between the laws, and the weighted distance of the features.

    `part`: ids (B, n), lengths (B,), features (B, n, w).
    """
    ids, features = part["ids"], part["features"].float()
    known, wanted = features[:, :-1], features[:, 1:]
    drawn = torch.from_numpy(noise.uniform(known.numel())).float().view_as(known) - 0.5
    (guessed,) = unroll(head, known + 2 * recipe.noise * drawn, ids, 1, angles)
    inside = torch.arange(wanted.shape[1]) < (part["lengths"] - 1)[:, None]  # (B, n - 1)
    rows = head.model.head.matrix
    goal = F.linear(wanted[inside], rows).log_softmax(dim=-1)
    found = F.linear(guessed[inside], rows).log_softmax(dim=-1)
    gap = F.kl_div(found, goal, log_target=True, reduction="batchmean")
    return gap + recipe.feature_weight * F.smooth_l1_loss(guessed[inside], wanted[inside])


def save(student: Trainable, tokens: Tensor, folder: Path) -> None:
    """Keep the trained weights; what is the target's is not kept twice."""
    state = {name: tensor.detach().contiguous() for name, tensor in student.state_dict().items()}
    temporary = folder / "model.part"
    save_file(state | {models.HEAD_TOKENS: tokens}, temporary, metadata={"format": "pt"})
    temporary.replace(folder / models.WEIGHTS)


def load(name: str, target: Llama) -> Head:
    """A fetched head over the target it was trained for."""
    state = load_file(require(name).folder / models.WEIGHTS)
    tokens = state.pop(models.HEAD_TOKENS)
    return from_state(state, tokens, target)


def from_state(state: dict[str, Tensor], tokens: Tensor, target: Llama) -> Head:
    """A head of kept weights, ready to be read."""
    layer = Layer(
        state["attention_norm"],
        Weight(state["query_key_value.weight"]),
        Weight(state["attention_out.weight"]),
        state["mlp_norm"],
        Weight(state["gate_up.weight"]),
        Weight(state["down.weight"]),
    )
    outputs, norm = Weight(target.head.matrix[tokens].clone()), torch.ones(target.shape.width)
    model = Llama(target.shape, target.embedding, (layer,), norm, outputs, tokens)
    return Head(model, state["join.weight"], state["join.bias"])


def samples(name: str) -> tuple[tuple[int, ...], ...]:
    """The texts that the target wrote for the head's training, as token ids."""
    texts = json.loads((require(name).folder / SAMPLES).read_text(encoding="utf-8"))
    return tuple(tuple(text) for text in texts)
