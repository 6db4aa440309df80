"""What two reviews found, each as the smallest case that showed it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Network, Oracle, train
from paraactive.data.events import Event
from paraactive.data.examples import Doubles, Examples, Ints, Selected, SparseRows
from paraactive.engines import Cluster
from paraactive.errors import InputError
from paraactive.learners import Guarded
from paraactive.report import read_story, write_report
from paraactive.rules import Margin, SignedMargin, Uniform, floored
from paraactive.rules.base import rises_with_doubt
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.sifting.cascade import Economy
from paraactive.sifting.node import Node
from paraactive.sifting.select import choose, sift
from paraactive.streams import Unlabelled
from paraactive.theory import plan


@pytest.fixture(scope="module")
def trained() -> LaSVM:
    """One that has a cheap score."""
    learner = LaSVM(C=1, gamma=0.012)
    first = Digits().read(0, 1500)
    learner.update(Selected.weighted(first.x, first.y))
    learner.end_round()
    assert learner.proxy() is not None
    return learner


def fresh(first: int = 2000, last: int = 2600) -> Examples:
    return Digits().read(first, last)


# Learners --------------------------------------------------------------------------------------------------------


def test_another_example_with_the_key_of_a_vector_does_not_take_its_place() -> None:
    x, y = np.array([[0, 0], [1, 0], [4, 4], [5, 4]], np.float32), np.array([-1, -1, 1, 1], np.int8)
    learner = LaSVM(gamma="scale")
    learner.update(Selected.weighted(x, y))
    learner.update(Selected.weighted(x[::-1].copy(), y[::-1].copy()))  # The same keys, for other rows.
    assert (np.sign(learner.score(x)) == y).all()


def test_the_cheap_score_does_not_depend_on_grouping_though_keys_come_again_with_other_features() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 192)).astype(np.float32)
    y = np.where(x[:, 0] + 0.3 * rng.normal(size=1500) > 0, 1, -1).astype(np.int8)
    key = rng.integers(0, 260, 1500)

    def learnt(step: int) -> LaSVM:
        learner = LaSVM(C=1, gamma=0.005, budget=200)
        for first in range(0, 1500, step):
            rows = slice(first, min(first + step, 1500))
            index = np.arange(rows.start, rows.stop)
            examples = Examples(x[rows], y[rows], index, key[rows])
            none = np.zeros(len(index), np.int64)
            learner.update(Selected(examples, np.ones(len(index)), none, none))
            if rows.stop in (600, 1200):
                learner.end_round()
        return learner

    whole, pieces, loaded = learnt(300), learnt(50), LaSVM(C=1, gamma=0.005, budget=200)
    loaded.load(whole.save())
    assert whole.digest() == pieces.digest() == loaded.digest()
    scores = [_proxy(each)(x[:100]).tobytes() for each in (whole, pieces, loaded)]
    assert len(set(scores)) == 1


def _proxy(learner: LaSVM) -> Callable[[Any], Doubles]:
    proxy = learner.proxy()
    assert proxy is not None
    return proxy.score


@pytest.mark.parametrize("rows", [1, 300])
def test_what_is_remembered_of_scored_rows_is_bounded_and_its_own(trained: LaSVM, rows: int) -> None:
    trained._scored = {}
    for first in range(0, 6000, rows):
        trained.score(Digits().read(first, first + rows).x)
    numbers = sum(len(key) // 4 + len(own) for key, own in trained._scored.items())
    assert 0 < numbers < 9_000_000
    assert all(own.base is None for own in trained._scored.values())


def test_a_basis_of_another_shape_is_refused(trained: LaSVM) -> None:
    state = trained.save()
    state["basis"] = state["basis"][:1, :3]
    with pytest.raises(ValueError, match="basis has shape"):
        LaSVM(C=1, gamma=0.012).load(state)


def test_directions_that_come_later_are_found() -> None:
    rng = np.random.default_rng(1)
    few, many = rng.normal(size=(6, 400)), rng.normal(size=(60, 400))
    learner = LaSVM(C=1, gamma=0.002)
    for number in range(10):
        factors = few if number == 0 else many
        x = (rng.normal(size=(300, len(factors))) @ factors / 20).astype(np.float32)
        y = np.where(rng.normal(size=300) + x[:, 0] > 0, 1, -1).astype(np.int8)
        index = np.arange(300 * number, 300 * number + 300)
        none = np.zeros(300, np.int64)
        learner.update(Selected(Examples(x, y, index), np.ones(300), none, none))
        learner.end_round()
    assert learner._projection is not None
    assert int(learner._projection._basis.any(axis=1).sum()) >= 60


def test_an_infinite_feature_has_no_finite_cheap_score(trained: LaSVM) -> None:
    x = np.array(fresh().x[:4])
    x[2, 5] = np.inf
    with np.errstate(invalid="ignore"):
        assert np.isnan(_proxy(trained)(x)).tolist() == [False, False, True, False]


def test_a_state_of_other_classes_is_taken_over_or_refused() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 3)).astype(np.float32), rng.integers(0, 3, 90).astype(np.int8)
    three = LaSVM(gamma=1.0, classes=3)
    three.update(Selected.weighted(x, y))
    other = LaSVM(gamma=1.0)
    other.load(three.save())
    assert (other.score(x) == three.score(x)).all()
    two = LaSVM(gamma=1.0)
    two.update(Selected.weighted(x, np.where(y > 0, 1, -1).astype(np.int8)))
    with pytest.raises(InputError, match="1 machines"):
        LaSVM(gamma=1.0, classes=3).load(two.save())


def test_what_a_guard_lets_wait_is_the_same_however_sparse_rows_are_grouped() -> None:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(200, 12)) * (rng.random((200, 12)) < 0.5)).astype(np.float32)
    y = np.where(x[:, 0] > 0, 1, -1).astype(np.int8)
    y[130:140] *= -1

    def learnt(*cuts: int) -> str:
        learner = Guarded(LaSVM(gamma=0.2), set_aside=0.01)
        for a, b in zip((0, *cuts), (*cuts, 200), strict=True):
            index = np.arange(a, b)
            none = np.zeros(b - a, np.int64)
            examples = Examples(SparseRows.of(x[a:b]), y[a:b], index)
            learner.update(Selected(examples, np.ones(b - a), none, none))
            if b == 60:
                learner._trusted = True
                learner._learnt[:] = 100
        return learner.digest()

    assert learnt(60) == learnt(60, 62, 63, 90, 150)


# The cascade -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FindsTheSure:
    """p rises with sureness: a rule that a cheap score, moved towards doubt, would silence."""

    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        assert len(score), "nobody asks about nothing"
        return np.clip(np.abs(score) ** 4, 1e-6, 1.0)

    def describe(self) -> dict[str, Any]:
        return {}


def test_a_rule_that_does_not_say_that_it_rises_with_doubt_is_left_alone(trained: LaSVM) -> None:
    without = LaSVM(C=1, gamma=0.012, cascade=False)
    without.load(trained.save())
    seen = np.full(600, 2000)
    logs = [
        sift(learner, FindsTheSure(), 0, fresh(), seen, 0).examples.index.tolist() for learner in (trained, without)
    ]
    assert logs[0] == logs[1]
    assert len(logs[0]) > 50


def test_our_rules_say_so_also_under_a_floor() -> None:
    assert rises_with_doubt(Margin(0.1))
    assert rises_with_doubt(floored(SignedMargin(), 0.1))
    assert not rises_with_doubt(floored(FindsTheSure(), 0.1))


def test_nobody_is_asked_about_no_rows(trained: LaSVM) -> None:
    @dataclass(frozen=True)
    class Never:
        needs_labels: ClassVar[Literal[False]] = False
        needs_scores: ClassVar[bool] = True
        rises_with_doubt: ClassVar[bool] = True

        def probability(self, score: Doubles, seen: Ints) -> Doubles:
            assert len(score)
            return np.full(len(score), 1e-12)

        def describe(self) -> dict[str, Any]:
            return {}

    for passed in (0.0, 1.0):  # The cheap score first, then the exact one.
        economy = Economy(passed, 1)
        choice = choose(trained, Never(), 0, fresh(), np.full(600, 2000), 0, economy)
        assert len(choice.selected) == 0


def test_simulated_nodes_read_a_round_once() -> None:
    class Counting(Digits):
        reads: ClassVar[list[int]] = []

        def read(self, first: int, last: int) -> Examples:
            Counting.reads.append(last - first)
            return super().read(first, last)

    train(LaSVM(C=1, gamma=0.012), Counting(), examples=4000, batch=1000, warmstart=1000, engine="simulated", nodes=2)
    assert sum(Counting.reads) < 2 * 4000


def test_a_slow_simulated_node_shows_in_the_times_of_nodes() -> None:
    run = train(
        Network(hidden=8), Arrays(*two_moons(2000, noise=0.3, seed=0)), batch=400, warmstart=400, engine="simulated",
        nodes=4, cluster=Cluster(slowness=(4.0,), latency=0.01, sift_seconds=1e-4, update_seconds=1e-5),
    )  # fmt: skip
    slow, *others = run.rounds[1].nodes
    assert slow.sift == pytest.approx(4 * others[0].sift)
    assert slow.transfer == pytest.approx(0.02)
    assert others[0].wait == pytest.approx(slow.sift - others[0].sift, rel=0.1)
    assert run.rounds[1].elapsed[4] == pytest.approx(slow.sift + 0.02 + run.rounds[1].update_seconds)


# Run files and reports -------------------------------------------------------------------------------------------


def moons_run(path: Path, **options: Any) -> Run:
    x, y = two_moons(1200, noise=0.3, seed=0)
    return train(LaSVM(gamma=1.0), Arrays(x, y), warmstart=200, batch=200, out=path, nodes=1, **options)


def test_a_run_is_whole_in_its_file_though_somebody_looked_when_it_ended(tmp_path: Path) -> None:
    looking: list[RunFile] = []

    def look(run: Run) -> bool:
        looking.append(RunFile.read(tmp_path / "run.db"))
        return False

    moons_run(tmp_path / "run.db", stop=look)
    copy = tmp_path / "copy.db"
    copy.write_bytes((tmp_path / "run.db").read_bytes())
    for file in looking:
        file.close()
    with RunFile.read(copy) as file:
        assert file.seen == 1200


def test_looking_at_a_run_that_ended_leaves_nothing_beside_it(tmp_path: Path) -> None:
    moons_run(tmp_path / "run.db")
    before = sorted(path.name for path in tmp_path.iterdir())
    read_story(tmp_path / "run.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("budget", [200, 400, 600])
def test_a_budget_that_ends_with_a_round_can_be_reported(tmp_path: Path, budget: int) -> None:
    x, y = two_moons(1200, noise=0.3, seed=0)
    names = np.where(y > 0, "1", "0")
    train(
        LaSVM(gamma=1.0), Unlabelled(x, classes=["0", "1"]), rule=Uniform(1.0), warmstart=200, batch=200,
        oracle=Oracle(lambda index, _rows: names[index], budget=budget), out=tmp_path / "run.db", nodes=1,
    )  # fmt: skip
    assert write_report([tmp_path / "run.db"], tmp_path / "page.html").stat().st_size > 10_000
    if budget > 200:
        assert plan(tmp_path / "run.db").predictions


def test_a_learner_may_mean_something_else_by_vectors(tmp_path: Path) -> None:
    class Mine(Network):
        vectors = np.zeros((3, 2))

    x, y = two_moons(600, noise=0.3, seed=0)
    run = train(Mine(hidden=4), Arrays(x, y), test=(x, y), warmstart=100, batch=100, out=tmp_path / "run.db", nodes=1)
    assert run.evaluations[-1].vectors is None


def test_while_a_run_is_extended_its_earlier_end_is_not_shown(tmp_path: Path) -> None:
    moons_run(tmp_path / "run.db", examples=600)
    with sqlite3.connect(tmp_path / "run.db") as database:
        database.execute("DELETE FROM rounds WHERE number = 2")
        database.execute("DELETE FROM snapshots WHERE rounds = 3")
        database.execute("DELETE FROM entries WHERE sequence >= (SELECT max(version) FROM rounds)")
    assert read_story(tmp_path / "run.db").ended is None


def test_threads_that_share_a_model_wait_for_the_one_that_tries_its_tiles() -> None:
    from paraactive.learners.wrappers.tiles import Tiles

    tiles, x, found = Tiles(64), np.random.default_rng(0).normal(size=(500, 3)), list[Any]()

    def by_place(tile: Any) -> Doubles:
        scores = np.asarray(tile, np.float64).sum(axis=1)
        scores[len(tile) // 2 :] *= 1 + 1e-15 if len(tile) > 1 else 1
        return scores

    threads = [threading.Thread(target=lambda: found.append(tiles.score(by_place, x, ()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all((each == x.sum(axis=1)).all() for each in found)


def test_the_first_rate_of_a_resumed_run_is_right_in_trackers() -> None:
    from paraactive.data.events import Round, RunStarted
    from paraactive.trackers.figures import Figures

    figures = Figures()
    events: list[Event] = [RunStarted(3000, 1000, 800, 80), Round(5, 1200, 100, 20, 0.0, 1.0, 0.5)]
    rates = [figures(event)[1].get("sampling_rate") for event in events]
    assert rates == [None, 0.1]


def test_a_node_that_reads_another_stream_is_the_same_replica() -> None:
    node = Node(Network(hidden=4), Margin(0.1), Arrays(*two_moons(50, noise=0.1, seed=0)), seed=3, number=2)
    other = node.reading(node.stream)
    assert (other.learner, other.number, other.place, other.economy) == (
        node.learner, node.number, node.place, node.economy,
    )  # fmt: skip
