"""Run files to report on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Network, train
from paraactive.runs.run import Run

NASTY = ("<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>&'\u2028")
"""Labels as an enemy would choose them."""


def digits_run(path: Path, **options: object) -> Run:
    """An SVM on digits, tried on some of the test digits."""
    digits = Digits()
    settings = {"examples": 5000, "batch": 500, "warmstart": 1000, "engine": "threads", "nodes": 2} | options
    return train(LaSVM(C=1, gamma=0.012, gap=0.2), digits, test=True, out=path, **settings)  # pyright: ignore[reportArgumentType]


def nasty_run(path: Path) -> Run:
    """A network on rows whose labels are markup, without test examples."""
    x, y = two_moons(1500, noise=0.3, seed=0)
    return train(
        Network(hidden=8), Arrays(x, np.where(y > 0, *NASTY)), out=path, batch=200, warmstart=200, engine="simulated",
        nodes=2, schedule="asynchronous",
    )  # fmt: skip
