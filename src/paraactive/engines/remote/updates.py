"""Which replicas learn: every node from the entries (replicated), or the driver, which sends its model (central)."""

from __future__ import annotations

from paraactive.data.examples import Stretch

UPDATES = ("auto", "replicated", "central")


class Updates:
    """Chooses between the paper's two ways of updating by the bytes that each would send to a node in a round.

    Parameters
    ----------
    asked : {"auto", "replicated", "central"}
        "auto" chooses after each round.

    Attributes
    ----------
    replicated : bool
        True if nodes are sent entries, False if they are sent models.
    """

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self.replicated = asked != "central"
        self._round = self._rounds = self._replicated_rounds = 0
        self._entries = self._model = self._sent = 0

    def choose(self, stretch: Stretch, model: int) -> None:
        """Count a stretch. If a round ends with it, choose.

        Parameters
        ----------
        stretch : Stretch
            The next stretch of the log.
        model : int
            Size of the model in bytes.
        """
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
        """Count bytes that were sent to a node.

        Parameters
        ----------
        count : int
            Number of bytes.
        """
        self._sent += count

    def chosen(self) -> tuple[str, str]:
        """Return the way of updating in most rounds, "replicated" or "central", and the reason."""
        often = self._replicated_rounds
        way = "replicated" if 2 * often >= self._rounds else "central"
        rounds = max(self._rounds, 1)
        entries, model = _bytes(self._entries / rounds), _bytes(self._model / rounds)
        sizes = (
            f"on average the entries of a round have {entries} and the model has {model}; "
            f"{_bytes(self._sent)} were sent in all"
        )
        if self._asked != "auto":
            return self._asked, f"as asked; {sizes}"
        if 0 < often < self._rounds:
            count = often if way == "replicated" else self._rounds - often
            return way, f"in {count} of {self._rounds} rounds; {sizes}"
        return way, sizes


def _bytes(count: float) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e4 else f"{count:.0f} bytes"
