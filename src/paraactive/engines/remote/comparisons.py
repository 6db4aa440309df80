"""Comparing the digests of all replicas at a place of the log."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from paraactive.errors import ReplicaError


@dataclass(eq=False)
class Comparison:
    """A comparison of all replicas at one place of the log.

    Parameters
    ----------
    number : int
        Number of the comparison.
    version : int
        Number of log entries that the replicas have applied there.
    expected : str
        Digest of the driver's replica.
    waiting : set of int
        Nodes whose digests are still expected.
    answers : dict of int to str, optional
        The digests that have arrived, by node.
    """

    number: int
    version: int
    expected: str
    waiting: set[int]
    answers: dict[int, str] = field(default_factory=dict[int, str])


class Comparisons:
    """All comparisons of a run.

    Parameters
    ----------
    rebuild : callable
        Called with the number of each node whose replica differs, and with the version at which it did.
    """

    def __init__(self, rebuild: Callable[[int, int], None]) -> None:
        self._rebuild, self._count = rebuild, 0
        self._asked: defaultdict[int, deque[Comparison]] = defaultdict(deque[Comparison])  # By node, in order.
        # By node: earlier comparisons are about a model that the node no longer has.
        self._renewed: defaultdict[int, int] = defaultdict(int)

    def begin(self, version: int, expected: str, nodes: Iterable[int]) -> Comparison:
        """Begin a comparison. Each of the nodes must be sent a `Check`.

        Parameters
        ----------
        version : int
            Number of log entries that the replicas have applied.
        expected : str
            Digest of the driver's replica.
        nodes : iterable of int
            Numbers of the nodes.
        """
        comparison = Comparison(self._count, version, expected, set(nodes))
        self._count += 1
        for number in comparison.waiting:
            self._asked[number].append(comparison)
        return comparison

    def answer(self, number: int, digest: str) -> None:
        """Record the next digest of a node.

        Parameters
        ----------
        number : int
            Number of the node.
        digest : str
            Digest of the node's replica.

        Raises
        ------
        ReplicaError
            If the driver's replica differs from all others, and these agree.
        """
        comparison = self._asked[number].popleft()
        comparison.answers[number] = digest
        self._stop_waiting(number, comparison)

    def skip(self, number: int) -> None:
        """Do not wait for the digests of a silent node. They may still arrive, in order.

        Parameters
        ----------
        number : int
            Number of the node.
        """
        for comparison in list(self._asked[number]):
            self._stop_waiting(number, comparison)

    def forget(self, number: int) -> None:
        """Expect no more digests of a node that is gone.

        Parameters
        ----------
        number : int
            Number of the node.
        """
        self.renew(number)
        while self._asked[number]:
            self._stop_waiting(number, self._asked[number].popleft())

    def renew(self, number: int) -> None:
        """Record that a node has got a new model, to which the comparisons so far do not apply.

        Parameters
        ----------
        number : int
            Number of the node.
        """
        self._renewed[number] = self._count

    def _stop_waiting(self, number: int, comparison: Comparison) -> None:
        comparison.waiting.discard(number)
        if not comparison.waiting:
            self._compare(comparison)

    def _compare(self, comparison: Comparison) -> None:
        answers = {
            number: digest
            for number, digest in comparison.answers.items()
            if self._renewed[number] <= comparison.number
        }
        different = [number for number, digest in answers.items() if digest != comparison.expected]
        if len(different) == len(answers) > 1 and len(set(answers.values())) == 1:
            raise ReplicaError(
                "the driver's replica differs from all others, which agree",
                why="its memory was damaged, or its processor differs from theirs",
                remedy="resume the run file: the model is rebuilt from the log",
            )
        for number in different:
            self._rebuild(number, comparison.version)
            self.renew(number)
