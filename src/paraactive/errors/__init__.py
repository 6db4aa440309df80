"""All errors of the house. Each says the fact, the reason and the remedy, in one line.

What a scikit-learn user would catch (``ValueError`` for bad input, ``OSError`` for a bad file) catches ours too.
"""

_LONGEST_NAME = 60


class ParaActiveError(Exception):
    """Base of every error that paraactive raises on purpose.

    >>> print(ParaActiveError("eta is 0", why="the coin would never drop an example", remedy="give eta > 0"))
    eta is 0: the coin would never drop an example; give eta > 0.
    """

    def __init__(self, fact: str, *, why: str, remedy: str) -> None:
        super().__init__(fact, why, remedy)
        self.fact, self.why, self.remedy = fact, why, remedy

    def __str__(self) -> str:
        return f"{self.fact}: {self.why}; {self.remedy}{'' if self.remedy.endswith('?') else '.'}"

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders; the default would call __init__ without the keywords.
        return _rebuild, (type(self), self.fact, self.why, self.remedy)


def _rebuild(kind: type[ParaActiveError], fact: str, why: str, remedy: str) -> ParaActiveError:
    return kind(fact, why=why, remedy=remedy)


class InputError(ParaActiveError, ValueError):
    """Data or a parameter that cannot be used."""


class MissingExtraError(ParaActiveError, ImportError):
    """An optional library that is not installed."""


class NodesLostError(ParaActiveError):
    """Nodes that cannot be started, or die again and again."""


class ReplicaError(ParaActiveError):
    """Replicas of one log that differ, and cannot be told which is right."""


class ClusterError(ParaActiveError, ConnectionError):
    """A cluster that cannot be reached or used."""


class ClusterLostError(ClusterError):
    """A cluster that was lost during a run."""


class LogGapError(ParaActiveError):
    """Entries that do not follow on what the replica has applied."""


class RunFileError(ParaActiveError, OSError):
    """A run file that is missing, corrupt, foreign, from another version, or cannot be written."""


class RunFileLockedError(RunFileError):
    """A run file that a live run is writing."""


class ReplayError(ParaActiveError):
    """A log that does not rebuild the model that the run file says it had."""


class CheckError(ParaActiveError):
    """A part that does not do what its contract says; the fact begins with the name of the property."""


class ReplicaWarning(RuntimeWarning):
    """A replica differed from the others, and was rebuilt."""


class SlowScoresWarning(RuntimeWarning):
    """A model of another library is scored row by row, because its bits depend on the rows beside."""


class RunFileWarning(UserWarning):
    """Something about a run file that the user should know; it is read all the same."""


class NodeWarning(RuntimeWarning):
    """A node was lost, or did not come; the run goes on without it."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """So many of a thing, in words for a message.

    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class", "classes")
    ('1 row', '2,000 rows', '0 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def quoted_names(names: list[str]) -> str:
    """At most five of the names, for an error, long ones cut.

    >>> quoted_names(["ham", "s" * 1000])
    "'ham', 'ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss...'"
    """
    shown = [repr(name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "...") for name in names[:5]]
    return ", ".join(shown) + (", ..." if len(names) > 5 else "")


def cannot_write(path: object, error: OSError) -> InputError:
    """What to raise where a file cannot be written."""
    return InputError(
        f"cannot write {path}",
        why=(error.strerror or str(error)).lower(),
        remedy="give a place that exists and that you may write to",
    )
