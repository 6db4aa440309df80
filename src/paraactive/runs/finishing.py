"""The finishing step of a run: at its end, the learner optimizes once more, on all entries of the log.

The log and its snapshots stay those of the model before it, so that a run that is extended equals one long run. The
finished model is a function of the log, and is stored beside the snapshots.
"""

from __future__ import annotations

from paraactive.basics.threads import one_blas_thread
from paraactive.data.examples import Selected
from paraactive.errors import InputError, ReplayError
from paraactive.learners.base import Learner, can_finish, finish_learner, proxy_of
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import RunSpec
from paraactive.sifting.budget import OPERATIONS_PER_VECTOR
from paraactive.streams import Stream

_CHEAP_OPERATIONS = 2e10
"""Operations up to which "auto" always finishes: less than a second. There are entries**2 * (features + 50)."""
_OPERATIONS_PER_EXAMPLE = 1.5e6
"""Operations for each example seen up to which "auto" finishes. The default budget stays within them."""


def check_finish(finish: bool | str, learner: Learner) -> bool | str:
    """Check the parameter `finish` of a run.

    Parameters
    ----------
    finish : bool or "auto"
        What the user gives.
    learner : Learner
        The learner. An InputError is raised if `finish` is True and the learner has no finishing step.

    Returns
    -------
    bool or "auto"
        The same.
    """
    if not isinstance(finish, bool) and finish != "auto":
        raise InputError(f"finish is {finish!r}", why='it must be True, False or "auto"', remedy='give finish="auto"')
    if finish is True and not can_finish(learner):
        raise InputError(
            "finish is True",
            why=f"{type(learner).__name__} has no finishing step; LaSVM has one",
            remedy='give finish="auto" or False',
        )
    return finish


def may_finish(spec: RunSpec, learner: Learner) -> bool:
    """Return whether a run may end with the finishing step. The entries have to be kept until then.

    Parameters
    ----------
    spec : RunSpec
        The description of the run.
    learner : Learner
        Its learner.
    """
    return spec.finish is not False and can_finish(learner)


def is_due(spec: RunSpec, learner: Learner, entries: int, seen: int) -> bool:
    """Return whether a run ends with the finishing step. With "auto", this is so if the step is cheap.

    The step scores each entry three to five times. That is cheap if it takes few operations (18 000 entries of 10
    features, or 4900 of 784), or few for each example seen. If the learner has a proxy, an example seen counts as the
    cost of its proxy score. All numbers are functions of the log, so the answer is the same on every engine.

    Parameters
    ----------
    spec : RunSpec
        The description of the run.
    learner : Learner
        The trained learner.
    entries : int
        Number of entries of the log.
    seen : int
        Number of examples seen.
    """
    if not entries or not may_finish(spec, learner):
        return False
    if spec.finish is True:
        return True
    proxy = proxy_of(learner)
    cost = 1.0 if proxy is None else proxy.cost
    operations = entries**2 * (spec.data.width + OPERATIONS_PER_VECTOR)
    return operations <= max(_CHEAP_OPERATIONS, _OPERATIONS_PER_EXAMPLE * cost * seen)


def finish_model(learner: Learner, selected: Selected) -> None:
    """Let a learner finish on all entries of a log.

    Parameters
    ----------
    learner : Learner
        The learner at the end of the log.
    selected : Selected
        All entries, in order.
    """
    with one_blas_thread():
        finish_learner(learner, selected)


def load_finished(file: RunFile, learner: Learner, stream: Stream | None) -> bool:
    """Give a learner the finished model of a run file, if the file has one for the present end of its log.

    Parameters
    ----------
    file : RunFile
        The run file.
    learner : Learner
        The learner at the end of the log.
    stream : Stream or None
        Makes the features that the file does not have. They are needed only if the stored model is damaged.

    Returns
    -------
    bool
        Whether the file has one.
    """
    known = file.finished.read()
    if known is None:
        return False
    if known.state is None:
        _finish_again(file, learner, stream, known.digest)
    else:
        learner.load(known.state)
    return True


def replay_finished(file: RunFile, learner: Learner, stream: Stream | None) -> int:
    """Finish a learner that has learned the whole log, and compare it with the finished model of the run.

    Parameters
    ----------
    file : RunFile
        The run file.
    learner : Learner
        The learner at the end of the log.
    stream : Stream or None
        Makes the features that the file does not have.

    Returns
    -------
    int
        Number of digests that were compared: 0 if the run was not finished, otherwise 1. A ReplayError is raised if the
        digest differs.
    """
    known = file.finished.read()
    if known is None:
        return 0
    _finish_again(file, learner, stream, known.digest)
    return 1


def _finish_again(file: RunFile, learner: Learner, stream: Stream | None, digest: str) -> None:
    finish_model(learner, file.log.everything(stream))
    if learner.digest() != digest:
        raise ReplayError(
            f"finishing {file.path} gives another model than the run had",
            why="the log was changed, or another version of paraactive or another processor made it",
            remedy="replay it where it was trained, or restore a copy of the run file",
        )
