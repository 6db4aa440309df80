"""What users hand to train, resume and replay: refused before any work, or completed with defaults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraactive import Arrays, LaSVM, Network, Oracle, replay, train
from paraactive.data.examples import Examples
from paraactive.engines import Cluster
from paraactive.errors import InputError, RunFileError
from paraactive.rules import Margin, PaperMargin
from paraactive.runs.arguments import default_warmstart
from paraactive.runs.runfile import RunFile
from paraactive.streams import Unlabelled
from runs.jobs import BATCH, Endless, X, Y, moons, svm

BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "eta 0": (lambda: {"rule": PaperMargin(0)}, "eta is 0: .*give eta > 0"),
    "eta -1": (lambda: {"rule": PaperMargin(-1)}, "eta is -1: .*give eta > 0"),
    "eta nan": (lambda: {"rule": PaperMargin(float("nan"))}, "eta is nan"),
    "batch < nodes": (lambda: {"batch": 7, "nodes": 8}, "batch is 7 for 8 nodes: .*give batch >= 8, or fewer nodes"),
    "batch 0": (lambda: {"batch": 0}, "batch is 0"),
    "no nodes": (lambda: {"nodes": 0}, "nodes is 0"),
    "no examples": (lambda: {"examples": 0}, "examples is 0"),
    "warmstart -1": (lambda: {"warmstart": -1}, "warmstart is -1"),
    "engine": (
        lambda: {"engine": "cluster"},
        "no engine 'cluster': the known engines are simulated, threads, processes",
    ),
    "schedule": (
        lambda: {"schedule": "lazy"},
        "no schedule 'lazy': the known schedules are synchronous, asynchronous, sequential",
    ),
    "sequential": (lambda: {"schedule": "sequential", "nodes": 2}, "'sequential' with 2 nodes: .*only one node"),
    "delay": (lambda: {"delay": 9}, "delay is given for schedule 'synchronous': only schedule 'asynchronous' has it"),
    "short delay": (
        lambda: {"delay": 2, "nodes": 3, "schedule": "asynchronous"},
        "delay is 2 for 3 nodes: .*give delay >= 3",
    ),
    "updates": (lambda: {"updates": "sometimes"}, "no way of updating 'sometimes'"),
    "address": (lambda: {"address": "10.0.0.1:6379"}, "address is given: only engine 'ray' has it"),
    "cluster": (lambda: {"cluster": Cluster(latency=1.0)}, "cluster is given: only engine 'simulated' has it"),
    "latency": (lambda: {"cluster": Cluster(latency=-1.0)}, "latency is -1.0: a time cannot be negative"),
    "resize": (lambda: {"resize": len}, "resize is given: only schedule 'asynchronous' has it"),
    "no number": (lambda: {"engine": "ray"}, "nodes is not given: only you know .*say how many nodes"),
    "elsewhere": (
        lambda: {"schedule": "sequential", "engine": "processes"},
        "schedule 'sequential' on engine 'processes': .*use engine 'threads' or 'simulated'",
    ),
    "endless": (lambda: {"stream": Endless()}, "examples is not given: the stream never ends; say how many"),
    "test width": (
        lambda: {"test": Examples(X[:, :1], Y, np.arange(2400))},
        "1 feature, and those of the stream have 2",
    ),
    "test missing": (lambda: {"test": "nowhere.npz"}, "no file .*nowhere.npz"),
    "test of its own": (lambda: {"test": True}, "no test set of its own"),
    "NaN": (lambda: {"stream": Arrays(np.where(X > 2, np.nan, X), Y)}, "features are NaN or infinite"),
    "inf": (lambda: {"stream": Arrays(np.where(X > 2, np.inf, X), Y)}, "features are NaN or infinite"),
    "one class": (lambda: {"stream": Arrays(X, np.ones(2400))}, "y has 1 class, '1'"),
    "many classes": (lambda: {"stream": Arrays(X, np.arange(2400) % 130)}, "y has 130 classes, '0', '1', '2'"),
    "empty": (lambda: {"stream": Arrays(X[:0], Y[:0])}, "y is empty: there is nothing to learn from"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_clear_error_and_nothing_is_written(what: str, out: Path):
    make, said = BAD[what]
    good: dict[str, Any] = {"stream": moons(), "out": out}
    with pytest.raises(InputError, match=said) as caught:
        train(svm(), **(good | make()))
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert list(out.parent.iterdir()) == []


def test_a_run_file_that_is_there_is_kept_and_the_learner_not_touched(out: Path):
    run = train(svm(), moons(), **BATCH, out=out)
    fresh = svm()
    with pytest.raises(RunFileError, match="already exists"):
        train(fresh, moons(seed=3), **BATCH, out=out)
    assert fresh.digest() == svm().digest()
    assert replay(out).learner.digest() == run.learner.digest()
    other = train(fresh, moons(seed=3), **BATCH, out=out, overwrite=True)
    assert replay(out).learner.digest() == other.learner.digest() != run.learner.digest()


def test_the_warmstart_is_a_fifth_and_at_least_a_thousand_examples():
    run = train(svm(), moons())
    assert [one.seen for one in run.rounds[:2]] == [1000, 1300]
    assert run.seen == 2400
    assert [default_warmstart(examples) for examples in (0, 4000, 10_000, 10**6)] == [1000, 1000, 2000, 4096]


def test_a_warmstart_whose_labels_cost_has_no_least_number_of_examples():
    oracle = Oracle(lambda rows, _: np.where(Y[np.asarray(rows)] > 0, "yes", "no").tolist(), budget=2400)
    run = train(svm(), Unlabelled(X, ("no", "yes")), oracle=oracle)
    assert run.rounds[0].seen == 480


def test_the_default_rule_suits_the_learner(out: Path):
    train(Network(hidden=5), moons(), out=out)
    with RunFile.read(out) as file:
        assert file.spec.rule.kind == "gradient"


def test_a_rule_may_be_given_by_its_name():
    made = train(svm(), moons(), rule=Margin(), floor="auto", select="auto")
    named = train(svm(), moons(), rule="margin")
    assert named.learner.digest() == made.learner.digest()
    with pytest.raises(InputError, match=r"no rule 'margn'.*did you mean 'margin'"):
        train(svm(), moons(), rule="margn")


def test_the_default_batch_does_not_depend_on_the_number_of_nodes():
    assert train(svm(), moons(), nodes=1).learner.digest() == train(svm(), moons(), nodes=200).learner.digest()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"learner": LaSVM}, "learner is the class LaSVM: .*as LaSVM\\(\\)"),
        ({"learner": object()}, "learner is of type object: a learner has score, update"),
        ({"stream": X}, "stream is of type ndarray: .*as Arrays\\(x, y\\)"),
        ({"stream": (X, Y)}, "stream is of type tuple"),
        ({"rule": PaperMargin}, "rule is the class PaperMargin"),
        ({"rule": 0.1}, "rule is of type float"),
        ({"test": moons()}, "test is of type Arrays"),
        ({"test": (X, Y * 3)}, "unknown label"),
        ({"seed": None}, "seed is None: it must be a whole number"),
        ({"nodes": 2.5}, "nodes is 2.5"),
        ({"batch": 100.0}, "batch is 100.0"),
        ({"examples": 9999}, "examples is 9999: the stream ends after 2400"),
        ({"stream": Arrays(X * 1e20, Y)}, "too large"),
    ],
)
def test_what_is_not_a_part_is_told_what_to_give(wrong: dict[str, Any], said: str, out: Path):
    options: dict[str, Any] = {"learner": svm(), "stream": moons(), "out": out} | wrong
    with pytest.raises(InputError, match=said):
        train(options.pop("learner"), options.pop("stream"), **options)
    assert not out.exists()


def test_numpy_numbers_are_numbers(out: Path):
    learner = LaSVM(C=np.float32(1), gamma=np.float64(1.0))  # pyright: ignore[reportArgumentType]
    sizes: Any = {"examples": np.int64(1000), "batch": np.int32(100), "warmstart": np.int64(100), "seed": np.int64(3)}
    run = train(learner, moons(), rule=PaperMargin(np.float32(0.1)), **sizes, out=out)  # pyright: ignore[reportArgumentType]
    assert replay(out).learner.digest() == run.learner.digest()


def test_labels_of_a_stream_of_ones_own_must_be_plus_or_minus_one():
    class Zeros(Endless):
        def read(self, first: int, last: int) -> Examples:
            fresh = super().read(first, last)
            return Examples(fresh.x, np.zeros(last - first, np.int8), fresh.index)

    with pytest.raises(InputError, match="the label 0: the labels of 2 classes are -1 and"):
        train(svm(), Zeros(), examples=100)
