"""The counts that are made of a model on test examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from making import two_moons
from paraactive import Arrays, Network, train


def test_vectors_are_counted_only_if_they_are_a_number(tmp_path: Path) -> None:
    class Mine(Network):
        vectors = np.zeros((3, 2))

    x, y = two_moons(600, noise=0.3, seed=0)
    run = train(Mine(hidden=4), Arrays(x, y), test=(x, y), warmstart=100, batch=100, out=tmp_path / "run.db", nodes=1)
    assert run.evaluations[-1].vectors is None
