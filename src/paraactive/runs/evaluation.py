"""Test examples: where they come from, so that a resumed run finds them again, and the mistakes of a model on them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.part_spec import JSONValue
from paraactive.basics.validation import one_of
from paraactive.data.events import Evaluated
from paraactive.data.examples import Doubles, Examples, SparseRows
from paraactive.data.labels import decide, numbers_of
from paraactive.errors import InputError
from paraactive.learners.base import Learner, capabilities_of
from paraactive.learners.rows import scores
from paraactive.streams import Digits, Stream, Table, open_examples
from paraactive.streams.array_checks import check_width
from paraactive.streams.arrays import encode
from paraactive.streams.base import StreamDetails
from paraactive.streams.locations import absolute

TestData: TypeAlias = "Examples | tuple[ArrayLike | SparseRows, ArrayLike] | str | Path | bool | None"
_OF_STREAM, _OF_FILE, _GIVEN = "stream", "file", "given"


@dataclass(frozen=True)
class TestSource:
    """Where test examples come from, as the run file says it.

    Parameters
    ----------
    kind : {"stream", "file", "given"}
        The stream's own test set, a file, or examples that were given in memory.
    path : str, optional
        Path of the file.
    """

    __test__ = False  # pytest: not a class of tests
    kind: str
    path: str | None = None

    def to_dict(self) -> dict[str, JSONValue]:
        """The source as plain values.

        Returns
        -------
        dict
            What `from_dict` reads.
        """
        return {"kind": self.kind} if self.path is None else {"kind": self.kind, "path": self.path}

    @staticmethod
    def from_dict(values: Mapping[str, JSONValue]) -> TestSource:
        """The source that `to_dict` wrote.

        Parameters
        ----------
        values : mapping of str to JSON value
            The dictionary.

        Returns
        -------
        TestSource
            The source.
        """
        kind, path = one_of("source of test examples", str(values["kind"]), _KINDS), values.get("path")
        return TestSource(kind, None if path is None else str(path))


_KINDS = (_OF_STREAM, _OF_FILE, _GIVEN)


@dataclass(frozen=True)
class TestSet:
    """Labeled examples that are only for counting mistakes.

    Parameters
    ----------
    examples : Examples or None
        The examples; None if there are none.
    source : TestSource or None
        Where they come from.
    """

    __test__ = False  # pytest: not a class of tests
    examples: Examples | None
    source: TestSource | None


def find_test(test: TestData, stream: Stream) -> TestSet:
    """Find the test examples that a user asks for.

    Parameters
    ----------
    test : Examples, tuple of (x, y), path, bool or None
        The examples, a file, True for the stream's own test set, False or None for none.
    stream : Stream
        The training data, whose features and classes the test examples must have.

    Returns
    -------
    TestSet
        The examples and their source.
    """
    if test is None or test is False:
        return TestSet(None, None)
    if isinstance(test, Examples):
        check_width(test.x, stream.width)
        return TestSet(test, TestSource(_GIVEN))
    if test is True:
        return _of_stream(stream)
    if isinstance(test, tuple):
        return TestSet(encode(*test, stream.classes, stream.width), TestSource(_GIVEN))
    if not isinstance(test, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(
            f"test is of type {type(test).__name__}",
            why="`test` must be labeled data",
            remedy="give (x, y), a file, Examples, or True for the stream's own test set",
        )
    path = absolute(test)
    return TestSet(_open(path, stream), TestSource(_OF_FILE, path))


def find_test_again(source: TestSource | None, stream: Stream) -> TestSet:
    """Find the test examples that a run file names.

    Parameters
    ----------
    source : TestSource or None
        What the run file says.
    stream : Stream
        The stream of the run.

    Returns
    -------
    TestSet
        The examples; none if they were given in memory, because the run file does not have them.
    """
    if source is None or source.kind == _GIVEN:
        return TestSet(None, source)
    return find_test(True if source.kind == _OF_STREAM else source.path, stream)


def count_mistakes(learner: Learner, test: Examples) -> int:
    """Count the test examples that a learner classifies wrongly.

    Parameters
    ----------
    learner : Learner
        The trained learner.
    test : Examples
        Labeled examples.

    Returns
    -------
    int
        Number of mistakes. With two classes, a score of 0 means the first class.
    """
    return _mistakes(scores(learner, test.x), test)


def evaluate(learner: Learner, test: Examples, seen: int, version: int) -> Evaluated:
    """Measure a model on test examples.

    Parameters
    ----------
    learner : Learner
        The trained learner.
    test : Examples
        Labeled examples.
    seen : int
        Number of examples that the run has seen.
    version : int
        Number of log entries that the model has learned.

    Returns
    -------
    Evaluated
        The event: mistakes, time in seconds, number of support vectors, and the mean log loss if scores are log-odds.
    """
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
    """Mean of -log of the probability that the model gives to each label."""
    rows = np.stack([np.zeros(len(score)), score], axis=1) if score.ndim == 1 else score
    own = rows[np.arange(len(rows)), numbers_of(test.y, _classes(score))]
    return float(np.mean(np.logaddexp.reduce(rows, axis=1) - own))


def _open(path: str, stream: Stream) -> Examples:
    """The examples of a file. A table must have the columns of the training table."""
    named = isinstance(stream, Table)
    label, features = (stream.label, stream.feature_names) if named else (None, None)
    may_miss = StreamDetails(stream).missing is not None
    return open_examples(path, stream.classes, stream.width, label=label, features=features, may_miss=may_miss)


def _of_stream(stream: Stream) -> TestSet:
    if not isinstance(stream, Digits):
        raise InputError(
            "test is True", why="the stream has no test set of its own", remedy="give (x, y), a file or Examples"
        )
    return TestSet(stream.test(), TestSource(_OF_STREAM))
