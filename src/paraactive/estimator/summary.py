"""What `fit` says: a summary if it is verbose, and a warning in the log if the model is not sound."""

from __future__ import annotations

import logging

from paraactive.runs.run import Run

_LOGGER = logging.getLogger("paraactive")


def announce(run: Run, rule: str, verbose: bool) -> None:
    """Print the summary of a run, and log its verdict if the model is not sound.

    Parameters
    ----------
    run : Run
        The finished run.
    rule : str
        The rule, as a text.
    verbose : bool
        Whether to print.
    """
    verdict, learned = run.verdict, run.warmstart + run.selected
    if verbose:
        print(
            f"{rule}: learned {learned:,} of {run.seen:,} rows seen ({learned / run.seen:.1%}), {run.warmstart:,} of "
            f"them before sifting began"
        )
        print(verdict)
    elif not verdict.is_sound:
        _LOGGER.warning("%s", verdict)


def log_compiling() -> None:
    """Log that loops are compiled.

    It is not printed, and not a Python warning: output that programs parse stays the same, and no run fails by it.
    """
    _LOGGER.warning("paraactive compiles its loops, once on this machine: this takes up to half a minute")
