"""`LRUCache`: made once, however many ask, and forgotten when there is no room."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from paraactive.streams.lru_cache import LRUCache


def kept_in(kept: LRUCache[bytes]) -> list[object]:
    return list(kept._values)


def test_the_oldest_is_forgotten_first():
    kept = LRUCache[bytes](10, len)
    for key in "abcd":
        kept.get(key, lambda: b"333")
    assert kept_in(kept) == ["b", "c", "d"]
    kept.get("b", lambda: b"333")
    kept.get("e", lambda: b"333")
    assert kept_in(kept) == ["d", "b", "e"]


def test_two_are_kept_however_large():
    kept = LRUCache[bytes](1, len)
    for key in "abc":
        kept.get(key, lambda: bytes(1000))
    assert kept_in(kept) == ["b", "c"]


def test_threads_that_ask_at_once_wait_for_the_one_that_makes_it():
    kept, made, together = LRUCache[bytes](10, len), list[int](), Barrier(8)

    def make() -> bytes:
        made.append(1)
        return b"value"

    def ask(_: int) -> bytes:
        together.wait()
        return kept.get("key", make)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(ask, range(8))) == {b"value"}
    assert len(made) == 1


def test_what_failed_is_tried_again():
    kept = LRUCache[bytes](10, len)

    def fail() -> bytes:
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            kept.get("key", fail)
    assert kept.get("key", lambda: b"yes") == b"yes"
