"""Labels that cost money: an oracle is asked only for the labels of selected examples, in batches, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from paraactive.errors import InputError
from paraactive.events import Round
from paraactive.examples import Entries, Features, Floats, Ints, Labels, Selected, SparseRows
from paraactive.log import Log
from paraactive.streams.columns import label_column, named_labels
from paraactive.validation import whole


@dataclass(frozen=True)
class Oracle:
    """Who knows the labels, and what they may cost.

    `ask(index, x)` is called with positions in the stream and their rows, at most `batch` at a time, and returns a
    label for each, by the names of the stream's classes; sparse rows come dense. It is never asked twice for one
    position, and at most for `budget` labels in all: where it would be for more, the run ends.

    >>> import numpy as np
    >>> from paraactive import LaSVM, train
    >>> from paraactive.streams import Unlabelled
    >>> x = np.random.default_rng(0).normal(size=(3000, 2))
    >>> asked = []
    >>> def friend(index, rows):
    ...     asked.extend(index)
    ...     return np.where(np.hypot(rows[:, 0], rows[:, 1]) > 1.2, "outside", "inside")
    >>> stream = Unlabelled(x, classes=("inside", "outside"))
    >>> run = train(LaSVM(gamma=1.0, gap=0.2), stream, warmstart=100, batch=200, oracle=Oracle(friend, budget=400))
    >>> error = np.mean((run.learner.score(x) > 0) != (np.hypot(x[:, 0], x[:, 1]) > 1.2))
    >>> print(f"{len(asked)} labels for more than 2000 rows: {run.seen > 2000}, error {error:.2f}")
    400 labels for more than 2000 rows: True, error 0.02
    """

    ask: Callable[[Ints, Floats], Iterable[Any]]
    budget: int | None = None
    """Labels that may be asked for in all; None: as many as are selected."""
    batch: int = 100
    """Labels asked for at once, at most."""

    def __post_init__(self) -> None:
        if not callable(self.ask):
            raise InputError(
                f"ask is of type {type(self.ask).__name__}",
                why="it is called for labels",
                remedy="give a function of positions and rows that returns a label for each",
            )
        if self.budget is not None:
            whole("budget", self.budget, 1)
        whole("batch", self.batch, 1)


class Answers(Protocol):
    """Where labels that were paid for are kept, by position: they are never asked for again."""

    def answers(self) -> Mapping[int, int]:
        """Those known so far."""
        ...

    def remember(self, index: Ints, y: Labels) -> None:
        """These were told; they are safe from now on."""
        ...

    def secure(self) -> None:
        """All rounds so far are safe from now on."""
        ...


class BudgetSpent(Exception):  # noqa: N818 (it is the end of a run, not an error)
    """No more labels may be asked for. The last round ended where the next one would have been needed."""

    def __init__(self, ended: Round) -> None:
        super().__init__()
        self.ended = ended


class AskingLog:
    """A log that asks for the labels of what it is given, before it gives it a place.

    When the money runs out in a round, the round ends before the first example that nobody can be asked for. A resumed
    run takes it for one that was cut short, and does it again, whole.
    """

    def __init__(self, log: Log, answers: Answers, oracle: Oracle, classes: tuple[str, ...]) -> None:
        self._log, self._answers, self._oracle, self._classes = log, answers, oracle, classes
        self._ends_at: int | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def append(self, selected: Selected) -> Entries:
        """See `Log.append`."""
        known = dict(self._answers.answers())
        return self._log.append(self._labelled(self._affordable(selected, known), known))

    def end_round(self, ended: Round) -> None:
        """See `Log.end_round`."""
        if self._ends_at is None:
            return self._log.end_round(ended)
        ended = replace(ended, seen=self._ends_at, selected=ended.version - self._log.round_version)
        self._log.end_round(ended)
        raise BudgetSpent(ended)

    def _affordable(self, selected: Selected, known: dict[int, int]) -> Selected:
        """As many from the beginning as there is money for."""
        if self._oracle.budget is None:
            return selected
        missing = [index not in known for index in selected.examples.index.tolist()]
        beyond = np.flatnonzero(len(known) + np.cumsum(missing) > self._oracle.budget)
        if not len(beyond):
            return selected
        self._ends_at = int(selected.examples.index[beyond[0]])
        return selected.take(slice(0, int(beyond[0])))

    def _labelled(self, selected: Selected, known: dict[int, int]) -> Selected:
        examples = selected.examples
        index = examples.index.tolist()
        missing = np.array([row for row, position in enumerate(index) if position not in known], np.intp)
        if len(missing):
            self._answers.secure()  # It may take days, or end here.
        for start in range(0, len(missing), self._oracle.batch):
            rows = missing[start : start + self._oracle.batch]
            told = self._ask(examples.index[rows], _dense(examples.x[rows]))
            self._answers.remember(examples.index[rows], told)
            known.update(zip(examples.index[rows].tolist(), told.tolist(), strict=True))
        y = np.array([known[position] for position in index], np.int8)
        return replace(selected, examples=replace(examples, y=y))

    def _ask(self, index: Ints, x: Floats) -> Labels:
        given = self._oracle.ask(index, x)
        if given is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise InputError("the oracle gave nothing", why="it is asked for labels", remedy="return one for each row")
        labels = label_column(given if isinstance(given, np.ndarray) else list(given))
        if len(labels) != len(index):
            raise InputError(
                f"the oracle gave {len(labels)} labels for {len(index)} examples",
                why="each has one",
                remedy="return one label for each position, in their order",
            )
        return named_labels(labels, self._classes)


def _dense(x: Features) -> Floats:
    return x.dense() if isinstance(x, SparseRows) else x
