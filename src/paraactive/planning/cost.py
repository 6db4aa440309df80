"""The cost model of the paper: the time of k nodes, from S (scoring), T (learning) and phi (number of selected).

This module is only arithmetic. `fit` finds S, T and phi from a recorded run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles
from paraactive.errors import InputError
from paraactive.planning.values import Cost, Line, Link, Prediction

_MAX_ROUNDS = 10_000_000


class _Rounds(NamedTuple):
    """Arrays with a value for each round: examples, new entries, entries of the sifting model, seconds of one node."""

    examples: Doubles
    entries: Doubles
    model: Doubles
    sift: Doubles
    update: Doubles


@dataclass(frozen=True)
class CostModel:
    """The time of a run as a function of n (examples seen) and k (nodes).

    S(m) is the time to score one example with a model of m entries, T(m) the time to learn m entries, and phi(n) the
    number of entries after n examples. Then the table of the paper is:

        sequential passive   operations T(n)                 time T(n)                  broadcasts 0
        sequential active    operations n S(phi) + T(phi)    time n S(phi) + T(phi)     broadcasts 0
        parallel active      operations n S(phi) + k T(phi)  time n S(phi)/k + T(phi)   broadcasts phi

    The paper uses the last S(phi(n)) for all examples. Here S is summed over the rounds, in which the model grows. With
    about k = n/phi(n) nodes, sifting no longer dominates.

    Parameters
    ----------
    warmstart : int
        Examples of the warmstart.
    batch : int
        Examples of a round.
    warmstart_seconds : float
        Time of the warmstart, in seconds.
    score : Line
        S(m), in seconds.
    learn : Line
        dT/dm: seconds to learn one entry with a model of m entries.
    settle : float
        Learning time of each round that does not depend on its entries, in seconds.
    scale : float
        Factor a in phi(n) = warmstart + a (n - warmstart)^b.
    exponent : float
        Exponent b in phi(n).
    fetch : float, optional
        Seconds to make or read an example. Default: 0.
    entry_bytes : float, optional
        Bytes of an entry. Default: 0.
    model_bytes : Line, optional
        Bytes of a model of m entries. Default: not known.
    schedule : str, optional
        The schedule. Default: "synchronous".
    lag : int, optional
        Rounds that the sifting model is behind, in the pipelined schedule of version 0.1. Default: 0.

    Examples
    --------
    >>> model = CostModel(warmstart=4096, batch=4096, warmstart_seconds=0.4, score=Line(0.0, 2e-8),
    ...     learn=Line(1e-4), settle=0.01, scale=100.0, exponent=0.3)
    >>> round(float(model.selected(100_000)))
    7219
    >>> [round(model.predict(100_000, k).seconds, 2) for k in (1, 8, 64)]
    [13.26, 2.49, 1.14]
    >>> round(model.parallel_active(100_000, nodes=8).broadcasts), round(model.enough_nodes(100_000))
    (7219, 14)
    >>> round(model.passive(4096).seconds, 2), round(model.sequential_active(100_000).seconds, 2)
    (0.4, 13.26)
    """

    warmstart: int
    batch: int
    warmstart_seconds: float
    score: Line
    learn: Line
    settle: float
    scale: float
    exponent: float
    fetch: float = 0.0
    entry_bytes: float = 0.0
    model_bytes: Line | None = None
    schedule: str = "synchronous"
    lag: int = 0

    def __post_init__(self) -> None:
        whole("warmstart", self.warmstart, 0)
        whole("batch", self.batch, 1)

    def selected(self, n: ArrayLike) -> Doubles:
        """Return phi(n) = warmstart + scale (n - warmstart)^exponent, or n during the warmstart.

        Parameters
        ----------
        n : array_like of float
            Examples seen.

        Returns
        -------
        array of float64
            Number of entries.
        """
        sifted = np.maximum(np.asarray(n, np.float64) - self.warmstart, 0.0)
        power = np.where(sifted > 0, sifted**self.exponent, 0.0)
        return np.minimum(np.minimum(n, self.warmstart) + np.minimum(self.scale * power, sifted), n)

    def train_seconds(self, entries: float, rounds: float) -> float:
        """Return T after the warmstart: the integral of dT/dm over the entries, plus the fixed time of each round.

        Parameters
        ----------
        entries : float
            Number of entries, with those of the warmstart.
        rounds : float
            Number of rounds.

        Returns
        -------
        float
            Seconds.
        """
        first = min(self.warmstart, entries)
        middle = (entries + first) / 2
        return float((entries - first) * self.learn.at(middle) + rounds * self.settle)

    # The three kinds of run --------------------------------------------------------------------------------------

    def passive(self, n: int) -> Cost:
        """Return the cost of sequential passive learning: T(n).

        For many more entries than T was measured on, the result is only an order of magnitude.

        Parameters
        ----------
        n : int
            Examples seen.

        Returns
        -------
        Cost
            The row of the table.
        """
        seconds = self._warmstart(n) + self.train_seconds(n, len(self._each_round(n).examples))
        return Cost(seconds, seconds, 0.0)

    def sequential_active(self, n: int) -> Cost:
        """Return the cost of sequential active learning: n S(phi) + T(phi).

        Parameters
        ----------
        n : int
            Examples seen.

        Returns
        -------
        Cost
            The row of the table.
        """
        rounds = self._each_round(n)
        seconds = self._warmstart(n) + float(np.sum(rounds.sift) + np.sum(rounds.update))
        return Cost(seconds, seconds, 0.0)

    def parallel_active(self, n: int, nodes: int) -> Cost:
        """Return the cost of parallel active learning.

        Operations are n S(phi) + k T(phi), the time is n S(phi)/k + T(phi), and broadcasts are phi(n).

        Parameters
        ----------
        n : int
            Examples seen.
        nodes : int
            k: number of nodes.

        Returns
        -------
        Cost
            The row of the table.
        """
        rounds, predicted = self._each_round(n), self.predict(n, nodes)
        learning = self._warmstart(n) + float(np.sum(rounds.update))
        operations = float(np.sum(rounds.sift)) + whole("nodes", nodes, 1) * learning
        return Cost(operations, predicted.seconds, float(self.selected(n)))

    def enough_nodes(self, n: int) -> float:
        """Return n/phi(n): the number of nodes with which sifting no longer dominates.

        This assumes that scoring an example costs about as much as learning one.

        Parameters
        ----------
        n : int
            Examples seen.

        Returns
        -------
        float
            Number of nodes.
        """
        return whole("n", n, 1) / max(float(self.selected(n)), 1.0)

    # With a network ----------------------------------------------------------------------------------------------

    def predict(self, n: int, nodes: int, link: Link | None = None) -> Prediction:
        """Predict the time of k nodes.

        A round of B examples takes ceil(B/k) S(m) to sift, then dT for each of its entries to learn. With more than one
        node, a round also takes two latencies, the entries from the nodes to the driver, and to each node the entries
        or the model, whichever is smaller. In the asynchronous schedule, messages travel while nodes work, and count
        only if they take longer. In the pipelined schedule of version 0.1, a round is sifted while the round `lag`
        before it is learned.

        Parameters
        ----------
        n : int
            Examples seen.
        nodes : int
            k: number of nodes.
        link : Link, optional
            Latency and bandwidth. Default: messages take no time.

        Returns
        -------
        Prediction
            Time of each activity, and in total.

        Raises
        ------
        InputError
            If n gives more than ten million rounds.
        """
        k, link = whole("nodes", nodes, 1), link or Link()
        rounds, warmstart = self._each_round(n), self._warmstart(n)
        share = np.ceil(rounds.examples / k) / np.maximum(rounds.examples, 1)
        sift, network = rounds.sift * share, self._network(rounds, k, link)
        if self.schedule == "pipelined":
            early, late = np.split(rounds.update, [max(len(sift) - self.lag, 0)])
            behind = np.concatenate([np.zeros(len(late)), early])
            elapsed = float(np.sum(np.maximum(sift + network, behind)) + np.sum(late))
        elif self.schedule == "asynchronous":
            elapsed = max(float(np.sum(sift + rounds.update)), float(np.sum(network)))
        else:
            elapsed = float(np.sum(sift + rounds.update + network))
        fetched = min(n, self.warmstart) + float(np.sum(rounds.examples * share))
        return Prediction(
            k, warmstart, float(np.sum(sift)), float(np.sum(rounds.update)), float(np.sum(network)),
            fetched * self.fetch, warmstart + elapsed,
        )  # fmt: skip

    def sends(self, n: int) -> dict[str, float | None]:
        """Return the bytes that a run sends to each node.

        Parameters
        ----------
        n : int
            Examples seen.

        Returns
        -------
        dict of str to float or None
            "replicated": bytes of all entries. "central": bytes of the model of each round; None if not known.
        """
        rounds = self._each_round(n)
        entries = float(np.sum(rounds.entries)) * self.entry_bytes
        model = None if self.model_bytes is None else float(np.sum(self.model_bytes.at(rounds.model)))
        return {"replicated": entries, "central": model}

    def _network(self, rounds: _Rounds, nodes: int, link: Link) -> Doubles:
        """Return the network time of each round, in seconds."""
        if nodes == 1:
            return np.zeros(len(rounds.examples))
        entries = rounds.entries * self.entry_bytes
        each = entries if self.model_bytes is None else np.minimum(entries, self.model_bytes.at(rounds.model))
        messages = 0.0 if self.schedule == "asynchronous" else 2 * link.latency
        return messages + link.seconds(entries + nodes * each)

    def _warmstart(self, n: int) -> float:
        """Return the time of the first n examples of the warmstart, in seconds."""
        return self.warmstart_seconds * min(whole("n", n, 0) / max(self.warmstart, 1), 1.0)

    def _each_round(self, n: int) -> _Rounds:
        count = -(-max(whole("n", n, 0) - self.warmstart, 0) // self.batch)
        if count > _MAX_ROUNDS:
            raise InputError(
                f"{n} examples are {count} rounds",
                why=f"a prediction adds up at most {_MAX_ROUNDS} of them",
                remedy="give fewer examples, or a run with a larger batch",
            )
        ends = np.minimum(self.warmstart + self.batch * np.arange(count + 1.0), n)
        entries = self.selected(ends)
        examples, new, before = np.diff(ends), np.diff(entries), entries[:-1]
        update = new * self.learn.at(before + new / 2) + self.settle
        return _Rounds(examples, new, before, examples * self.score.at(before), update)
