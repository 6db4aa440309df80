"""All errors and warnings of the package. The message of an error is one line with the fact, the reason and the remedy.

The errors inherit from the exceptions that scikit-learn users catch: `ValueError` for bad input, `OSError` for a bad
file.
"""

_MAX_NAME_LENGTH = 60


class ParaActiveError(Exception):
    """Base class of every error that paraactive raises on purpose.

    Parameters
    ----------
    fact : str
        What is wrong, such as "eta is 0".
    why : str
        Why it is wrong.
    remedy : str
        What to do about it. The message ends with a period unless the remedy ends with a question mark.

    Examples
    --------
    >>> print(ParaActiveError("eta is 0", why="the coin would never drop an example", remedy="give eta > 0"))
    eta is 0: the coin would never drop an example; give eta > 0.
    """

    def __init__(self, fact: str, *, why: str, remedy: str) -> None:
        super().__init__(fact, why, remedy)
        self.fact, self.why, self.remedy = fact, why, remedy

    def __str__(self) -> str:
        return f"{self.fact}: {self.why}; {self.remedy}{'' if self.remedy.endswith('?') else '.'}"

    def __reduce__(self) -> tuple[object, ...]:
        # Errors are sent between processes. The default would call __init__ without the keywords.
        return _rebuild, (type(self), self.fact, self.why, self.remedy)


def _rebuild(kind: type[ParaActiveError], fact: str, why: str, remedy: str) -> ParaActiveError:
    return kind(fact, why=why, remedy=remedy)


class InputError(ParaActiveError, ValueError):
    """Data or a parameter that cannot be used."""


class MissingExtraError(ParaActiveError, ImportError):
    """An optional library that is not installed."""


class NodesLostError(ParaActiveError):
    """Nodes that cannot be started, or that die repeatedly."""


class ReplicaError(ParaActiveError):
    """Replicas of one log that differ, where it is not known which one is right."""


class ClusterError(ParaActiveError, ConnectionError):
    """A cluster that cannot be reached or used."""


class ClusterLostError(ClusterError):
    """A cluster that was lost during a run."""


class LogGapError(ParaActiveError):
    """Entries that do not start where the replica stands in the log."""


class RunFileError(ParaActiveError, OSError):
    """A run file that is missing, damaged, of another kind or version, or that cannot be written."""


class RunFileLockedError(RunFileError):
    """A run file that another process is writing."""


class ReplayError(ParaActiveError):
    """A log whose replay gives another model than the run file records."""


class CheckError(ParaActiveError):
    """A part that violates its protocol. The fact begins with the name of the violated property."""


class ReplicaWarning(RuntimeWarning):
    """A replica differed from the others and was rebuilt."""


class SlowScoresWarning(RuntimeWarning):
    """A model of another library is scored row by row, because its scores depend on the other rows of a batch."""


class PassiveWarning(UserWarning):
    """The default rule learns every example, because sifting does not suit the learner."""


class RunFileWarning(UserWarning):
    """A problem of a run file that does not prevent reading it."""


class NodeWarning(RuntimeWarning):
    """A node was lost or did not start. The run continues without it."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun in the singular or plural, for a message.

    Parameters
    ----------
    number : int
        How many.
    noun : str
        The noun in the singular.
    plural : str, optional
        The plural. Default: the noun with an "s".

    Returns
    -------
    str
        Such as "2,000 rows".

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(0, "class", "classes")
    ('1 row', '2,000 rows', '0 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def quoted_names(names: list[str]) -> str:
    """Return at most five of the names in quotes, for a message. Long names are shortened.

    Parameters
    ----------
    names : list of str
        Names to quote.

    Returns
    -------
    str
        The names, separated by commas.

    Examples
    --------
    >>> quoted_names(["ham", "s" * 1000])
    "'ham', 'ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss...'"
    """
    shown = [repr(name if len(name) <= _MAX_NAME_LENGTH else name[:_MAX_NAME_LENGTH] + "...") for name in names[:5]]
    return ", ".join(shown) + (", ..." if len(names) > 5 else "")


def cannot_write(path: object, error: OSError) -> InputError:
    """Return the error for a file that cannot be written.

    Parameters
    ----------
    path : str or Path
        The file.
    error : OSError
        What the operating system reported.

    Returns
    -------
    InputError
        Error to raise.
    """
    return InputError(
        f"cannot write {path}",
        why=(error.strerror or str(error)).lower(),
        remedy="give a path in an existing folder that you may write to",
    )
