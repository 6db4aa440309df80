"""The log in memory: places, stretches, and the examples of the largest weights."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making import run_spec, two_moons
from paraactive import Arrays, LaSVM, train
from paraactive.data.events import Round
from paraactive.data.examples import Place, Selected
from paraactive.errors import InputError
from paraactive.runs.runfile import RunFile
from paraactive.sifting.log import LearnedExamples, MemoryLog, Question

X, CLEAN = two_moons(2000, noise=0.15, seed=0)
WRONG = np.random.default_rng(5).random(2000) < 0.1
Y = np.where(WRONG, -CLEAN, CLEAN)
STEPS: dict[str, Any] = {"batch": 200, "warmstart": 200}


def svm() -> LaSVM:
    return LaSVM(gamma=2.0, gap=0.2)


def test_entries_get_consecutive_places_and_their_delays_are_counted_after_the_warmstart() -> None:
    log = MemoryLog()
    selected = Selected.weighted(X[:5], Y[:5])
    assert (log.append(selected).first, log.version, log.delays) == (0, 5, Counter())
    log.end_round(Round(0, 5, 5, 5, 0.0, 0.0, 0.0))
    assert (log.append(selected.take(slice(0, 2))).first, log.version) == (5, 7)
    assert log.delays == Counter({5: 1, 6: 1})
    assert (log.seen, log.rounds, log.round_version) == (5, 1, 5)


def test_what_a_replica_has_not_learned_is_cut_where_rounds_ended() -> None:
    log, selected = MemoryLog(keep=True), Selected.weighted(X[:6], Y[:6])
    for number, last in enumerate((2, 5)):
        log.append(selected.take(slice(log.version, last)))
        log.end_round(Round(number, 10 * (number + 1), last, last, 0.0, 0.0, 0.0))
    log.append(selected.take(slice(5, 6)))
    stretches = log.stretches_after(Place(1, 0))
    assert [(each.entries.first, each.entries.last, each.ends_round) for each in stretches] == [
        (1, 2, True), (2, 5, True), (5, 6, False),
    ]  # fmt: skip
    assert log.stretches_after(Place(6, 2)) == []


def test_questions_are_open_until_every_row_has_an_answer() -> None:
    log = MemoryLog()
    first, second = Question.grouped([("a", 3, 30), ("b", 4, 40), ("a", 5, 50)])
    assert (first.batch, first.position.tolist(), first.key.tolist(), len(second)) == ("a", [3, 5], [30, 50], 1)
    log.record_question(first)
    log.record_answers(np.array([3]), [1])
    assert [each.batch for each in log.open_questions()] == ["a"]
    log.record_answers(np.array([5]), [None])
    assert (log.open_questions(), log.answers()) == ([], {3: 1, 5: None})


def test_the_heaviest_are_those_of_the_largest_weights_and_of_equal_ones_the_first() -> None:
    learned = LearnedExamples(np.array([4, 9, 2, 7]), np.array([1.0, 0.5, 0.1, 0.5]), np.array([1.0, 2.0, 30.0, 2.0]))
    assert learned.heaviest(3) == [(2, 0.1, 30.0), (9, 0.5, 2.0), (7, 0.5, 2.0)]
    assert learned.heaviest(0) == []
    assert len(learned.heaviest(10)) == 4
    with pytest.raises(InputError, match="count is -1"):
        learned.heaviest(-1)


def test_a_run_and_its_file_name_the_same_heaviest_with_importance_in_their_weight(tmp_path: Path) -> None:
    weight = np.where(np.arange(2000) % 97 == 0, 50.0, 1.0)
    stream, path = Arrays(X, Y, weight=weight), tmp_path / "run.db"
    run = train(svm(), stream, out=path, **STEPS)
    inside = train(svm(), stream, **STEPS)
    assert run.heaviest() == inside.heaviest()
    with RunFile.read(path) as file:
        rows = file.log.heaviest(25)
        learned = file.log.learned()
        assert file.log.heaviest(0) == []
    assert [(row["key"], row["p"], row["weight"]) for row in rows] == run.heaviest(25)
    assert list(rows[0]) == ["sequence", "position", "key", "y", "p", "weight"]
    for row in rows:
        assert row["weight"] == weight[row["key"]] / row["p"]
        assert row["y"] == Y[row["key"]]
        assert learned.key[row["sequence"]] == row["key"]
    assert [row["weight"] for row in rows] == sorted(learned.weight, reverse=True)[:25]


def test_a_log_without_entries_has_no_heaviest(tmp_path: Path) -> None:
    assert MemoryLog().learned().heaviest(3) == []
    with RunFile.create(tmp_path / "run.db", run_spec()) as file:
        assert (file.log.heaviest(3), file.log.learned().heaviest(3)) == ([], [])
