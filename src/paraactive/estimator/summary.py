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
