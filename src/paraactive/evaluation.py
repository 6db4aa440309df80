"""Test examples: where they come from, so that a resumed run finds them again, and the mistakes on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paraactive.errors import InputError
from paraactive.examples import Examples
from paraactive.learners.base import Learner
from paraactive.streams import Digits, Stream
from paraactive.streams.arrays import load_like

_STREAM, _FILE, _GIVEN = "stream", "file", "given"


@dataclass(frozen=True)
class TestSet:
    """Examples that are only for counting mistakes."""

    __test__ = False  # pytest: not a class of tests
    examples: Examples | None
    source: dict[str, Any] | None
    """What the run file says of them."""


def find_test(test: Examples | str | Path | bool | None, stream: Stream) -> TestSet:
    """Examples, a file, True for the stream's own, None or False for none."""
    if test is None or test is False:
        return TestSet(None, None)
    if isinstance(test, Examples):
        _check_width(test, stream)
        return TestSet(test, {"kind": _GIVEN})
    if test is True:
        return _own(stream)
    path = Path(test).absolute()
    return TestSet(load_like(path, stream.classes, stream.width), {"kind": _FILE, "path": str(path)})


def find_again(source: dict[str, Any] | None, stream: Stream) -> TestSet:
    """The test examples that the run file names; those that were handed over are not there, so there are none."""
    if source is None or source["kind"] == _GIVEN:
        return TestSet(None, source)
    return find_test(True if source["kind"] == _STREAM else source["path"], stream)


def count_mistakes(learner: Learner, test: Examples) -> int:
    """Test examples on the wrong side; a score of 0 counts as label -1."""
    return int(np.sum((learner.score(test.x) > 0) != (test.y > 0)))


def _own(stream: Stream) -> TestSet:
    if not isinstance(stream, Digits):
        raise InputError(
            "test is True", why="the stream has no test examples of its own", remedy="give a file or Examples"
        )
    return TestSet(stream.test(), {"kind": _STREAM})


def _check_width(test: Examples, stream: Stream) -> None:
    if test.width != stream.width:
        raise InputError(
            f"test examples have {test.width} features and the stream {stream.width}",
            why="a model scores only what it was trained on",
            remedy=f"give test examples with {stream.width} columns",
        )
