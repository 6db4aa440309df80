"""Numbered messages. Each is read once and in the order of writing, whatever a transport does to the order."""

from __future__ import annotations

import threading
from itertools import count
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Letter(NamedTuple, Generic[T]):
    """A message and its number.

    Parameters
    ----------
    number : int
        Number of the letter: 0, 1, 2, ...
    message : T
        The message.
    """

    number: int
    message: T


class Outgoing(Generic[T]):
    """Numbers the messages to one reader."""

    def __init__(self) -> None:
        self._numbers = count()

    def letter(self, message: T) -> Letter[T]:
        """Return the next letter. Writers on several threads must hold a lock until the letter is sent.

        Parameters
        ----------
        message : T
            The message in the letter.
        """
        return Letter(next(self._numbers), message)


class Incoming(Generic[T]):
    """Restores the order of the messages of one writer.

    Examples
    --------
    >>> incoming = Incoming[str]()
    >>> [incoming.accept(Letter(number, text)) for number, text in ((1, "b"), (0, "a"), (1, "b"), (2, "c"))]
    [[], ['a', 'b'], [], ['c']]
    """

    def __init__(self) -> None:
        self._next = 0
        self._early: dict[int, T] = {}
        self._lock = threading.Lock()

    def accept(self, letter: Letter[T]) -> list[T]:
        """Return the messages that can be read now that this letter has arrived, in order.

        Parameters
        ----------
        letter : Letter of T
            The letter that has arrived.
        """
        with self._lock:
            if letter.number >= self._next:
                self._early[letter.number] = letter.message
            ready: list[T] = []
            while self._next in self._early:
                ready.append(self._early.pop(self._next))
                self._next += 1
            return ready
