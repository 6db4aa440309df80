from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraactive.basics.spare_threads import in_parts, spare_threads

MUCH = 1e12


@given(rows=st.integers(0, 300), count=st.integers(1, 5))
def test_the_parts_are_all_rows_once(rows: int, count: int) -> None:
    parts: list[tuple[int, int]] = []
    with ThreadPoolExecutor(count) as threads, spare_threads(threads, count):
        in_parts(rows, MUCH, lambda first, last: parts.append((first, last)))
    assert [row for first, last in sorted(parts) for row in range(first, last)] == list(range(rows))
    assert len(parts) <= count


def test_the_parts_are_computed_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=30)
    with ThreadPoolExecutor(3) as threads, spare_threads(threads, 3):
        in_parts(96, MUCH, lambda _first, _last: together.wait())
    assert together.n_waiting == 0


@pytest.mark.parametrize("work", [1.0, 1e7])
def test_little_work_is_not_divided(work: float) -> None:
    parts: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as threads, spare_threads(threads, 2):
        in_parts(96, work, lambda first, last: parts.append((first, last)))
    assert parts == [(0, 96)]


def test_without_an_offer_and_after_it_the_calling_thread_does_all() -> None:
    parts: list[tuple[int, int]] = []
    in_parts(96, MUCH, lambda first, last: parts.append((first, last)))
    with ThreadPoolExecutor(2) as threads:
        with spare_threads(threads, 2):
            pass
        in_parts(96, MUCH, lambda first, last: parts.append((first, last)))
    assert parts == [(0, 96), (0, 96)]


def test_a_thread_that_computes_a_part_does_not_divide_it_further() -> None:
    parts: list[tuple[int, int]] = []

    def outer(first: int, last: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            in_parts(last - first, MUCH, lambda first, last: parts.append((first, last)))

    with ThreadPoolExecutor(2) as threads, spare_threads(threads, 2):
        in_parts(96, MUCH, outer)
    assert parts == [(0, 48)]


def test_an_error_of_any_part_is_raised() -> None:
    def fail(first: int, _last: int) -> None:
        if first:
            raise ValueError(f"from {first}")

    with (
        ThreadPoolExecutor(2) as threads,
        spare_threads(threads, 2),
        pytest.raises(ValueError, match="from 48"),
    ):
        in_parts(96, MUCH, fail)
