"""Two kernel methods from the literature, written for the comparison only, from their published descriptions.

`EigenPro`: least squares with all rows as centers, by stochastic gradient descent whose preconditioner flattens the
largest eigenvalues of the kernel (Ma and Belkin, "Kernel machines that adapt to GPUs for effective large batch
training", 2019). `RPCholesky`: rows chosen by randomly pivoted Cholesky decomposition, in blocks with rejection
(Epperly, Tropp, Webber, "Embrace rejection", 2024), and ridge regression on the features that they span.

Both run on torch's CPU with float32, except the small systems, which are solved in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_CHUNK = 4096
"""Rows that are predicted together, and the largest batch."""


def _rbf(a: Tensor, b: Tensor, gamma: float) -> Tensor:
    squared = (a * a).sum(1)[:, None] + (b * b).sum(1)[None, :]
    return torch.exp((squared - 2.0 * (a @ b.T)).clamp_(min=0.0).mul_(-gamma))


class _OneForEachClass:
    """Regression on one target for each class: 1 for its rows, 0 for others."""

    classes_: NDArray[Any]

    def _targets(self, y: NDArray[Any]) -> Tensor:
        self.classes_, number = np.unique(y, return_inverse=True)
        return torch.nn.functional.one_hot(torch.from_numpy(number)).to(torch.float32)

    def _values(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def predict(self, x: NDArray[Any]) -> NDArray[Any]:
        """The class with the largest value."""
        rows = torch.from_numpy(np.ascontiguousarray(x, np.float32))
        best = [self._values(chunk).argmax(1) for chunk in rows.split(_CHUNK)]
        return self.classes_[torch.cat(best).numpy()]


class EigenPro(_OneForEachClass):
    """Batch, step and the number of flattened directions follow from the eigenvalues; at most `most` rows are learned.

    As many directions are flattened as the largest batch can use, as in the paper. The step is 1 over the largest
    eigenvalue that is left. The paper bounds it by the eigenvalues of the sample; outliers that the sample lacks (as in
    shuttle) make it larger, and steps would diverge, so it is measured on some batches too.
    """

    def __init__(self, gamma: float, epochs: int = 5, most: int = 25_000, top: int = 160) -> None:
        self.gamma, self.epochs, self.most, self.top = gamma, epochs, most, top

    def fit(self, x: NDArray[Any], y: NDArray[Any]) -> EigenPro:
        """Preconditioned stochastic gradient descent."""
        draw = torch.Generator().manual_seed(0)
        target = self._targets(y)
        rows = torch.randperm(len(x), generator=draw)[: self.most]
        self.centers = torch.from_numpy(np.ascontiguousarray(x, np.float32))[rows]
        target, count = target[rows], len(rows)
        sample = self.centers[:2000]  # The rows are in random order already.
        size = len(sample)
        values, vectors, tail = self._eigensystem(sample)
        damping = ((1.0 - tail / values) / values)[:, None]
        batch = max(16, min(count, int(size / tail), _CHUNK))
        largest = 1.0 + (batch - 1) * tail / size
        for part in torch.randperm(count, generator=draw).split(batch)[:4]:
            largest = max(largest, self._largest_left(self.centers[part], sample, vectors, damping))
        self.alpha = torch.zeros_like(target)
        for _ in range(self.epochs):
            for part in torch.randperm(count, generator=draw).split(batch):
                kernel = _rbf(self.centers[part], self.centers, self.gamma)
                wrong = (kernel @ self.alpha - target[part]) / largest
                self.alpha[part] -= wrong
                self.alpha[:size] += vectors @ (damping * (vectors.T @ (kernel[:, :size].T @ wrong)))
        return self

    def _eigensystem(self, rows: Tensor) -> tuple[Tensor, Tensor, float]:
        """The largest eigenvalues of the kernel of these rows, their vectors, and the next eigenvalue."""
        values, vectors = torch.linalg.eigh(_rbf(rows, rows, self.gamma).double())
        values, vectors = values.flip(0), vectors.flip(1)
        too_large = int((values * _CHUNK > len(rows)).sum())  # for the largest batch
        top = max(1, min(self.top, len(rows) // 4, too_large))
        return values[:top].float(), vectors[:, :top].float().contiguous(), float(values[top])

    def _largest_left(self, rows: Tensor, sample: Tensor, vectors: Tensor, damping: Tensor) -> float:
        """The largest eigenvalue of these rows' kernel that the preconditioner leaves, by power iteration."""
        kernel, projected = _rbf(rows, rows, self.gamma), _rbf(rows, sample, self.gamma) @ vectors
        direction, norm = torch.ones((len(rows), 1)), 0.0
        for _ in range(20):
            direction = kernel @ direction - projected @ (damping * (projected.T @ direction))
            norm = float(direction.norm())
            direction /= norm
        return norm

    def _values(self, x: Tensor) -> Tensor:
        return _rbf(x, self.centers, self.gamma) @ self.alpha


class RPCholesky(_OneForEachClass):
    """`rank` pivots, and ridge regression in the space of the kernel that they span."""

    def __init__(self, gamma: float, rank: int = 1000, ridge: float = 1e-6) -> None:
        self.gamma, self.rank, self.ridge = gamma, rank, ridge

    def fit(self, x: NDArray[Any], y: NDArray[Any]) -> RPCholesky:
        """Choose the pivots, and solve."""
        rows = torch.from_numpy(np.ascontiguousarray(x, np.float32))
        target = self._targets(y)
        pivots, features = self._decompose(rows)
        self.pivots = rows[pivots]
        of_pivots = features[pivots].double()  # lower triangular, up to rounding: K(pivots, pivots) = L L'
        gram = features.T @ features
        gram = gram.double() + self.ridge * len(rows) * torch.eye(len(pivots), dtype=torch.float64)
        weights = torch.linalg.solve(gram, (features.T @ target).double())
        self.weights = torch.linalg.solve(of_pivots.T, weights).float()
        return self

    def _decompose(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Pivots, and F with F F' close to the kernel: blocks of proposals, of which rejection keeps the right law."""
        draw = torch.Generator().manual_seed(0)
        rank = min(self.rank, len(rows) // 2)
        features, left = torch.zeros((len(rows), rank)), torch.ones(len(rows))
        pivots, block = torch.zeros(0, dtype=torch.long), max(1, min(120, rank // 8))
        while len(pivots) < rank:
            have = len(pivots)
            known = features[:, :have]
            proposed = torch.multinomial(left, block, replacement=True, generator=draw)
            residual = _rbf(rows[proposed], rows[proposed], self.gamma) - known[proposed] @ known[proposed].T
            accepted, factor = _reject(residual.double(), draw, rank - have)
            new = proposed[accepted]
            columns = _rbf(rows, rows[new], self.gamma) - known @ known[new].T
            columns = torch.linalg.solve_triangular(factor, columns.T.double(), upper=False).T.float()
            features[:, have : have + len(new)] = columns
            left = (left - (columns * columns).sum(1)).clamp_(min=0.0)
            left[new] = 0.0
            pivots = torch.cat([pivots, new])
            if not float(left.sum()) > 1e-6 * len(rows):
                break
        return pivots, features[:, : len(pivots)]

    def _values(self, x: Tensor) -> Tensor:
        return _rbf(x, self.pivots, self.gamma) @ self.weights


def _reject(residual: Tensor, draw: torch.Generator, most: int) -> tuple[Tensor, Tensor]:
    """Accept each proposal with the share of its variance that the accepted ones before it leave; their factor."""
    first, accepted = residual.diagonal().clone(), list[int]()
    factor = torch.zeros((len(residual), 0), dtype=torch.float64)
    for place in range(len(residual)):
        remaining = float(residual[place, place] - factor[place] @ factor[place])
        coin = float(torch.rand((), generator=draw, dtype=torch.float64))
        if len(accepted) < most and remaining > 1e-6 and coin * float(first[place]) < remaining:
            column = (residual[:, place] - factor @ factor[place]) / remaining**0.5
            factor = torch.cat([factor, column[:, None]], dim=1)
            accepted.append(place)
    chosen = torch.tensor(accepted, dtype=torch.long)
    return chosen, factor[chosen].tril()
