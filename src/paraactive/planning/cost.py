"""The paper's cost model: what k nodes take, from S (scoring), T (learning) and phi (how many are selected).

Only arithmetic here; `planning` finds S, T and phi from a recorded run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from paraactive.basics.validation import number, positive, whole
from paraactive.data.examples import Doubles
from paraactive.errors import InputError

_MOST_ROUNDS = 10_000_000


class Line(NamedTuple):
    """fixed + slope * m, and never below 0.

    >>> Line(1.0, -0.5).at([1, 4]).tolist()
    [0.5, 0.0]
    """

    fixed: float
    slope: float = 0.0

    def at(self, m: Any) -> Any:
        """Its value at m."""
        return np.maximum(self.fixed + self.slope * np.asarray(m, np.float64), 0.0)


@dataclass(frozen=True)
class Link:
    """What moves between machines: a message of b bytes takes latency + b / bandwidth seconds.

    By default it costs nothing, as in the paper.

    >>> Link(latency=0.001, bandwidth=1e8).seconds(1e6)
    0.01
    """

    latency: float = 0.0
    bandwidth: float = math.inf

    def __post_init__(self) -> None:
        if not 0 <= number("latency", self.latency) <= 1e6:
            raise InputError(f"latency is {self.latency!r}", why="it is a time", remedy="give latency >= 0, in seconds")
        if self.bandwidth != math.inf and positive("bandwidth", self.bandwidth) < 1:
            raise InputError(
                f"bandwidth is {self.bandwidth!r}", why="less than a byte a second", remedy="give it in bytes a second"
            )

    def seconds(self, count: Any) -> Any:
        """Of so many bytes, without the latency."""
        return count / self.bandwidth


@dataclass(frozen=True)
class Cost:
    """A row of the paper's table."""

    operations: float
    """All work, over all nodes, in seconds of one of them."""
    seconds: float
    """Time until it is done."""
    broadcasts: float
    """Examples sent to all."""


@dataclass(frozen=True)
class Prediction:
    """Where the time of k nodes goes, in seconds."""

    nodes: int
    warmstart: float
    sift: float
    """On the node with the largest portions, as `update`."""
    update: float
    network: float
    fetch: float
    seconds: float
    """In all, on the paper's clock: fetching is not counted. Phases that overlap are counted once."""

    @property
    def wall(self) -> float:
        """With fetching."""
        return self.seconds + self.fetch

    @property
    def bound(self) -> str:
        """What most of the time is: sift, update or network."""
        parts = {"update": self.warmstart + self.update, "sift": self.sift, "network": self.network}
        return max(parts, key=lambda name: parts[name])


class _Rounds(NamedTuple):
    """For each round: fresh examples, new entries, entries of the model that sifts, seconds of one node."""

    examples: Doubles
    entries: Doubles
    model: Doubles
    sift: Doubles
    update: Doubles


@dataclass(frozen=True)
class CostModel:
    """Time of a run as a function of n (examples seen) and k (nodes).

    With the paper's S(m), seconds to score one example by a model of m entries, T(m), seconds to learn m entries, and
    phi(n), entries after n examples:

        sequential passive   operations T(n)                 time T(n)                  broadcasts 0
        sequential active    operations n S(phi) + T(phi)    time n S(phi) + T(phi)     broadcasts 0
        parallel active      operations n S(phi) + k T(phi)  time n S(phi)/k + T(phi)   broadcasts phi

    The paper scores everything at the last S(phi(n)); here it is summed over the rounds, as the model grows. About
    k = n/phi(n) nodes keep sifting from dominating.

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
    """S(m)."""
    learn: Line
    """dT/dm: seconds to learn one entry, by a model of m entries."""
    settle: float
    """Seconds of learning in each round, however few its entries."""
    scale: float
    """phi(n) = warmstart + scale * (n - warmstart)^exponent."""
    exponent: float
    fetch: float = 0.0
    """Seconds to make or read an example."""
    entry_bytes: float = 0.0
    model_bytes: Line | None = None
    """What a model of m entries weighs, if known."""
    schedule: str = "synchronous"
    lag: int = 0
    """Pipelined: rounds that the sifting model is behind."""

    def __post_init__(self) -> None:
        whole("warmstart", self.warmstart, 0)
        whole("batch", self.batch, 1)

    def selected(self, n: Any) -> Any:
        """phi(n) = warmstart + scale (n - warmstart)^exponent, or n while the warmstart lasts."""
        sifted = np.maximum(np.asarray(n, np.float64) - self.warmstart, 0.0)
        power = np.where(sifted > 0, sifted**self.exponent, 0.0)
        return np.minimum(np.minimum(n, self.warmstart) + np.minimum(self.scale * power, sifted), n)

    def train_seconds(self, entries: float, rounds: float) -> float:
        """T after the warmstart: the integral of dT/dm from its end to so many entries, and what each round takes."""
        first = min(self.warmstart, entries)
        middle = (entries + first) / 2
        return float((entries - first) * self.learn.at(middle) + rounds * self.settle)

    # The three kinds of run --------------------------------------------------------------------------------------

    def passive(self, n: int) -> Cost:
        """Sequential passive: T(n). Far beyond the entries that T was measured on it is only an order of magnitude."""
        seconds = self._warmstart(n) + self.train_seconds(n, len(self._each_round(n).examples))
        return Cost(seconds, seconds, 0.0)

    def sequential_active(self, n: int) -> Cost:
        """Sequential active: n S(phi) + T(phi)."""
        rounds = self._each_round(n)
        seconds = self._warmstart(n) + float(np.sum(rounds.sift) + np.sum(rounds.update))
        return Cost(seconds, seconds, 0.0)

    def parallel_active(self, n: int, nodes: int) -> Cost:
        """Parallel active: operations n S(phi) + k T(phi), time n S(phi)/k + T(phi), broadcasts phi(n)."""
        rounds, predicted = self._each_round(n), self.predict(n, nodes)
        learning = self._warmstart(n) + float(np.sum(rounds.update))
        operations = float(np.sum(rounds.sift)) + whole("nodes", nodes, 1) * learning
        return Cost(operations, predicted.seconds, float(self.selected(n)))

    def enough_nodes(self, n: int) -> float:
        """n/phi(n): with so many nodes sifting no longer dominates, if scoring costs about as much as learning."""
        return whole("n", n, 1) / max(float(self.selected(n)), 1.0)

    # With a network ----------------------------------------------------------------------------------------------

    def predict(self, n: int, nodes: int, link: Link | None = None) -> Prediction:
        """The time of k nodes, phase by phase.

        A round of B examples takes ceil(B/k) S(m) to sift, then dT of its entries to learn. On the network it takes two
        messages of latency, its entries once from the nodes to the driver, and to each of the k nodes what `sends` says
        is less, entries or model; with one node nothing. Pipelined, a round is sifted while the one `lag` before it is
        learnt; asynchronously, messages are on the way while nodes work, and count where they take longer than that.
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
        """Bytes that a run sends to each node: `replicated` all entries, `central` the model of each round."""
        rounds = self._each_round(n)
        entries = float(np.sum(rounds.entries)) * self.entry_bytes
        model = None if self.model_bytes is None else float(np.sum(self.model_bytes.at(rounds.model)))
        return {"replicated": entries, "central": model}

    def _network(self, rounds: _Rounds, nodes: int, link: Link) -> Doubles:
        """Seconds of each round."""
        if nodes == 1:
            return np.zeros(len(rounds.examples))
        entries = rounds.entries * self.entry_bytes
        each = entries if self.model_bytes is None else np.minimum(entries, self.model_bytes.at(rounds.model))
        messages = 0.0 if self.schedule == "asynchronous" else 2 * link.latency
        return messages + link.seconds(entries + nodes * each)

    def _warmstart(self, n: int) -> float:
        """Its seconds, or the part of them that n examples are."""
        return self.warmstart_seconds * min(whole("n", n, 0) / max(self.warmstart, 1), 1.0)

    def _each_round(self, n: int) -> _Rounds:
        count = -(-max(whole("n", n, 0) - self.warmstart, 0) // self.batch)
        if count > _MOST_ROUNDS:
            raise InputError(
                f"{n} examples are {count} rounds",
                why=f"a prediction adds up at most {_MOST_ROUNDS} of them",
                remedy="give fewer examples, or a run with a larger batch",
            )
        ends = np.minimum(self.warmstart + self.batch * np.arange(count + 1.0), n)
        entries = self.selected(ends)
        examples, new, before = np.diff(ends), np.diff(entries), entries[:-1]
        update = new * self.learn.at(before + new / 2) + self.settle
        return _Rounds(examples, new, before, examples * self.score.at(before), update)
