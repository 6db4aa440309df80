from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from making import run_spec, two_moons
from paraactive import Arrays, Network, train
from paraactive.data.events import Round
from paraactive.data.examples import Ints, Stretch
from paraactive.engines import Cluster
from paraactive.errors import InputError, RunFileError
from paraactive.rules import PaperMargin, Rule, Uniform
from paraactive.runs.runfile import RunFile
from paraactive.schedules.engine import Published
from paraactive.schedules.sequencer import Sequencer
from paraactive.theory import (
    Iwal,
    Thresholds,
    constant_delays,
    random_delay_bound,
    random_delays,
    recorded_delays,
    round_delays,
)
from paraactive.theory.delays import check_delays

# Kinds ----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 30), st.integers(1, 100))
def test_a_constant_delay_is_cut_off_at_the_beginning(delay: int, steps: int) -> None:
    assert constant_delays(delay, steps).tolist() == [min(delay, t) for t in range(1, steps + 1)]


@given(st.integers(1, 30), st.integers(1, 100))
def test_within_a_round_nothing_is_learnt(batch: int, steps: int) -> None:
    n = np.arange(1, steps + 1) - round_delays(batch, steps)
    assert n.tolist() == [position // batch * batch for position in range(steps)]


@settings(deadline=None)
@given(st.floats(1, 1000), st.integers(1, 200), st.integers(0, 2**40))
def test_every_kind_gives_delays_that_can_be(mean: float, steps: int, seed: int) -> None:
    for delays in (constant_delays(7, steps), round_delays(7, steps), random_delays(mean, steps, seed)):
        assert delays.dtype == np.int64
        assert check_delays(delays, steps).tolist() == delays.tolist()


def test_random_delays_are_as_long_in_the_mean_as_they_are_said_to_be() -> None:
    for mean in (1.5, 2, 10, 100):
        delays = random_delays(mean, 200_000, seed=3)[5000:]  # After the beginning nothing is cut off.
        error = math.sqrt(mean * (mean - 1) / len(delays))  # Of a geometric law.
        assert abs(delays.mean() - mean) <= 4 * error


@pytest.mark.parametrize("mean", [1.5, 4.0, 30.0])
def test_random_delays_have_a_geometric_law(mean: float) -> None:
    delays = random_delays(mean, 100_000, seed=5)[2000:]
    stay, edges = 1 - 1 / mean, 1
    while stay ** (edges + 1) * len(delays) > 50:
        edges += 1
    counts = np.bincount(np.minimum(delays, edges + 1), minlength=edges + 2)[1:]
    expected = np.array([stay ** (g - 1) / mean for g in range(1, edges + 1)] + [stay**edges]) * len(delays)
    assert expected.sum() == pytest.approx(len(delays))
    assert np.sum((counts - expected) ** 2 / expected) < chi2.ppf(0.9999, edges)


def test_random_delays_are_independent_from_step_to_step_and_from_seed_to_seed() -> None:
    one, other = random_delays(20, 50_000, seed=0)[1000:], random_delays(20, 50_000, seed=1)[1000:]
    for a, b in ((one[1:], one[:-1]), (one[20:], one[:-20]), (one, other)):
        assert abs(np.corrcoef(a, b)[0, 1]) < 5 / math.sqrt(len(a))


def test_random_delays_are_the_same_for_the_same_seed_however_many_steps() -> None:
    assert random_delays(20, 1000, seed=4).tolist() == random_delays(20, 5000, seed=4)[:1000].tolist()
    assert random_delays(1, 50, seed=4).tolist() == [1] * 50


def test_very_long_random_delays_mean_that_nothing_is_known() -> None:
    for mean in (1e12, 1e20, 1e300):
        assert check_delays(random_delays(mean, 20, seed=0), 20).tolist() == list(range(1, 21))


@pytest.mark.parametrize(("mean", "steps", "delta"), [(2.0, 100, 0.05), (20.0, 1000, 0.1), (50.0, 300, 0.5)])
def test_the_bound_of_random_delays_is_kept_with_the_probability_it_says(mean: float, steps: int, delta: float) -> None:
    bound, seeds = random_delay_bound(mean, steps, delta), 600
    broken = sum(bool(random_delays(mean, steps, seed).max() > bound) for seed in range(seeds))
    assert broken / seeds <= delta + 3 * math.sqrt(delta * (1 - delta) / seeds)


@given(st.floats(1.01, 1000), st.integers(1, 10**6), st.floats(1e-6, 0.999))
def test_the_bound_of_random_delays_is_the_least_that_the_union_bound_allows(
    mean: float, steps: int, delta: float
) -> None:
    bound = random_delay_bound(mean, steps, delta)
    assert steps * (1 - 1 / mean) ** bound <= delta * (1 + 1e-9)
    assert bound == 1 or steps * (1 - 1 / mean) ** (bound - 1) > delta * (1 - 1e-9)
    assert random_delay_bound(1, steps, delta) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constant_delays(0, 5), "delay is 0"),
        (lambda: constant_delays(2, 0), "steps is 0"),
        (lambda: constant_delays(1.5, 5), "delay is 1.5"),  # pyright: ignore[reportArgumentType]
        (lambda: round_delays(0, 5), "batch is 0"),
        (lambda: random_delays(0.5, 5, 0), "mean is 0.5: no delay is below 1.*give mean >= 1"),
        (lambda: random_delays(float("nan"), 5, 0), "mean is nan"),
        (lambda: random_delays(2, 5, 0.5), "seed is 0.5"),  # pyright: ignore[reportArgumentType]
        (lambda: random_delay_bound(2, 5, 0.0), "delta is 0.0: .*give 0 < delta < 1"),
        (lambda: random_delay_bound(2, 5, 1.0), "delta is 1.0"),
        (lambda: random_delay_bound(2, 5, float("nan")), "delta is nan"),
        (lambda: random_delay_bound(2, 0, 0.1), "steps is 0"),
        (lambda: random_delay_bound(1, 5, 7.0), "delta is 7.0"),
    ],
)
def test_bad_parameters_are_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("delays", "message"),
    [
        ([1, 2, 4], "the delay of step 3 is 4: .*give 1 <= tau"),
        ([1, 0, 1], "the delay of step 2 is 0"),
        ([2, 1, 1], "the delay of step 1 is 2"),
        ([-1, 1, 1], "the delay of step 1 is -1"),
        ([1.0, 1.0, 1.0], r"the delays are float64 of shape \(3,\)"),
        ([True, True, True], r"the delays are bool"),
        ([1, 1], r"of shape \(2,\): a delay is needed as a whole number for each of 3 steps"),
        ([[1, 1, 1]], r"of shape \(1, 3\)"),
        (0, "delays is 0"),
        (1.0, "delays is 1.0"),
        (None, "delays is None"),
    ],
)
def test_delays_that_cannot_be_are_named(delays: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_delays(delays, 3)


def test_delays_may_come_in_any_whole_numbers() -> None:
    for kind in (np.int8, np.uint8, np.int32, np.uint64):
        assert check_delays(np.array([1, 2, 1], kind), 3).tolist() == [1, 2, 1]
    assert check_delays(np.int64(2), 3).tolist() == [1, 2, 2]


# Recorded -------------------------------------------------------------------------------------------------------

X, Y = two_moons(700, noise=0.3, seed=0)
WARM, BATCH, ALL = 100, 60, 700
OFTEN, SELDOM = Uniform(0.3), Uniform(0.01)


def _run(path: Path, rule: Rule = OFTEN, **options: Any) -> Ints:
    """n_t as the run file has it, step by step."""
    given: dict[str, Any] = {"examples": ALL, "batch": BATCH, "warmstart": WARM} | options
    train(Network(hidden=4), Arrays(X, Y, seed=1), rule=rule, out=path, seed=4, **given)
    delays = recorded_delays(path)
    steps = int(given["examples"])
    assert check_delays(delays, steps).tolist() == delays.tolist()
    x = np.random.default_rng(0).random(steps)
    run = Iwal().run(Thresholds([0.2, 0.5, 0.8]).on(x), x > 0.5, delays=delays)
    assert run.n.tolist() == (np.arange(1, steps + 1) - delays).tolist()
    return run.n


def _begins(warmstart: int = WARM) -> list[int]:
    """For each position after the warmstart: where its round begins."""
    return [warmstart + (position - warmstart) // BATCH * BATCH for position in range(warmstart, ALL)]


@pytest.mark.parametrize("nodes", [1, 3])
def test_a_synchronous_run_knows_what_was_seen_before_the_round(tmp_path: Path, nodes: int) -> None:
    known = _run(tmp_path / "run.db", nodes=nodes, engine="simulated")
    assert known.tolist() == [0] * WARM + _begins()


def test_a_run_without_warmstart_knows_nothing_in_its_first_round(tmp_path: Path) -> None:
    known = _run(tmp_path / "run.db", nodes=2, engine="threads", warmstart=0)
    assert known.tolist() == _begins(0)
    assert known[:BATCH].tolist() == [0] * BATCH


def test_without_rounds_it_is_nothing_but_a_warmstart(tmp_path: Path) -> None:
    assert _run(tmp_path / "run.db", examples=WARM, nodes=1, engine="simulated").tolist() == [0] * WARM


def test_rounds_in_which_nothing_was_selected_are_as_late_as_the_others(tmp_path: Path) -> None:
    known = _run(tmp_path / "run.db", rule=SELDOM, nodes=2, engine="simulated")
    with RunFile.read(tmp_path / "run.db") as file:
        assert 0 in [ended.selected for ended in file.log.ended_rounds()]
    assert known.tolist() == [0] * WARM + _begins()


@pytest.mark.parametrize("rule", [OFTEN, SELDOM])
@pytest.mark.parametrize("lag", [0, 1, 2])
def test_a_pipelined_run_of_an_earlier_version_is_so_many_rounds_behind(tmp_path: Path, lag: int, rule: Rule) -> None:
    path = tmp_path / "run.db"
    _run(path, rule, nodes=2, engine="simulated")
    with RunFile.resume(path) as file:
        file.write_spec(replace(file.spec, schedule="pipelined", lag=lag))
    known = np.arange(1, ALL + 1) - recorded_delays(path)
    assert known.tolist() == [0] * WARM + [max(WARM, begin - lag * BATCH) for begin in _begins()]


def test_a_sequential_run_knows_all_that_came_before(tmp_path: Path) -> None:
    known = _run(tmp_path / "run.db", schedule="sequential")
    assert known.tolist() == [0] * WARM + list(range(WARM, ALL))


_CLUSTERS = {
    "near": Cluster(sift_seconds=1e-3, update_seconds=1e-3),
    "far": Cluster(sift_seconds=1e-3, update_seconds=1e-3, latency=0.03, jitter=0.1, slowness=(1.0, 8.0), seed=3),
}


@pytest.mark.parametrize("rule", [OFTEN, PaperMargin(0.5)], ids=["often", "margin"])
@pytest.mark.parametrize("cluster", _CLUSTERS)
def test_an_asynchronous_run_knows_in_each_tile_what_its_node_knew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str, rule: Rule
) -> None:
    behind, expected, nothing = 0, [0] * WARM, 0
    accept = Sequencer.accept

    def watched(
        self: Sequencer, published: Published, update: float, elapsed: float
    ) -> tuple[Stretch | None, Round | None]:
        nonlocal behind, nothing
        stretch, ended = accept(self, published, update, elapsed)
        if stretch is not None:
            begin = len(expected)
            assert stretch.seen == begin + published.tile.last - published.tile.first
            if len(published.sifted.selected):
                behind = begin - published.seen
                assert behind >= 0
                expected.extend([published.seen] * (stretch.seen - begin))
            else:  # The file cannot know; the one before was as far behind.
                nothing += 1
                expected.extend([max(0, begin - behind)] * (stretch.seen - begin))
        return stretch, ended

    monkeypatch.setattr(Sequencer, "accept", watched)
    known = _run(
        tmp_path / "run.db", rule, nodes=4, engine="simulated", schedule="asynchronous", cluster=_CLUSTERS[cluster]
    )
    assert known.tolist() == expected
    assert nothing, "in some tiles nothing was selected"
    assert len(set(known.tolist())) > ALL // BATCH, "tiles are smaller than rounds"
    t = np.arange(WARM, ALL)
    # The bound of the schedule, two batches, is at the beginning of a tile.
    assert np.all(t - known[WARM:] <= 2 * BATCH + BATCH)


def test_the_delays_of_a_stopped_run_end_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    train(
        Network(hidden=4), Arrays(X, Y), rule=OFTEN, examples=ALL, batch=BATCH, warmstart=WARM, nodes=1, out=path,
        stop=lambda run: run.seen >= WARM + 2 * BATCH,
    )  # fmt: skip
    delays = recorded_delays(path)
    assert delays.tolist() == [*range(1, WARM + 1), *range(1, BATCH + 1), *range(1, BATCH + 1)]


def test_a_run_file_without_examples_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with RunFile.create(path, run_spec(schedule="synchronous")):
        pass
    with pytest.raises(InputError, match=r"run.db has no examples.*resume it"):
        recorded_delays(path)


def test_a_run_file_that_ended_after_an_empty_warmstart_is_an_error_about_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    train(
        Network(hidden=4), Arrays(X, Y), rule=OFTEN, examples=ALL, batch=BATCH, warmstart=0, nodes=1, out=path,
        stop=lambda run: True,
    )  # fmt: skip
    with pytest.raises(InputError, match=r"run.db has no examples"):
        recorded_delays(path)


def test_what_is_no_run_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no run\n" * 1000)
    for name in ("text", "missing.db"):
        with pytest.raises(RunFileError, match=name):
            recorded_delays(tmp_path / name)
    with pytest.raises(RunFileError):
        recorded_delays(tmp_path)


def test_a_run_file_without_its_schedule_is_damaged(tmp_path: Path) -> None:
    with RunFile.create(tmp_path / "run.db", run_spec()):
        pass
    with closing(sqlite3.connect(tmp_path / "run.db")) as database, database:
        database.execute("DELETE FROM configuration WHERE name = 'schedule'")
    with pytest.raises(RunFileError, match=r"run.db is damaged"):
        recorded_delays(tmp_path / "run.db")
