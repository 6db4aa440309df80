"""`IterableStream`: any iterable, read forwards, with a window to go back in."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import datasets
import numpy as np
import pytest

from making import two_moons
from paraactive import LaSVM, train
from paraactive.checks import stream_checks
from paraactive.errors import InputError
from paraactive.runs.arguments import default_engine
from paraactive.streams import Arrays, IterableStream

X, Y = two_moons(600, noise=0.2, seed=2)


def pairs(count: int = 600) -> Iterator[Any]:
    return ((X[row], int(Y[row])) for row in range(count))


def once(count: int = 600, **options: Any) -> IterableStream:
    return IterableStream(pairs(count), classes=("-1", "1"), **options)


@pytest.mark.parametrize(
    ("name", "check"), [each for each in stream_checks() if each[0] != "it travels"], ids=lambda each: str(each)[:40]
)
def test_it_keeps_all_of_the_contract_inside_its_window_but_travelling(name: str, check: Any):
    check(once(length=600))


def test_it_reads_what_arrays_read():
    stream, arrays = once(), Arrays(X, Y, shuffle=False)
    for first in range(0, 600, 40):
        piece = stream.read(first, first + 40)
        assert (piece.x == arrays.read(first, first + 40).x).all()
        assert (piece.y == arrays.read(first, first + 40).y).all()
        assert piece.index.tolist() == piece.key.tolist() == list(range(first, first + 40))


def test_weights_may_be_given():
    stream = IterableStream([([1.0], "a", 2.5), ([2.0], "b", 1)], classes=("a", "b", "c"))
    assert stream.read(0, 2).importance.tolist() == [2.5, 1]
    assert stream.read(0, 2).y.tolist() == [0, 1]


def test_only_what_is_asked_for_is_taken():
    source = pairs()
    stream = IterableStream(source, classes=("-1", "1"))
    stream.read(0, 10)
    assert (next(source)[0] == X[10]).all()


def test_what_has_passed_is_gone():
    stream = once(window=100)
    stream.read(0, 100)
    stream.read(0, 100)
    stream.read(150, 250)
    assert len(stream.read(150, 160)) == 10
    with pytest.raises(
        InputError, match="position 149 cannot be read from an iterable that has been read up to 249: only the latest"
    ):
        stream.read(149, 151)
    with pytest.raises(InputError, match=r"positions 250 to 350 of an iterable cannot be read at once.*window=202"):
        stream.read(250, 351)


def test_the_end_is_told_of():
    stream = once(50)
    assert len(stream.read(40, 50)) == 10
    with pytest.raises(InputError, match="the iterable ended after 50 examples: the run needs more; give examples=50"):
        stream.read(45, 51)
    with pytest.raises(InputError, match="position 60 is not in a stream of 60 examples"):
        once(50, length=60).read(50, 61)


@pytest.mark.parametrize(
    ("items", "options", "says"),
    [
        ([], {}, "ended after 0 examples: there is nothing to learn from"),
        ([([1], "a")], {"classes": None}, "classes is not given"),
        ([([1], "a")], {"classes": ("a",)}, "1 class"),
        ([([1], "x")], {}, "example 0 has the label 'x': the classes are 'a', 'b'"),
        ([([1], "a")], {"width": 2}, "example 0 has 1 feature, and those before have 2"),
        ([([1], "a", -1)], {}, "the weight of example 0 is -1"),
        ([(["z"], "a")], {}, "features of example 0 are not numbers"),
        ([7], {}, "example 0 is of type int"),
        ([([1], "a")], {"window": 0}, "window is 0"),
        ([([1], "a")], {"length": 0}, "length is 0"),
    ],
    ids=str,
)
def test_iterables_that_cannot_be_used_are_refused(items: list[Any], options: dict[str, Any], says: str):
    defaults: dict[str, Any] = {"classes": ("a", "b")}
    with pytest.raises(InputError, match=says):
        IterableStream(items, **defaults | options)


def test_a_later_example_of_another_width_is_told_of():
    stream = IterableStream([([1], "a"), ([1, 2], "b")], classes=("a", "b"))
    with pytest.raises(InputError, match="example 1 has 2 features"):
        stream.read(0, 2)


def test_it_cannot_be_sent_to_another_process():
    with pytest.raises(InputError, match=r"an iterable cannot be sent to another process: .*engine='threads'"):
        pickle.dumps(once())
    with pytest.raises(InputError, match="an iterable cannot be sent"):
        train(LaSVM(), once(), examples=500, engine="processes", nodes=2)


@pytest.mark.parametrize("nodes", [1, 3])
@pytest.mark.parametrize("schedule", ["synchronous", "asynchronous"])
def test_a_run_in_one_process_learns_from_it(nodes: int, schedule: str):
    options: dict[str, Any] = {"warmstart": 100, "batch": 60, "nodes": nodes, "schedule": schedule}
    stream = once(window=400)
    run = train(LaSVM(gamma=1.0, gap=0.2), stream, examples=600, engine="threads", **options)
    assert run.seen == 600
    assert np.mean((run.learner.score(X) > 0) != (Y > 0)) < 0.05
    if schedule == "synchronous":
        other = train(LaSVM(gamma=1.0, gap=0.2), Arrays(X, Y, shuffle=False), engine="threads", **options)
        assert run.learner.digest() == other.learner.digest()


def test_it_is_learnt_one_by_one():
    run = train(LaSVM(gamma=1.0), once(), examples=300, warmstart=50, schedule="sequential")
    assert run.seen == 300
    assert default_engine(run.learner, object(), "sequential") == "threads"  # pyright: ignore[reportArgumentType]


def test_a_streamed_data_set_of_hugging_face_knows_its_classes():
    kind = datasets.ClassLabel(names=["down", "up"])
    data = datasets.Dataset.from_dict({"x": X.tolist(), "label": ((Y + 1) // 2).tolist()}).cast_column("label", kind)
    stream = IterableStream(data.to_iterable_dataset())
    assert stream.classes == ("down", "up")
    assert (stream.read(0, 600).y == Y).all()
    assert (stream.read(0, 600).x == X).all()


def test_features_with_names_are_in_the_order_of_the_first_example():
    items = [{"a": 1, "b": 2, "label": 0}, {"b": 20, "a": 10, "label": 1}, {"b": 3, "label": 1}]
    stream = IterableStream(items, classes=("0", "1"))
    assert stream.read(0, 2).x.tolist() == [[1, 2], [10, 20]]
    with pytest.raises(InputError, match="example 2 has the features 'b': the first example has the features 'a', 'b'"):
        stream.read(2, 3)
    assert IterableStream([({"a": 1, "b": 2}, 0), ({"b": 4, "a": 3}, 1)], ("0", "1")).read(1, 2).x.tolist() == [[3, 4]]


@pytest.mark.parametrize("classes", ["ab", ("a", "b", "a"), (1, 1.0)])
def test_names_of_classes_that_are_not_different_are_refused(classes: Any):
    with pytest.raises(InputError, match=r"classes is .*it must be a list of different names"):
        IterableStream([([1.0], "a")], classes=classes)
