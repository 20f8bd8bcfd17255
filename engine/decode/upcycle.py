"""Make `smollm2-moe`: the target's feed-forward layers cut into experts, and routers that learn to choose.

Sparse upcycling (Komatsuzaki et al. 2023) by splitting (LLaMA-MoE: Zhu et al. 2024): the hidden units of
each layer are clustered by their gate rows into equal groups, one an expert; a router row starts as its
cluster's mean. All experts at once would be the parent itself, so the number chosen is annealed, and
down-projections are rescaled at each step so that an expert adds as much as before. Then the model learns
the parent's next-token distributions on the parent's own samples, with the load-balancing term of Switch
Transformers (Fedus et al. 2022). Saved as `MixtralForCausalLM` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from engine.contract.seeds import Stream
from engine.decode import distill, models
from engine.decode.llama import expert_weights, weighted
from engine.decode.registry import Entry


@dataclass(frozen=True)
class Recipe:
    """Everything the model with experts depends on."""

    seed: int = 20261130
    samples: distill.Recipe = field(default_factory=lambda: distill.Recipe(prompts=1024))
    experts: int = 64
    clustering_rounds: int = 4
    router_scale: float = 0.15
    anneal: tuple[tuple[int, float], ...] = ((32, 0.0), (16, 0.12), (8, 0.3))  # chosen, from which share on
    balance: float = 0.01
    epochs: int = 3
    batch: int = 16
    rate: float = 3e-4
    warmup: int = 20
    checkpoint_every: int = 20

    @property
    def chosen(self) -> int:
        """Experts a token in the finished model."""
        return self.anneal[-1][0]


class Experts(torch.nn.Module):
    """A feed-forward layer of experts, to train: expert e owns the e-th of equal shares of the hidden."""

    chosen: Tensor  # how many experts a token takes, ()

    def __init__(self, gate: Tensor, up: Tensor, down: Tensor, router: Tensor, chosen: int) -> None:
        super().__init__()
        self.gate = torch.nn.Parameter(gate)  # (hidden, width)
        self.up = torch.nn.Parameter(up)  # (hidden, width)
        self.down = torch.nn.Parameter(down)  # (width, hidden)
        self.router = torch.nn.Parameter(router)  # (experts, width)
        self.register_buffer("chosen", torch.tensor(chosen))  # kept with the weights it belongs to
        self.imbalance: Tensor = torch.zeros(())

    @torch.no_grad()
    def choose(self, chosen: int) -> None:
        """Let a token choose so many experts; each adds what it added before."""
        self.down.mul_(chosen / int(self.chosen))
        self.chosen.fill_(chosen)

    def forward(self, x: Tensor) -> Tensor:
        """(B, n, width) → (B, n, width); leaves the load-balancing term in `imbalance`."""
        scores = F.linear(x, self.router).float()
        chosen = int(self.chosen)
        weights = expert_weights(scores, chosen)
        used = (weights > 0).float().mean(dim=(0, 1))
        wanted = scores.softmax(dim=-1).mean(dim=(0, 1))
        self.imbalance = len(self.router) * (used * wanted).sum() / chosen
        active = F.silu(F.linear(x, self.gate)) * F.linear(x, self.up)
        return F.linear(weighted(active, weights), self.down)


def balanced_clusters(rows: Tensor, clusters: int, rounds: int, stream: Stream) -> Tensor:
    """Order of `rows` (n, width) such that equal runs of it are clusters of like direction. (n,)

    K-means on the unit sphere with equal cluster sizes, each assignment solved exactly.
    """
    rows = F.normalize(rows, dim=-1)
    size = len(rows) // clusters
    if size * clusters != len(rows):
        raise ValueError(f"{len(rows)} units do not make {clusters} equal experts")
    centres = rows[torch.from_numpy(stream.permutation(len(rows))[:clusters])]
    for _ in range(rounds):
        likeness = (rows @ centres.T).repeat_interleave(size, dim=1)  # (n, n): each cluster has `size` seats
        units, seats = linear_sum_assignment(likeness.numpy(), maximize=True)
        order = torch.empty(len(rows), dtype=torch.int64)
        order[torch.from_numpy(seats)] = torch.from_numpy(units)
        centres = F.normalize(rows[order].view(clusters, size, -1).mean(dim=1), dim=-1)
    return order.view(clusters, size).sort(dim=1).values.flatten()


def upcycled(parent: Any, recipe: Recipe) -> list[Experts]:
    """Replace the feed-forward layers of a transformers Llama by experts made of their own units."""
    made = []
    for index, layer in enumerate(parent.model.layers):
        gate, up, down = (getattr(layer.mlp, f"{k}_proj").weight.detach() for k in ("gate", "up", "down"))
        stream = Stream(recipe.seed, f"upcycling/clusters/{index}")
        order = balanced_clusters(gate, recipe.experts, recipe.clustering_rounds, stream)
        router = gate[order].view(recipe.experts, -1, gate.shape[1]).mean(dim=1) * recipe.router_scale
        # weights of all experts sum to one, in the parent each counts one
        down = down[:, order] * recipe.experts
        experts = Experts(gate[order], up[order], down, router, recipe.experts)
        layer.mlp = experts
        made.append(experts)
    return made


def train(target: Entry, folder: Path, recipe: Recipe) -> None:
    """Run all stages in `folder`, which afterwards holds the model and `training.json`."""
    work = folder / "work"
    parts = distill.sample_all(target, work / "samples", recipe.samples)
    samples = [sample for part in parts for sample in distill.read_part(part)]
    model = models.peer(target.name)
    model.model.embed_tokens.weight.requires_grad_(False)
    losses = fit(model, work / f"checkpoint-{distill.key(asdict(recipe))}.safetensors", samples, recipe)
    save(model, recipe, folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        (folder / name).write_bytes((target.folder / name).read_bytes())
    tail = losses[-(len(losses) // recipe.epochs) :]
    facts = {
        "recipe": asdict(recipe),
        "samples": len(samples),
        "sampled_tokens": sum(sample.new for sample in samples),
        "positions_an_epoch": sum(len(sample.best) for sample in samples),
        "steps": len(losses),
        "last_epoch_loss_nats": sum(tail) / len(tail),
    }
    (folder / "training.json").write_text(json.dumps(facts, indent=2), encoding="utf-8")


def fit(model: Any, state: Path, samples: Sequence[distill.Sample], recipe: Recipe) -> list[float]:
    """Cut the layers of `model`, a transformers Llama, into experts and teach it. Returns each step's loss.

    Products run in bf16 where the loss is not taken: several times faster on processors that have it.
    """
    layers = upcycled(model, recipe)
    batches = distill.schedule(samples, recipe.seed, recipe.batch, recipe.epochs)
    rows = torch.arange(model.config.vocab_size)

    def loss(step: int) -> Tensor:
        chosen = chosen_at(recipe, step / len(batches))
        for layer in layers:
            if int(layer.chosen) != chosen:
                layer.choose(chosen)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            apart = distill.divergence(model, [samples[i] for i in batches[step]], rows)
        return apart + recipe.balance * torch.stack([layer.imbalance for layer in layers]).mean()

    return distill.learn(model, loss, len(batches), state, recipe, "the experts learn")


def chosen_at(recipe: Recipe, share: float) -> int:
    """How many experts a token chooses when this share of the steps is done."""
    return next(chosen for chosen, start in reversed(recipe.anneal) if share >= start)


def save(model: Any, recipe: Recipe, folder: Path) -> None:
    """Keep a trained model in the layout of transformers' Mixtral."""
    tensors: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        at, _, part = name.rpartition(".mlp.")
        if not at:
            tensors[name] = tensor.detach().contiguous()
        elif part == "router":
            tensors[f"{at}.mlp.gate.weight"] = tensor
        elif part == "down":
            experts = tensor.unflatten(1, (recipe.experts, -1)).transpose(0, 1)
            tensors[f"{at}.mlp.experts.down_proj"] = experts.contiguous()
        elif part == "gate":
            both = [
                model.get_parameter(f"{at}.mlp.{k}").unflatten(0, (recipe.experts, -1))
                for k in ("gate", "up")
            ]
            tensors[f"{at}.mlp.experts.gate_up_proj"] = torch.cat(both, dim=1).detach().contiguous()
    if model.config.tie_word_embeddings:
        tensors.pop("lm_head.weight")
    models.save_experts(tensors, model.config, recipe.experts, recipe.chosen, folder)
