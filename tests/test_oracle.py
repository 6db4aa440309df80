"""Labels that cost money: who is asked, for what, how often, and what happens when there is no more money."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, LaSVM, Model, replay, resume, train
from paraactive.checks import check_stream
from paraactive.errors import InputError
from paraactive.oracle import Oracle
from paraactive.rules import Gradient, Margin, SignedMargin
from paraactive.streams import Unlabelled

X, Y = two_moons(1500, noise=0.2, seed=0)
NAMES = np.where(Y > 0, "upper", "lower")
CLASSES = ("lower", "upper")
SIZES: dict[str, Any] = {"warmstart": 60, "batch": 100, "nodes": 2}


class Friend:
    """Knows all labels, and remembers what was asked."""

    def __init__(self, stream: Any, fails_at: int | None = None) -> None:
        self.stream, self.fails_at = stream, fails_at
        self.calls: list[list[int]] = []

    def __call__(self, index: Any, x: Any) -> Any:
        if self.fails_at == len(self.calls):
            raise ConnectionError("the friend has gone home")
        self.calls.append(index.tolist())
        rows = self.stream.at(index)
        assert np.array_equal(rows.x, x)
        return NAMES[rows.key]

    @property
    def asked(self) -> list[int]:
        return [index for call in self.calls for index in call]


def _stream() -> Unlabelled:
    return Unlabelled(X, CLASSES, seed=3)


def _svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)


def test_the_model_is_that_of_a_run_in_which_all_labels_were_known() -> None:
    stream = _stream()
    friend = Friend(stream)
    asking = train(_svm(), stream, rule=Margin(0.2), oracle=Oracle(friend), **SIZES)
    known = train(_svm(), Arrays(X, NAMES, seed=3), rule=Margin(0.2), **SIZES)
    assert asking.learner.digest() == known.learner.digest()
    assert len(friend.asked) == asking.warmstart + asking.selected < 0.6 * len(X)


def test_only_the_selected_are_asked_for_each_once_and_in_batches() -> None:
    stream = _stream()
    friend = Friend(stream)
    run = train(_svm(), stream, oracle=Oracle(friend, batch=7), **SIZES)
    assert len(friend.asked) == len(set(friend.asked)) == run.warmstart + run.selected
    assert max(map(len, friend.calls)) == 7
    assert np.array_equal(stream.at(np.array(friend.asked)).key, run.learnt.key)


@pytest.mark.parametrize("budget", [1, 59, 60, 61, 150, 233])
def test_the_budget_is_spent_to_the_last_label_and_never_exceeded(budget: int) -> None:
    stream = _stream()
    friend = Friend(stream)
    run = train(_svm(), stream, oracle=Oracle(friend, budget=budget), **SIZES)
    whole = train(_svm(), stream, oracle=Oracle(Friend(stream)), **SIZES)
    assert len(friend.asked) == budget == len(run.learnt.key) == run.rounds[-1].version
    assert np.array_equal(run.learnt.key, whole.learnt.key[:budget])
    assert max(friend.asked) < run.seen < 1500
    following = stream.read(run.seen, run.seen + 1).key[0]  # The next that would have been asked for.
    assert following == whole.learnt.key[budget]
    assert run.selected == max(0, budget - 60)


def test_a_run_that_stopped_goes_on_when_there_is_more_money(tmp_path: Path) -> None:
    stream, out = _stream(), tmp_path / "run.db"
    first, second = Friend(stream), Friend(stream)
    train(_svm(), stream, out=out, oracle=Oracle(first, budget=150), **SIZES)
    run = resume(out, stream=stream, oracle=Oracle(second))
    whole = train(_svm(), stream, oracle=Oracle(Friend(stream)), **SIZES)
    assert run.learner.digest() == whole.learner.digest()
    assert not set(first.asked) & set(second.asked)
    assert replay(out, stream=stream).learner.digest() == whole.learner.digest()
    assert Model.load(out).learner.digest() == whole.learner.digest()


def test_labels_that_were_paid_for_are_not_lost_when_the_oracle_fails(tmp_path: Path) -> None:
    stream, out = _stream(), tmp_path / "run.db"
    first, second = Friend(stream, fails_at=20), Friend(stream)
    with pytest.raises(ConnectionError, match="gone home"):
        train(_svm(), stream, out=out, oracle=Oracle(first, batch=5), **SIZES)
    assert len(first.asked) == 100
    run = resume(out, stream=stream, oracle=Oracle(second, batch=5))
    assert not set(first.asked) & set(second.asked)
    whole = train(_svm(), stream, oracle=Oracle(Friend(stream)), **SIZES)
    assert run.learner.digest() == whole.learner.digest()


def test_what_was_paid_for_before_counts_towards_the_budget(tmp_path: Path) -> None:
    stream, out = _stream(), tmp_path / "run.db"
    train(_svm(), stream, out=out, oracle=Oracle(Friend(stream), budget=150), **SIZES)
    again = Friend(stream)
    resume(out, stream=stream, oracle=Oracle(again, budget=150))
    assert again.asked == []


@pytest.mark.parametrize("engine", ["simulated", "processes"])
def test_it_works_on_other_engines(engine: str) -> None:
    stream = _stream()
    here = train(_svm(), stream, oracle=Oracle(Friend(stream)), **SIZES)
    there = train(_svm(), stream, engine=engine, oracle=Oracle(Friend(stream)), **SIZES)
    assert there.learner.digest() == here.learner.digest()


@pytest.mark.parametrize("rule", [SignedMargin(), Gradient(), "signed"])
def test_a_rule_that_needs_labels_is_refused_before_anybody_is_asked(rule: Any) -> None:
    stream = _stream()
    friend = Friend(stream)
    with pytest.raises(InputError, match="needs the labels of all examples"):
        train(_svm(), stream, rule=rule, oracle=Oracle(friend), **SIZES)
    assert friend.calls == []


def test_a_stream_without_labels_needs_an_oracle(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the stream has no labels"):
        train(_svm(), _stream(), **SIZES)
    stream, out = _stream(), tmp_path / "run.db"
    train(_svm(), stream, out=out, oracle=Oracle(Friend(stream), budget=150), **SIZES)
    with pytest.raises(InputError, match="the stream has no labels"):
        resume(out, stream=stream)


@pytest.mark.parametrize("schedule", ["pipelined", "asynchronous", "sequential"])
def test_schedules_that_do_not_wait_are_refused(schedule: str) -> None:
    with pytest.raises(InputError, match="with an oracle"):
        train(_svm(), _stream(), schedule=schedule, oracle=Oracle(Friend(_stream())), nodes=1)


ANSWERS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda index: ["upper"], "1 labels for 60 examples"),
    (lambda index: ["middle"] * len(index), "unknown label 'middle'"),
    (lambda index: [None] * len(index), "missing labels"),
    (lambda index: [], "y is empty"),
]


@pytest.mark.parametrize(("answer", "named"), ANSWERS)
def test_answers_that_make_no_sense_are_refused(answer: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        train(_svm(), _stream(), oracle=Oracle(lambda index, _: answer(index)), **SIZES)


@pytest.mark.parametrize("options", [{"ask": 3}, {"ask": len, "budget": 0}, {"ask": len, "batch": 0}])
def test_an_oracle_that_makes_no_sense_is_refused(options: Any) -> None:
    with pytest.raises(InputError):
        Oracle(**options)


# The stream ------------------------------------------------------------------------------------------------------


def test_the_stream_keeps_its_contract() -> None:
    check_stream(_stream())
    check_stream(Unlabelled(X, ("a", "b", "c"), shuffle=False))


@pytest.mark.parametrize("classes", ["ab", ("a",), ("a", "a")])
def test_classes_that_make_no_sense_are_refused(classes: Any) -> None:
    with pytest.raises(InputError, match="class"):
        Unlabelled(X, classes)
