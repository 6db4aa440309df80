"""Numbered messages: whatever a transport does to their order, they are read in the order written, each once."""

from __future__ import annotations

import threading
from itertools import count
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Letter(NamedTuple, Generic[T]):
    """A message and its number."""

    number: int
    message: T


class Outgoing(Generic[T]):
    """Numbers what is written to one reader."""

    def __init__(self) -> None:
        self._numbers = count()

    def letter(self, message: T) -> Letter[T]:
        """The next letter. Writers on several threads each hold a lock from here until it is sent."""
        return Letter(next(self._numbers), message)


class Incoming(Generic[T]):
    """Restores the order of what one writer has written.

    >>> incoming = Incoming[str]()
    >>> [incoming.accept(Letter(number, text)) for number, text in ((1, "b"), (0, "a"), (1, "b"), (2, "c"))]
    [[], ['a', 'b'], [], ['c']]
    """

    def __init__(self) -> None:
        self._next = 0
        self._early: dict[int, T] = {}
        self._lock = threading.Lock()

    def accept(self, letter: Letter[T]) -> list[T]:
        """The messages that can be read now that this letter is there."""
        with self._lock:
            if letter.number >= self._next:
                self._early[letter.number] = letter.message
            ready: list[T] = []
            while self._next in self._early:
                ready.append(self._early.pop(self._next))
                self._next += 1
            return ready
