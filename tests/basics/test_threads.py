"""Numerical libraries are limited to one thread, and get their threads back."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from paraactive.basics import threads
from paraactive.basics.threads import one_blas_thread, one_thread

_ = np.dot(np.ones((2, 2)), np.ones((2, 2)))  # A BLAS library is loaded.


def numbers(kind: str = "blas") -> list[int]:
    return [library["num_threads"] for library in ThreadpoolController().select(user_api=kind).info()]


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Two threads of BLAS, whatever the machine has."""
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        yield


def test_blas_has_one_thread_inside_and_its_own_number_outside() -> None:
    before = numbers()
    with one_blas_thread():
        assert set(numbers()) == {1}
        with one_blas_thread(), one_thread():
            assert set(numbers()) == {1}
        assert set(numbers()) == {1}, "the first to enter is the last to leave"
    assert numbers() == before
    assert 2 in before


def test_the_last_of_several_threads_restores_the_number() -> None:
    before, entered, may_leave = numbers(), threading.Event(), threading.Event()

    def stay() -> None:
        with one_blas_thread():
            entered.set()
            assert may_leave.wait(60)

    other = threading.Thread(target=stay)
    with one_blas_thread():
        other.start()
        assert entered.wait(60)
    assert set(numbers()) == {1}, "the other thread is still inside"
    may_leave.set()
    other.join()
    assert numbers() == before


def test_every_thread_can_limit_after_another_has_left() -> None:
    found: list[int] = []

    def enter() -> None:
        with one_blas_thread():
            found.extend(numbers())

    enter()
    other = threading.Thread(target=enter)
    other.start()
    other.join()
    assert set(found) == {1}
    assert 2 in numbers()


def test_a_library_that_is_loaded_inside_is_limited_at_the_next_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = threads._OneBlasThread(threads._Libraries())
    with limit:
        with limit:
            assert len(limit._restore) == 1
        monkeypatch.setitem(sys.modules, "a_module_that_was_just_imported", threading)
        with limit:
            assert len(limit._restore) == 2
        assert set(numbers()) == {1}
    assert 2 in numbers()
