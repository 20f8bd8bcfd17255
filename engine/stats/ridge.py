"""Ridge regression of many outputs on shared features, solved from moments so that a grid is cheap.

Hoerl and Kennard 1970. Features and outputs are centred, the intercept is not penalised. A penalty is
given in units of the mean variance of the features times the rows, so that one grid serves blocks of any
scale and size. Shapes: n rows, d features, m outputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.contract.errors import BadData

Matrix = NDArray[np.floating]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Linear:
    """A fitted map."""

    weights: Floats  # (d, m)
    centre: Floats  # (d,)
    mean: Floats  # (m,)

    def __call__(self, rows: Matrix) -> Floats:
        """Predictions, (n, d) → (n, m)."""
        out: Floats = (rows - self.centre) @ self.weights + self.mean
        return out


class Moments:
    """What a fit needs to know of its training rows."""

    def __init__(self, rows: Matrix, outputs: Matrix) -> None:
        """Read `rows` (n, d) and `outputs` (n, m); too few rows or a NaN raise `BadData`."""
        if len(rows) != len(outputs) or len(rows) < 2:
            raise BadData(
                f"{len(rows)} rows and {len(outputs)} outputs", "make no fit.", "Pass two of each or more."
            )
        if not (np.isfinite(rows).all() and np.isfinite(outputs).all()):
            raise BadData("the rows of a fit", "hold NaN or infinity.", "Harvest them again.")
        self.centre: Floats = rows.mean(axis=0, dtype=np.float64)
        self.mean: Floats = outputs.mean(axis=0, dtype=np.float64)
        centred = rows - self.centre
        self.square: Floats = centred.T @ centred
        self.cross: Floats = centred.T @ (outputs - self.mean)
        self.unit = float(np.trace(self.square)) / len(self.square)
        if self.unit == 0.0:
            raise BadData("the features", "are constant.", "There is nothing to fit on.")

    def fit(self, penalty: float) -> Linear:
        """The ridge solution under one penalty, above zero."""
        weights = np.linalg.solve(self._penalised(penalty), self.cross)
        return Linear(np.asarray(weights, dtype=np.float64), self.centre, self.mean)

    def leverage(self, rows: Matrix, penalty: float) -> Floats:
        """How far each row lies from the training rows, as the fit sees it: x' (X'X + penalty)⁻¹ x. (n,)"""
        centred = np.asarray(rows - self.centre, dtype=np.float64)
        solved = np.linalg.solve(self._penalised(penalty), centred.T)  # (d, n)
        out: Floats = np.einsum("nd,dn->n", centred, solved)
        return out

    def _penalised(self, penalty: float) -> Floats:
        if not penalty > 0.0:
            raise BadData(f"a penalty of {penalty}", "is not above zero.", "Take one from the grid.")
        out: Floats = self.square + penalty * self.unit * np.eye(len(self.square))
        return out
