"""Go back in the log of a run file: drop a round that the end of the run cut short, or correct a label."""

from __future__ import annotations

from paraactive.data.events import Round
from paraactive.runs.runfile.chain import replace_rows, seal_all
from paraactive.runs.runfile.database import Database
from paraactive.runs.runfile.entries import EntryTable
from paraactive.runs.runfile.log_end import LogEnd
from paraactive.runs.runfile.log_reader import LogReader
from paraactive.runs.runfile.questions import OracleQuestions
from paraactive.schedules.plan import Plan


class LogRevision:
    """Removes rounds and changes labels.

    Parameters
    ----------
    database : Database
        The open run file.
    end : LogEnd
        Where the log ends.
    reader : LogReader
        Reads the same log.
    questions : OracleQuestions
        Questions and answers in the same file.
    """

    def __init__(self, database: Database, end: LogEnd, reader: LogReader, questions: OracleQuestions) -> None:
        self._database, self._end, self._reader, self._questions = database, end, reader, questions

    def drop_short_round(self, plan: Plan, per_round: int | None = None) -> None:
        """Remove the last round if the end of the run cut it short. A longer run then learns the whole round.

        Parameters
        ----------
        plan : Plan
            The plan of the longer run.
        per_round : int, optional
            Number of labels after which a round ends. A round with that many labels is whole. Default: no limit.
        """
        rounds = list(self._reader.ended_rounds())
        if not rounds:
            return
        before = rounds[-2] if len(rounds) > 1 else None
        whole = plan.warmstart if before is None else before.seen + plan.batch
        if rounds[-1].seen >= whole:
            return
        if before and per_round and self._questions.count_answers(before.seen, rounds[-1].seen) >= per_round:
            return
        with self._database.writing():
            self._remove_models(rounds, rounds[-1].number)
            self._remove_rounds(rounds, rounds[-1].number)
        self._database.commit()
        self._end.refresh()

    def correct_label(self, position: int, y: int | None) -> None:
        """Change the answer of an oracle.

        If the model learned the example before and keeps it, the log keeps its entries with the new label, and the
        models after it are removed. Otherwise the log ends before the round of the example.

        Parameters
        ----------
        position : int
            Position of the example in the stream.
        y : int or None
            The label. None: the row is skipped.
        """
        rounds = list(self._reader.ended_rounds())
        number = next((ended.number for ended in rounds if ended.seen > position), None)
        database = self._database
        with database.writing(), database.surviving_power_loss():
            replace_rows(database.connection, "answers", [(position, y)])
            if number is not None:
                changed = 0
                if y is not None:
                    statement = "UPDATE entries SET y = ? WHERE position = ?"
                    changed = database.execute(statement, (y, position)).rowcount
                self._remove_models(rounds, number)
                if changed:
                    seal_all(database.connection, self._end.links(), EntryTable(database).stored)
                else:
                    self._remove_rounds(rounds, number)
        self._questions.forget()
        self._end.refresh()

    def _remove_rounds(self, rounds: list[Round], number: int) -> None:
        """Remove the rounds from this number on, with their entries."""
        version = rounds[number - 1].version if number else 0
        self._database.execute("DELETE FROM entries WHERE sequence >= ?", (version,))
        self._database.execute("DELETE FROM rounds WHERE number >= ?", (number,))

    def _remove_models(self, rounds: list[Round], number: int) -> None:
        """Remove the models after this number of rounds, and the events about them, which a replay would compare."""
        self._database.execute("DELETE FROM snapshots WHERE rounds > ?", (number,))
        self._database.execute(
            "DELETE FROM events WHERE kind IN ('SnapshotTaken', 'Evaluated', 'RunEnded') "
            "AND json_extract(payload, '$.seen') > ?",
            (rounds[number - 1].seen if number else 0,),
        )
