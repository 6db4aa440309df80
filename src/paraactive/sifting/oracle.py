"""Labels that cost money: an oracle is asked only for the labels of selected examples, in batches, within a budget."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from paraactive.basics.validation import whole
from paraactive.data.events import Round
from paraactive.data.examples import Entries, Floats, Ints, Selected, dense
from paraactive.errors import InputError
from paraactive.sifting.log import Log, Question
from paraactive.streams.base import Stream
from paraactive.streams.label_checks import label_column, named_labels


@dataclass(frozen=True)
class Oracle:
    """A source of labels, and limits on what they may cost.

    Parameters
    ----------
    ask : function of (rows, x), or of (rows, x, key)
        Called with row numbers of the user's data and the features of these rows, at most `batch` at a time. Returns a
        label for each row, by the names of the stream's classes, or None for a row that is to be skipped. Sparse
        features come dense. If it has a parameter named `key`, it is given, by that name, a text that is the same
        whenever the same rows are asked for again.
    budget : int or None
        Rows that may be asked for in all; the run ends where it would need more. None: no limit.
    batch : int
        Rows asked for in one call, at most.
    per_round : int or None
        Rows asked for in one round after the warmstart, at most. The round ends there, and the model learns these
        labels before it selects more. None: no limit.

    Notes
    -----
    A question is on disk before it is asked, and counts against the budget from then on. A run that is killed before it
    has written the answers down asks this one batch again when it is resumed, with the same key; no other row is ever
    asked for twice. So an oracle that is paid by the label should keep its answers by `key`.

    Examples
    --------
    >>> import numpy as np
    >>> from paraactive import LaSVM, train
    >>> from paraactive.streams import Unlabelled
    >>> x = np.random.default_rng(0).normal(size=(3000, 2))
    >>> y = np.where(np.hypot(x[:, 0], x[:, 1]) > 1.2, "outside", "inside")
    >>> asked = []
    >>> def friend(rows, features):
    ...     asked.extend(rows)
    ...     return y[rows]
    >>> stream = Unlabelled(x, classes=("inside", "outside"))
    >>> run = train(LaSVM(gamma=1.0, gap=0.2), stream, warmstart=100, batch=200, oracle=Oracle(friend, budget=400))
    >>> error = np.mean((run.learner.score(x) > 0) != (y == "outside"))
    >>> print(f"{len(asked)} labels, error {error:.2f}")
    400 labels, error 0.02
    """

    ask: Callable[[Ints, Floats], Iterable[Any]] | Callable[[Ints, Floats, str], Iterable[Any]]
    budget: int | None = None
    batch: int = 100
    per_round: int | None = None

    def __post_init__(self) -> None:
        if not callable(self.ask):
            raise InputError(
                f"ask is of type {type(self.ask).__name__}",
                why="it is called for labels",
                remedy="give a function of row numbers and rows that returns a label for each",
            )
        for name in ("budget", "per_round"):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), 1)
        whole("batch", self.batch, 1)
        try:
            inspect.signature(self.ask).bind(None, None, **({"key": ""} if self.takes_key else {}))
        except TypeError as error:
            raise InputError(
                "ask cannot be called with rows and their features",
                why=str(error),
                remedy="give a function of (rows, x), or of (rows, x, key)",
            ) from None
        except ValueError:  # A function that is not written in Python may have no signature.
            pass

    @property
    def takes_key(self) -> bool:
        """True if `ask` has a parameter `key`."""
        try:
            return "key" in inspect.signature(self.ask).parameters
        except (TypeError, ValueError):  # A function that is not written in Python may have no signature.
            return False


class Answers(Protocol):
    """Keeps questions, and the labels that were paid for, by position."""

    def answers(self) -> Mapping[int, int | None]:
        """The labels so far, by position; None for a row that was skipped."""
        ...

    def open_questions(self) -> list[Question]:
        """Questions that were asked and not answered."""
        ...

    def record_question(self, question: Question) -> None:
        """Write down a question before it is asked.

        Parameters
        ----------
        question : Question
            The question. It is on disk when this returns.
        """
        ...

    def record_answers(self, position: Ints, y: Sequence[int | None]) -> None:
        """Write down answers.

        Parameters
        ----------
        position : array of int64
            Positions in the stream.
        y : sequence of int or None
            Their labels; None for a row that was skipped. They are on disk when this returns.
        """
        ...

    def commit(self) -> None:
        """Write all rounds so far to disk."""
        ...


class BudgetSpent(Exception):  # noqa: N818 (it is the end of a run, not an error)
    """The budget is spent. The last round ended before the first example whose label could not be asked for.

    Parameters
    ----------
    ended : Round
        The last round.
    """

    def __init__(self, ended: Round) -> None:
        super().__init__()
        self.ended = ended


class AskingLog:
    """A log that asks for the labels of selected examples before it appends them.

    If the budget is spent within a round, the round ends before the first example whose label cannot be asked for. A
    resumed run with a larger budget repeats this round as a whole.

    Parameters
    ----------
    log : Log
        The log to append to.
    answers : Answers
        Keeps questions and answers.
    oracle : Oracle
        Is asked for labels.
    stream : Stream
        The stream, which reads the features of open questions again.
    """

    def __init__(self, log: Log, answers: Answers, oracle: Oracle, stream: Stream) -> None:
        self._log, self._answers, self._oracle, self._stream = log, answers, oracle, stream
        self._ends_at: int | None = None
        """Position where the present round ends, if it ends before its last example."""
        self._is_spent = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def append(self, selected: Selected) -> Entries:
        """See `Log.append`."""
        known = dict(self._answers.answers())
        asked = {position for question in self._answers.open_questions() for position in question.position.tolist()}
        selected = self._affordable(self._within_round(selected), known.keys() | asked)
        return self._log.append(self._labelled(selected, known))

    def round_end(self, last: int) -> int:
        """See `Log.round_end`."""
        return last if self._ends_at is None else self._ends_at

    def end_round(self, ended: Round) -> Round:
        """See `Log.end_round`."""
        seen = ended.seen if self._ends_at is None else self._ends_at
        self._ends_at = None
        ended = replace(ended, seen=seen, selected=ended.version - self._log.round_version)
        self._log.end_round(ended)
        if self._is_spent:
            raise BudgetSpent(ended)
        return ended

    def _within_round(self, selected: Selected) -> Selected:
        """The first examples, as many as may be asked for in one round. The warmstart has no such limit."""
        most = self._oracle.per_round
        if most is None or not self._log.rounds or len(selected) <= most:
            return selected
        return self._up_to(most, selected)

    def _affordable(self, selected: Selected, paid: Set[int]) -> Selected:
        """The first examples, as many as the budget allows. Labels that were paid for cost nothing."""
        if self._oracle.budget is None:
            return selected
        new = [position not in paid for position in selected.examples.index.tolist()]
        beyond = np.flatnonzero(len(paid) + np.cumsum(new) > self._oracle.budget)
        beyond = beyond[np.asarray(new, bool)[beyond]]
        if not len(beyond):
            return selected
        self._is_spent = True
        return self._up_to(int(beyond[0]), selected)

    def _up_to(self, count: int, selected: Selected) -> Selected:
        self._ends_at = int(selected.examples.index[count])
        return selected.take(slice(0, count))

    def _labelled(self, selected: Selected, known: dict[int, int | None]) -> Selected:
        """The selected examples with their labels, without skipped rows."""
        examples = selected.examples
        row_of = {position: row for row, position in enumerate(examples.index.tolist())}
        for question, x in self._open_questions(selected, known, row_of):
            labels = self._ask(question, x)
            self._answers.record_answers(question.position, labels)
            known.update(zip(question.position.tolist(), labels, strict=True))
        y = [known[position] for position in row_of]
        kept = np.array([row for row, label in enumerate(y) if label is not None], np.intp)
        labels = np.array([label for label in y if label is not None], np.int8)
        if len(kept) < len(y):
            selected = selected.take(kept)
        return replace(selected, examples=replace(selected.examples, y=labels))

    def _open_questions(
        self, selected: Selected, known: dict[int, int | None], row_of: dict[int, int]
    ) -> Iterator[tuple[Question, Floats]]:
        """Questions to ask now, with features. Questions of a killed run come first, as they were."""
        missing = [position for position in row_of if position not in known]
        if missing:
            self._answers.commit()  # The answer may take days, or the run may be killed while it waits.
        for question in self._answers.open_questions():
            if row_of.keys() & set(question.position.tolist()):  # A question may have rows that are no longer selected.
                yield question, dense(self._stream.at(question.position).x)
        examples = selected.examples
        missing = [row_of[position] for position in missing if position not in known]
        for start in range(0, len(missing), self._oracle.batch):
            rows = np.array(missing[start : start + self._oracle.batch], np.intp)
            x = dense(examples.x[rows])
            question = Question(_batch_key(examples.key[rows], x), examples.index[rows], examples.key[rows])
            self._answers.record_question(question)
            yield question, x

    def _ask(self, question: Question, x: Floats) -> list[int | None]:
        ask: Any = self._oracle.ask
        given = ask(question.key, x, **({"key": question.batch} if self._oracle.takes_key else {}))
        if given is None:
            raise InputError("the oracle gave nothing", why="it is asked for labels", remedy="return one for each row")
        answers = [*given]
        if len(answers) != len(question):
            raise InputError(
                f"the oracle gave {len(answers)} labels for {len(question)} examples",
                why="each example has one label",
                remedy="return one label for each row, in their order, or None to skip it",
            )
        labels = [label for label in answers if label is not None]
        names = iter(named_labels(label_column(labels), tuple(self._stream.classes)).tolist() if labels else ())
        return [None if label is None else next(names) for label in answers]


def _batch_key(rows: Ints, x: Floats) -> str:
    """A hash of the rows and their features."""
    total = hashlib.sha256(np.ascontiguousarray(rows, "<i8").tobytes())
    total.update(np.ascontiguousarray(x, "<f4").tobytes())
    return total.hexdigest()[:32]
