"""Test examples: where they come from, so that a resumed run finds them again, and the mistakes on them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from paraactive.data.events import Evaluated
from paraactive.data.examples import Doubles, Examples, SparseRows
from paraactive.data.labels import decide, numbers_of
from paraactive.errors import InputError
from paraactive.learners.base import Learner, capabilities_of
from paraactive.learners.rows import scores
from paraactive.streams import Digits, Stream, Table, open_examples
from paraactive.streams.array_checks import check_width
from paraactive.streams.arrays import encode
from paraactive.streams.locations import absolute

TestData: TypeAlias = "Examples | tuple[ArrayLike | SparseRows, ArrayLike] | str | Path | bool | None"
_STREAM, _FILE, _GIVEN = "stream", "file", "given"


@dataclass(frozen=True)
class TestSet:
    """Examples that are only for counting mistakes."""

    __test__ = False  # pytest: not a class of tests
    examples: Examples | None
    source: dict[str, Any] | None
    """What the run file says of them."""


def find_test(test: TestData, stream: Stream) -> TestSet:
    """(x, y), Examples, a file, True for the stream's own, None or False for none."""
    if test is None or test is False:
        return TestSet(None, None)
    if isinstance(test, Examples):
        check_width(test.x, stream.width)
        return TestSet(test, {"kind": _GIVEN})
    if test is True:
        return _own(stream)
    if isinstance(test, tuple):
        return TestSet(encode(*test, stream.classes, stream.width), {"kind": _GIVEN})
    if not isinstance(test, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            f"test is of type {type(test).__name__}",
            why="it is examples to count mistakes on",
            remedy="give (x, y), a file, Examples, or True for the stream's own",
        )
    path = absolute(test)
    return TestSet(_open(path, stream), {"kind": _FILE, "path": path})


def find_again(source: dict[str, Any] | None, stream: Stream) -> TestSet:
    """The test examples that the run file names; those that were handed over are not there, so there are none."""
    if source is None or source["kind"] == _GIVEN:
        return TestSet(None, source)
    return find_test(True if source["kind"] == _STREAM else source["path"], stream)


def count_mistakes(learner: Learner, test: Examples) -> int:
    """Test examples on the wrong side; a score of 0 counts as label -1."""
    return _mistakes(scores(learner, test.x), test)


def evaluate(learner: Learner, test: Examples, seen: int, version: int) -> Evaluated:
    """Mistakes on the test examples, and what else tells how the model stands."""
    start = time.perf_counter()
    score = scores(learner, test.x)
    loss = _loss(score, test) if capabilities_of(learner).log_odds else None
    return Evaluated(
        seen, version, _mistakes(score, test), len(test), time.perf_counter() - start,
        vectors=capabilities_of(learner).vectors, loss=loss,
    )  # fmt: skip


def _classes(score: Doubles) -> int:
    return 2 if score.ndim == 1 else score.shape[1]


def _mistakes(score: Doubles, test: Examples) -> int:
    return int(np.sum(decide(score) != numbers_of(test.y, _classes(score))))


def _loss(score: Doubles, test: Examples) -> float:
    """-log of the probability that the model gives to each label, in the mean."""
    rows = np.stack([np.zeros(len(score)), score], axis=1) if score.ndim == 1 else score
    own = rows[np.arange(len(rows)), numbers_of(test.y, _classes(score))]
    return float(np.mean(np.logaddexp.reduce(rows, axis=1) - own))


def _open(path: str, stream: Stream) -> Examples:
    """A file of any kind; one with named columns has those of the stream, if they have names there."""
    named = isinstance(stream, Table)
    label, features = (stream.label, stream.feature_names) if named else (None, None)
    return open_examples(path, stream.classes, stream.width, label=label, features=features)


def _own(stream: Stream) -> TestSet:
    if not isinstance(stream, Digits):
        raise InputError(
            "test is True", why="the stream has no test examples of its own", remedy="give (x, y), a file or Examples"
        )
    return TestSet(stream.test(), {"kind": _STREAM})
