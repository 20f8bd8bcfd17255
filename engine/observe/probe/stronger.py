"""Three stronger readers, for retests: tuned logistic regression, a small network, boosted trees.

Logistic regression reads all columns; the network and the trees read a fixed random orthogonal
projection of the baseline and one of the stream. Every setting is chosen on the validation clusters by
log loss, for each label space and arm. The only door to scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.contract.seeds import Stream
from engine.observe.constants import Retesting
from engine.observe.probe.linear import Labels, Matrix, Rows, standardise
from engine.observe.probe.score import Floats, log_loss
from engine.observe.split import Integers

Scores = dict[str, Floats]
"""Logits of validation and held-out rows together, by label space. (m, k) each"""

ITERATIONS = 60
BATCH = 512
RATE = 2e-3


def read(name: str, columns: Matrix, labels: Labels, rows: Rows, grid: Retesting) -> Scores:
    """Scores of every held-out row by the best setting of one reader, in each space. (h, k)"""
    best: dict[str, tuple[float, Floats]] = {}
    asked = np.concatenate([rows.validation, rows.held_out])
    checked = len(rows.validation)
    for scores in READERS[name](columns, labels, rows.train, asked, grid):
        for space, found in scores.items():
            loss = float(log_loss(found[:checked], labels.buckets[space][rows.validation]).mean())
            if space not in best or loss < best[space][0]:
                best[space] = (loss, found[checked:])
    return {space: found for space, (_, found) in best.items()}


def project(columns: Matrix, width: int, train: Integers, root: int, name: str) -> Matrix:
    """A random orthogonal projection onto `width` dimensions, standardised; narrower ones stay. (N, width)"""
    size = columns.shape[1]
    if size <= width:
        return columns
    uniform = Stream(root, name).uniform(2 * size * width).reshape(2, size, width)
    normal = np.sqrt(-2 * np.log1p(-uniform[0])) * np.cos(2 * np.pi * uniform[1])
    basis = np.linalg.qr(normal)[0].astype(np.float32)
    return standardise(columns @ basis, train)


def _targets(labels: Labels, rows: Integers) -> dict[str, Tensor]:
    return {space: torch.from_numpy(buckets[rows]) for space, buckets in labels.buckets.items()}


def _loss(logits: Tensor, labels: Labels, targets: dict[str, Tensor]) -> Tensor:
    """Cross entropy of every space, added up; mean over rows."""
    total: Tensor = logits.new_zeros(())
    for space, at in labels.columns():
        total = total + F.cross_entropy(logits[:, at], targets[space])
    return total


def _apart(logits: Tensor, labels: Labels) -> Scores:
    return {space: logits[:, at].double().numpy() for space, at in labels.columns()}


def _logistic(
    columns: Matrix, labels: Labels, train: Integers, asked: Integers, grid: Retesting
) -> Iterator[Scores]:
    """Multinomial regression by L-BFGS, from strong to weak penalty, each starting from the last."""
    x, targets = torch.from_numpy(columns[train]), _targets(labels, train)
    outputs = sum(labels.sizes[space] for space in labels.buckets)
    weights = torch.zeros(x.shape[1], outputs, requires_grad=True)
    bias = torch.zeros(outputs, requires_grad=True)
    for ridge in sorted(grid.logistic_ridge, reverse=True):
        optimiser = torch.optim.LBFGS([weights, bias], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

        def closure(penalty: float = ridge, by: torch.optim.Optimizer = optimiser) -> Tensor:
            by.zero_grad()
            loss = _loss(x @ weights + bias, labels, targets) + penalty * (weights * weights).sum() / 2
            loss.backward()  # type: ignore[no-untyped-call]
            return loss

        optimiser.step(closure)  # type: ignore[no-untyped-call]
        with torch.inference_mode():
            yield _apart(torch.from_numpy(columns[asked]) @ weights + bias, labels)


def _network(
    columns: Matrix, labels: Labels, train: Integers, asked: Integers, grid: Retesting
) -> Iterator[Scores]:
    """One hidden layer, all spaces read from it, AdamW; the state after every epoch is a candidate."""
    x, targets = torch.from_numpy(columns), _targets(labels, train)
    outputs = sum(labels.sizes[space] for space in labels.buckets)
    for width in grid.mlp_width:
        for decay in grid.mlp_decay:
            torch.manual_seed(width)
            model = nn.Sequential(nn.Linear(x.shape[1], width), nn.ReLU(), nn.Linear(width, outputs))
            optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=decay)
            for epoch in range(grid.mlp_epochs):
                order = torch.from_numpy(Stream(width, f"epoch/{epoch}").permutation(len(train)))
                for batch in torch.split(order, BATCH):
                    picked = {space: target[batch] for space, target in targets.items()}
                    optimiser.zero_grad()
                    loss = _loss(model(x[torch.from_numpy(train)[batch]]), labels, picked)
                    loss.backward()  # type: ignore[no-untyped-call]
                    optimiser.step()
                with torch.inference_mode():
                    yield _apart(model(x[torch.from_numpy(asked)]), labels)


def _trees(
    columns: Matrix, labels: Labels, train: Integers, asked: Integers, grid: Retesting
) -> Iterator[Scores]:
    """Histogram gradient boosting, one forest a space."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    for leaves in grid.tree_leaves:
        out: Scores = {}
        for space, buckets in labels.buckets.items():
            model = HistGradientBoostingClassifier(
                max_iter=grid.tree_rounds,
                learning_rate=grid.tree_rate,
                max_leaf_nodes=leaves,
                early_stopping=False,
                random_state=0,
            )
            model.fit(columns[train], buckets[train])
            scores = np.full((len(asked), labels.sizes[space]), np.log(1e-6))
            scores[:, model.classes_] = np.log(model.predict_proba(columns[asked]) + 1e-6)
            out[space] = scores
        yield out


READERS: dict[str, Callable[[Matrix, Labels, Integers, Integers, Retesting], Iterator[Scores]]] = {
    "logistic": _logistic,
    "mlp": _network,
    "trees": _trees,
}
PROJECTED = ("mlp", "trees")
