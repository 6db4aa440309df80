"""Questions to an oracle and its answers in a run file. They survive a loss of power, whatever the durability."""

from __future__ import annotations

from collections.abc import Sequence

from paraactive.data.examples import Ints
from paraactive.runs.runfile.chain import replace_rows
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.stored import SQLValue
from paraactive.sifting.log import Question


class OracleQuestions:
    """Reads and writes questions and answers; see `oracle.Answers`.

    Parameters
    ----------
    database : Database
        The open run file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.forget()

    def forget(self) -> None:
        """Read both tables again at the next call. Only this process writes them, so they are read once."""
        self._answers: dict[int, int | None] | None = None
        # Questions without an answer: position -> (batch, position, key).
        self._open: dict[int, tuple[str, int, int]] | None = None

    def answers(self) -> dict[int, int | None]:
        """Return the label for each position that was answered. None: the row was skipped."""
        if self._answers is None:
            with self._database.reading():
                self._answers = dict(self._database.execute("SELECT position, y FROM answers"))
        return self._answers

    def open_questions(self) -> list[Question]:
        """Return the questions that were asked and not answered."""
        if not self._database.has_hashes:  # That format has no questions.
            return []
        if self._open is None:
            with self._database.reading():
                rows = self._database.execute(
                    "SELECT batch, position, key FROM questions WHERE position NOT IN (SELECT position FROM answers) "
                    "ORDER BY position"
                )
                self._open = {row[1]: row for row in rows}
        return Question.grouped(self._open.values())

    def asked(self) -> dict[int, int]:
        """Return position -> row of the user's data for all questions, answered or not."""
        if not self._database.has_hashes:
            return {}
        with self._database.reading():
            return dict(self._database.execute("SELECT position, key FROM questions"))

    def count_answers(self, first: int, last: int) -> int:
        """Count the answers for the positions first <= position < last.

        Parameters
        ----------
        first, last : int
            Range of positions in the stream.

        Returns
        -------
        int
            Number of answers.
        """
        with self._database.reading():
            statement = "SELECT count(*) FROM answers WHERE position >= ? AND position < ?"
            return self._database.fetch_one(statement, first, last)[0]

    def record_question(self, question: Question) -> None:
        """Write a question before the oracle is asked.

        Parameters
        ----------
        question : Question
            The question.
        """
        pairs = list(zip(question.position.tolist(), question.key.tolist(), strict=True))
        rows: list[tuple[SQLValue, ...]] = [(*pair, question.batch) for pair in pairs]
        with self._database.writing(), self._database.surviving_power_loss():
            replace_rows(self._database.connection, "questions", rows)
        if self._open is not None:
            self._open.update({position: (question.batch, position, key) for position, key in pairs})

    def record_answers(self, position: Ints, y: Sequence[int | None]) -> None:
        """Write answers, which are kept even if the round that asked for them is lost.

        Parameters
        ----------
        position : array of int
            Positions in the stream.
        y : sequence of int or None
            The label of each position. None: the row is skipped.
        """
        rows: list[tuple[int, int | None]] = list(zip(position.tolist(), y, strict=True))
        with self._database.writing(), self._database.surviving_power_loss():
            replace_rows(self._database.connection, "answers", rows)
        self.answers().update(rows)
        for answered, _ in rows:
            (self._open or {}).pop(answered, None)

    def commit(self) -> None:
        """Make all rounds durable that have ended."""
        self._database.commit()
