"""Who learns: every node from the entries (replicated), or one updater, whose model the nodes are sent (central)."""

from __future__ import annotations

from paraactive.data.examples import Stretch

UPDATES = ("auto", "replicated", "central")


class Updates:
    """The paper's two ways, and the choice between them by the bytes of a round that each would send to a node."""

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self.replicated = asked != "central"
        """True if nodes are sent entries, False if they are sent models."""
        self._round = self._rounds = self._replicated_rounds = 0
        self._entries = self._model = self._sent = 0

    def choose(self, stretch: Stretch, model: int) -> None:
        """Count this stretch; where a round ends with it, choose. The model weighed so much after the last."""
        self._round += stretch.nbytes
        if not stretch.ends_round:
            return
        entries, self._round = self._round, 0
        if self._asked == "auto":
            self.replicated = entries <= model
        self._rounds += 1
        self._replicated_rounds += self.replicated
        self._entries += entries
        self._model += model

    def sent(self, count: int) -> None:
        """So many bytes went to one node."""
        self._sent += count

    def chosen(self) -> tuple[str, str]:
        """Which way, and why."""
        often = self._replicated_rounds
        way = "replicated" if 2 * often >= self._rounds else "central"
        rounds = max(self._rounds, 1)
        entries, model = _bytes(self._entries / rounds), _bytes(self._model / rounds)
        weights = (
            f"a round's entries weigh {entries}, the model {model} on average; {_bytes(self._sent)} were sent in all"
        )
        if self._asked != "auto":
            return self._asked, f"as asked; {weights}"
        if 0 < often < self._rounds:
            return (
                way,
                f"in {often if way == 'replicated' else self._rounds - often} of {self._rounds} rounds; {weights}",
            )
        return way, weights


def _bytes(count: float) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e4 else f"{count:.0f} bytes"
