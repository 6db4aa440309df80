"""The log: the total order of all that was selected. Whoever applies it from the start has the model.

This module has the contract and a log in memory; the durable one is the run file.
"""

from __future__ import annotations

from typing import Protocol

from paraactive.events import Round
from paraactive.examples import Entries, Selected


class Log(Protocol):
    """Gives each selected example its place, and remembers where rounds end."""

    @property
    def version(self) -> int:
        """Entries so far."""
        ...

    @property
    def seen(self) -> int:
        """Examples seen by the cluster up to the end of the last round."""
        ...

    @property
    def rounds(self) -> int:
        """Rounds so far, the warmstart included."""
        ...

    def append(self, selected: Selected) -> Entries:
        """The same examples with their places in the total order."""
        ...

    def end_round(self, ended: Round) -> None:
        """What was appended since the last call is one round."""
        ...


class MemoryLog:
    """A log for runs without a run file: it counts, and keeps the entries if asked to."""

    def __init__(self, keep: bool = False) -> None:
        self.version = self.seen = self.rounds = 0
        self.entries: list[Entries] = []
        self._keep = keep

    def append(self, selected: Selected) -> Entries:
        """The same examples with their places in the total order."""
        entries = Entries(self.version, selected)
        self.version = entries.last
        if self._keep:
            self.entries.append(entries)
        return entries

    def end_round(self, ended: Round) -> None:
        """What was appended since the last call is one round."""
        self.seen = ended.seen
        self.rounds += 1
