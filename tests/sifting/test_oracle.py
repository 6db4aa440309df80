"""Labels that cost money: who is asked, for what, how often, and what happens when there is no more money."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import forked
from making import two_moons
from paraactive import Arrays, LaSVM, Model, replay, resume, train
from paraactive.checks import check_stream
from paraactive.errors import InputError
from paraactive.rules import Gradient, PaperMargin, SignedMargin
from paraactive.sifting.oracle import Oracle
from paraactive.streams import Unlabelled

X, Y = two_moons(1500, noise=0.2, seed=0)
NAMES = np.where(Y > 0, "upper", "lower")
CLASSES = ("lower", "upper")
SIZES: dict[str, Any] = {"warmstart": 60, "batch": 100, "nodes": 2}


class Friend:
    """Knows all labels, and remembers what was asked."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.fails_at = fails_at
        self.calls: list[list[int]] = []
        self.keys: list[str] = []

    def __call__(self, rows: Any, x: Any, key: str) -> Any:
        self.calls.append(rows.tolist())
        self.keys.append(key)
        if self.fails_at == len(self.calls):
            raise ConnectionError("the friend has gone home")
        assert np.array_equal(X[rows], x)
        return NAMES[rows]

    @property
    def asked(self) -> list[int]:
        return [row for call in self.calls for row in call]


def _stream() -> Unlabelled:
    return Unlabelled(X, CLASSES, seed=3)


def _svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)


def test_the_model_is_that_of_a_run_in_which_all_labels_were_known() -> None:
    stream = _stream()
    friend = Friend()
    asking = train(_svm(), stream, rule=PaperMargin(0.2), oracle=Oracle(friend), **SIZES)
    known = train(_svm(), Arrays(X, NAMES, seed=3), rule=PaperMargin(0.2), **SIZES)
    assert asking.learner.digest() == known.learner.digest()
    assert len(friend.asked) == asking.warmstart + asking.selected < 0.6 * len(X)


def test_only_the_selected_are_asked_for_each_once_and_in_batches() -> None:
    stream = _stream()
    friend = Friend()
    run = train(_svm(), stream, oracle=Oracle(friend, batch=7), **SIZES)
    assert len(friend.asked) == len(set(friend.asked)) == run.warmstart + run.selected
    assert max(map(len, friend.calls)) == 7
    assert friend.asked == run.learned.key.tolist()
    assert len(set(friend.keys)) == len(friend.keys)


@pytest.mark.parametrize("budget", [1, 59, 60, 61, 150, 233])
def test_the_budget_is_spent_to_the_last_label_and_never_exceeded(budget: int) -> None:
    stream = _stream()
    friend = Friend()
    run = train(_svm(), stream, oracle=Oracle(friend, budget=budget), **SIZES)
    whole = train(_svm(), stream, oracle=Oracle(Friend()), **SIZES)
    assert len(friend.asked) == budget == len(run.learned.key) == run.rounds[-1].version
    assert np.array_equal(run.learned.key, whole.learned.key[:budget])
    assert set(friend.asked) <= set(stream.read(0, run.seen).key.tolist())
    assert run.seen < 1500
    following = stream.read(run.seen, run.seen + 1).key[0]  # The next that would have been asked for.
    assert following == whole.learned.key[budget]
    assert run.selected == max(0, budget - 60)


def test_a_run_that_stopped_goes_on_when_there_is_more_money(tmp_path: Path) -> None:
    stream, out = _stream(), tmp_path / "run.db"
    first, second = Friend(), Friend()
    train(_svm(), stream, out=out, oracle=Oracle(first, budget=150), **SIZES)
    run = resume(out, stream=stream, oracle=Oracle(second))
    whole = train(_svm(), stream, oracle=Oracle(Friend()), **SIZES)
    assert run.learner.digest() == whole.learner.digest()
    assert not set(first.asked) & set(second.asked)
    assert replay(out, stream=stream).learner.digest() == whole.learner.digest()
    assert Model.load(out).learner.digest() == whole.learner.digest()


def test_labels_that_were_paid_for_are_not_lost_when_the_oracle_fails(tmp_path: Path) -> None:
    stream, out = _stream(), tmp_path / "run.db"
    first, second = Friend(fails_at=21), Friend()
    with pytest.raises(ConnectionError, match="gone home"):
        train(_svm(), stream, out=out, oracle=Oracle(first, batch=5), **SIZES)
    assert len(first.asked) == 105
    run = resume(out, stream=stream, oracle=Oracle(second, batch=5))
    # Only what was being asked is asked again, as it was.
    assert set(first.asked) & set(second.asked) == set(first.calls[-1])
    assert (second.calls[0], second.keys[0]) == (first.calls[-1], first.keys[-1])
    whole = train(_svm(), stream, oracle=Oracle(Friend()), **SIZES)
    assert run.learner.digest() == whole.learner.digest()


def test_what_was_paid_for_before_counts_towards_the_budget(tmp_path: Path) -> None:
    stream, out = _stream(), tmp_path / "run.db"
    train(_svm(), stream, out=out, oracle=Oracle(Friend(), budget=150), **SIZES)
    again = Friend()
    resume(out, stream=stream, oracle=Oracle(again, budget=150))
    assert again.asked == []


@pytest.mark.parametrize("engine", ["simulated", "processes"])
def test_it_works_on_other_engines(engine: str) -> None:
    stream = _stream()
    here = train(_svm(), stream, oracle=Oracle(Friend()), **SIZES)
    there = train(_svm(), stream, engine=engine, oracle=Oracle(Friend()), **SIZES)
    assert there.learner.digest() == here.learner.digest()


@pytest.mark.parametrize("rule", [SignedMargin(), Gradient(), "signed"])
def test_a_rule_that_needs_labels_is_refused_before_anybody_is_asked(rule: Any) -> None:
    stream = _stream()
    friend = Friend()
    with pytest.raises(InputError, match="needs the labels of all examples"):
        train(_svm(), stream, rule=rule, oracle=Oracle(friend), **SIZES)
    assert friend.calls == []


def test_a_stream_without_labels_needs_an_oracle(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the stream has no labels"):
        train(_svm(), _stream(), **SIZES)
    stream, out = _stream(), tmp_path / "run.db"
    train(_svm(), stream, out=out, oracle=Oracle(Friend(), budget=150), **SIZES)
    with pytest.raises(InputError, match="the stream has no labels"):
        resume(out, stream=stream)


@pytest.mark.parametrize("schedule", ["asynchronous", "sequential"])
def test_schedules_that_do_not_wait_are_refused(schedule: str) -> None:
    with pytest.raises(InputError, match="with an oracle"):
        train(_svm(), _stream(), schedule=schedule, oracle=Oracle(Friend()), nodes=1)


ANSWERS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda index: ["upper"], "1 labels for 60 examples"),
    (lambda index: ["middle"] * len(index), "unknown label 'middle'"),
    (lambda index: [float("nan")] * len(index), "missing labels"),
    (lambda index: [], "0 labels for 60 examples"),
    (lambda index: None, "the oracle gave nothing"),
]


@pytest.mark.parametrize(("answer", "named"), ANSWERS)
def test_answers_that_make_no_sense_are_refused(answer: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        train(_svm(), _stream(), oracle=Oracle(lambda index, _: answer(index)), **SIZES)


@pytest.mark.parametrize(
    "options", [{"ask": 3}, {"ask": max, "budget": 0}, {"ask": max, "batch": 0}, {"ask": max, "per_round": 0}]
)
def test_an_oracle_that_makes_no_sense_is_refused(options: Any) -> None:
    with pytest.raises(InputError):
        Oracle(**options)


# Crashes, skipped rows, small rounds -----------------------------------------------------------------------------


def test_a_function_of_rows_and_features_gets_row_numbers_of_the_users_data() -> None:
    run = train(_svm(), _stream(), oracle=Oracle(lambda rows, x: NAMES[rows]), **SIZES)
    assert np.mean((run.learner.score(X) > 0) != (Y > 0)) < 0.1


class Paid:
    """An oracle that is paid by the label and knows a question again by its key; the program dies while it waits."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, rows: Any, x: Any, key: str) -> Any:
        with self.path.open("a") as file:
            file.write(f"{key} {len(rows)}\n")
        if len(self.path.read_text().splitlines()) <= 12:
            os.kill(os.getpid(), signal.SIGKILL)
        return NAMES[rows]

    @property
    def questions(self) -> list[list[str]]:
        return [line.split() for line in self.path.read_text().splitlines()]


def test_kills_between_an_answer_and_its_commit_ask_one_batch_again_under_one_key(tmp_path: Path) -> None:
    out, stream, paid = tmp_path / "run.db", _stream(), Paid(tmp_path / "bills")
    sizes: dict[str, Any] = SIZES | {"warmstart": 20, "nodes": 1}
    child = forked(lambda: train(_svm(), stream, out=out, oracle=Oracle(paid, budget=80), **sizes))
    child.join()
    for _ in range(11):
        assert child.exitcode == -signal.SIGKILL
        child = forked(lambda: resume(out, stream=stream, oracle=Oracle(paid, budget=80)))
        child.join()
    run = resume(out, stream=stream, oracle=Oracle(paid, budget=80))
    bills = {key: int(count) for key, count in paid.questions}
    assert len(paid.questions) == 12 + len(bills)
    assert [key for key, _ in paid.questions[:13]] == [paid.questions[0][0]] * 13
    assert sum(bills.values()) == 80 == len(run.learned.key)
    whole = train(_svm(), stream, oracle=Oracle(Friend(), budget=80), **sizes)
    assert run.learner.digest() == whole.learner.digest()


def test_a_question_without_an_answer_counts_against_the_budget(tmp_path: Path) -> None:
    out, stream, first, second = tmp_path / "run.db", _stream(), Friend(fails_at=2), Friend()
    with pytest.raises(ConnectionError):
        train(_svm(), stream, out=out, oracle=Oracle(first, budget=70, batch=60), **SIZES)
    assert list(map(len, first.calls)) == [60, 10]
    resume(out, stream=stream, oracle=Oracle(second, budget=70, batch=60))
    assert second.calls == first.calls[1:]


def test_a_row_that_the_oracle_skips_is_not_learned_and_not_asked_for_again(tmp_path: Path) -> None:
    out, stream = tmp_path / "run.db", _stream()
    asked: list[int] = []

    def picky(rows: Any, x: Any) -> list[Any]:
        asked.extend(rows.tolist())
        return [None if row % 3 == 0 else NAMES[row] for row in rows.tolist()]

    run = train(_svm(), stream, out=out, oracle=Oracle(picky, budget=200), **SIZES)
    assert len(asked) == len(set(asked)) == 200
    assert set(run.learned.key.tolist()) == {row for row in asked if row % 3}
    run = resume(out, stream=stream, oracle=Oracle(picky, budget=250))
    assert len(asked) == len(set(asked)) == 250
    assert replay(out).learner.digest() == run.learner.digest()


@pytest.mark.parametrize("stops", [(1500,), (300, 700, 1500)])
def test_small_rounds_end_where_enough_is_asked_for_and_no_later(stops: tuple[int, ...], tmp_path: Path) -> None:
    out, stream, friend = tmp_path / "run.db", _stream(), Friend()
    run = train(
        _svm(), stream, out=out, rule=PaperMargin(0.2), examples=stops[0], oracle=Oracle(friend, per_round=10), **SIZES
    )
    for examples in stops[1:]:
        run = resume(out, stream=stream, examples=examples, oracle=Oracle(friend, per_round=10))
    assert max(ended.selected for ended in run.rounds[1:]) == 10
    assert run.rounds[0].selected == 60
    assert run.seen == 1500
    whole = train(_svm(), stream, rule=PaperMargin(0.2), oracle=Oracle(Friend(), per_round=10), **SIZES)
    assert run.learner.digest() == whole.learner.digest() == replay(out).learner.digest()
    # A round begins right behind the last example that the one before it saw.
    full = [ended for ended in run.rounds[1:-1] if ended.selected == 10]
    assert full
    assert all(after.seen - before.seen <= 100 for before, after in pairwise(run.rounds))


def test_a_budget_that_ends_within_small_rounds_goes_on_to_the_same_model(tmp_path: Path) -> None:
    out, stream = tmp_path / "run.db", _stream()
    for budget in (65, 70, 97, 140):
        oracle = Oracle(Friend(), budget=budget, per_round=10)
        run = resume(out, stream=stream, oracle=oracle) if out.exists() else None
        run = run or train(_svm(), stream, out=out, oracle=oracle, **SIZES)
        assert len(run.learned.key) == budget
    whole = train(_svm(), stream, oracle=Oracle(Friend(), budget=140, per_round=10), **SIZES)
    assert run.learner.digest() == whole.learner.digest()


def test_an_open_question_is_asked_again_whole_though_less_is_selected_now(tmp_path: Path) -> None:
    out, stream, first, second = tmp_path / "run.db", _stream(), Friend(fails_at=2), Friend()
    with pytest.raises(ConnectionError):
        train(_svm(), stream, out=out, rule=PaperMargin(0.2), oracle=Oracle(first, per_round=30), **SIZES)
    assert len(first.calls[1]) == 30
    resume(out, stream=stream, oracle=Oracle(second, per_round=10))
    assert (second.calls[0], second.keys[0]) == (first.calls[1], first.keys[1])
    assert len(second.asked) == len(set(second.asked))
    assert not set(first.calls[0]) & set(second.asked)


def test_a_function_that_cannot_be_called_so_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(InputError, match="cannot be called with rows and their features"):
        Oracle(lambda rows: rows)  # pyright: ignore
    with pytest.raises(InputError, match="cannot be called"):
        Oracle(lambda rows, x, batch: rows)  # pyright: ignore[reportUnknownLambdaType]
    assert Oracle(lambda rows, x, key: rows).takes_key  # pyright: ignore[reportUnknownLambdaType]


# The stream ------------------------------------------------------------------------------------------------------


def test_the_stream_keeps_its_contract() -> None:
    check_stream(_stream())
    check_stream(Unlabelled(X, ("a", "b", "c"), shuffle=False))


@pytest.mark.parametrize("classes", ["ab", ("a",), ("a", "a")])
def test_classes_that_make_no_sense_are_refused(classes: Any) -> None:
    with pytest.raises(InputError, match="class"):
        Unlabelled(X, classes)
