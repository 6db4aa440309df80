from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from making import run_spec, two_moons
from paraactive import Arrays, LaSVM, train
from paraactive.runs.run import Run


def run_with(delays: list[int]) -> Run:
    return Run(LaSVM(), run_spec(schedule="asynchronous"), delays=Counter(delays))


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=60))
def test_the_figures_of_delays_are_those_of_the_list(delays: list[int]) -> None:
    figures = run_with(delays).delay_figures()
    assert figures is not None
    assert np.isclose(figures["mean"], np.mean(delays))
    assert figures["max"] == max(delays)
    for name, share in (("p50", 50), ("p99", 99)):
        assert figures[name] == np.percentile(delays, share, method="inverted_cdf")


@given(st.lists(st.integers(0, 5000), max_size=60))
def test_the_histogram_counts_each_delay_once(delays: list[int]) -> None:
    bins = run_with(delays).delay_histogram()
    for first, last, count in bins:
        assert count == sum(first <= delay <= last for delay in delays)
    assert sum(count for _, _, count in bins) == len(delays)


def test_where_nothing_was_selected_there_are_no_delays() -> None:
    assert run_with([]).delay_figures() is None
    assert run_with([]).delay_histogram() == []


def test_a_run_shows_itself_in_one_line():
    shown = repr(train(LaSVM(gamma=1.0, gap=0.2), Arrays(*two_moons(2400, noise=0.3, seed=0))))
    assert shown.startswith("Run(LaSVM(C=1.0, ")
    assert "seen=2400" in shown
    assert len(shown) < 250
