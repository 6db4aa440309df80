"""Short runs of every kind, whose digests are pinned: a change that is to change no result can be seen to change none.

The bits of numpy's exp depend on the processor, so digests are compared where the pins were made on a processor of the
same kind, and on others the examples that were selected. Models of scikit-learn also depend on the kernels that BLAS
chooses. To pin anew: `python tests/golden.py`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_info

from making import stripes, three_blobs, two_moons
from paraactive import Arrays, Digits, LaSVM, Network, Oracle, ParaActiveClassifier, train
from paraactive.data.examples import SparseRows
from paraactive.engines import Cluster
from paraactive.learners import SklearnLearner
from paraactive.rules import Gradient, IwalMargin, LeastMargin, PaperMargin, SignedMargin, Uniform
from paraactive.runs.run import Run
from paraactive.streams import Unlabelled

PINS = Path(__file__).with_name("golden.json")
X, Y = two_moons(1500, noise=0.2, seed=0)
WIDE, SIDES = stripes(1500, 20, seed=1)
BLOBS, KINDS = three_blobs(1500, seed=2)
SIZES: dict[str, Any] = {"warmstart": 200, "batch": 150, "nodes": 2}
ALONE: dict[str, Any] = SIZES | {"nodes": 1}
THREE: dict[str, Any] = SIZES | {"nodes": 3}
MORE_FIRST: dict[str, Any] = SIZES | {"warmstart": 500}


def _svm(**options: Any) -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2, **options)


def _moons() -> Arrays:
    return Arrays(X, np.where(Y > 0, "upper", "lower"))


def _sparse() -> Arrays:
    return Arrays(SparseRows.of(np.where(np.abs(WIDE) < 0.7, 0, WIDE).astype(np.float32)), SIDES)


def _asked() -> Run:
    names = np.where(Y > 0, "upper", "lower")
    stream = Unlabelled(X, ("lower", "upper"), seed=3)
    # By features, so that it does not matter what the oracle is told of their place.
    by_row = {row.tobytes(): name for row, name in zip(X, names, strict=True)}
    oracle = Oracle(lambda _, rows: [by_row[np.asarray(row, np.float32).tobytes()] for row in rows], budget=300)
    return train(_svm(), stream, rule=PaperMargin(0.2), oracle=oracle, **SIZES)


def _fitted() -> Run:
    clf = ParaActiveClassifier(LaSVM(C=1, gamma=1.0, gap=0.2), nodes=2, random_state=0).fit(X, Y)
    return clf.run_


RUNS: dict[str, Callable[[], Run]] = {
    "svm, signed margin": lambda: train(_svm(), _moons(), rule=SignedMargin(0.1, theta=0.0), **SIZES),
    "linear svm, margin": lambda: train(LaSVM(kernel="linear"), Arrays(WIDE, SIDES), rule=PaperMargin(0.1), **SIZES),
    "polynomial svm, iwal": lambda: train(
        LaSVM(kernel="poly", gamma=0.5, coef0=1.0), _moons(), rule=IwalMargin(2.0), **SIZES
    ),
    "svm with a budget, uniform": lambda: train(_svm(max_vectors=100), _moons(), rule=Uniform(0.3), **SIZES),
    "svm, passive": lambda: train(_svm(), _moons(), rule="passive", **SIZES),
    "network, gradient": lambda: train(Network(hidden=20), _moons(), rule=Gradient(), **SIZES),
    "network, minibatches": lambda: train(Network(hidden=20, minibatch=8), Arrays(WIDE, SIDES), **SIZES),
    "svm, sequential": lambda: train(_svm(), _moons(), schedule="sequential", **ALONE),
    "svm, asynchronous": lambda: train(
        _svm(), _moons(), schedule="asynchronous", engine="simulated", **THREE,
        cluster=Cluster((5.0,), latency=1e-4, jitter=1e-4, sift_seconds=1e-5, update_seconds=1e-5),
    ),
    "three classes, least margin": lambda: train(
        _svm(), Arrays(BLOBS, KINDS), rule=LeastMargin(0.1, theta=0.0), **SIZES
    ),
    "three classes, all machines reprocessed": lambda: train(
        _svm(reprocess_all=True), Arrays(BLOBS, KINDS), rule=LeastMargin(0.1, theta=0.0), **SIZES
    ),
    "three classes, network": lambda: train(Network(hidden=12), Arrays(BLOBS, KINDS), **SIZES),
    "ten digits": lambda: train(
        LaSVM(gamma=0.012, gap=0.2), Digits.all(low=0), examples=1500, **MORE_FIRST
    ),
    "ten digits, all machines reprocessed": lambda: train(
        LaSVM(gamma=0.012, gap=0.2, reprocess_all=True), Digits.all(low=0), examples=1500, **MORE_FIRST
    ),
    "digits with the cascade": lambda: train(
        LaSVM(gamma=0.012, gap=0.2), Digits(), examples=6000, warmstart=2000, batch=1000, nodes=2
    ),
    "sparse svm": lambda: train(LaSVM(gamma=0.1, gap=0.2), _sparse(), **SIZES),
    "svm with a guard": lambda: train(_svm(), _moons(), guard=True, class_weight={"upper": 3.0}, **SIZES),
    "svm, oracle": _asked,
    "estimator": _fitted,
    "stochastic gradient of scikit-learn": lambda: train(
        SklearnLearner(SGDClassifier(loss="log_loss", average=True, random_state=0), minibatch=16),
        Arrays(WIDE, SIDES), **SIZES
    ),
    "naive Bayes of scikit-learn": lambda: train(
        SklearnLearner(GaussianNB(), minibatch=16), _moons(), rule=Uniform(0.5), **SIZES
    ),
}  # fmt: skip


OF_SCIKIT_LEARN = tuple(name for name in RUNS if name.endswith("of scikit-learn"))


def processor() -> list[str]:
    """What numpy uses of it."""
    found: Any = np.show_config("dicts")
    return sorted(found["SIMD Extensions"].get("found", []))


def blas_kernels() -> list[str]:
    """What BLAS uses of it. Two machines whose processor is the same to numpy may differ in this."""
    return sorted({str(library["architecture"]) for library in threadpool_info() if "architecture" in library})


def facts_of(run: Run) -> dict[str, Any]:
    """What is pinned of a run."""
    keys = np.ascontiguousarray(run.learned.key, "<i8").tobytes()
    return {
        "digest": run.learner.digest(),
        "entries": len(run.learned.key),
        "selection": hashlib.sha256(keys).hexdigest(),
    }


if __name__ == "__main__":
    runs = {name: facts_of(run()) for name, run in RUNS.items()}
    pinned = {"processor": processor(), "blas": blas_kernels(), "runs": runs}
    PINS.write_text(json.dumps(pinned, indent=1) + "\n")
