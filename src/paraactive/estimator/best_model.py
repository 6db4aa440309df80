"""Early stopping: keep the best model of a run, and stop when it has not improved for some evaluations."""

from __future__ import annotations

from paraactive.basics.state import State
from paraactive.runs.run import Run


class BestModel:
    """Keeps the model with the fewest mistakes so far. It is a `stop` of `train`.

    Parameters
    ----------
    patience : int
        Number of evaluations in a row without fewer mistakes after which the run stops.
    """

    def __init__(self, patience: int) -> None:
        self._patience, self._evaluations_read = patience, 0
        self._mistakes: int | None = None
        self._state: State = {}
        self._without_improvement = 0

    def __call__(self, run: Run) -> bool:
        """Look at the evaluations since the last call. There may be none.

        Parameters
        ----------
        run : Run
            The run after a round.

        Returns
        -------
        bool
            True if the run should stop.
        """
        for evaluated in run.evaluations[self._evaluations_read :]:
            better = self._mistakes is None or evaluated.mistakes < self._mistakes
            self._without_improvement = 0 if better else self._without_improvement + 1
            if better:
                self._mistakes, self._state = evaluated.mistakes, run.learner.save()
        self._evaluations_read = len(run.evaluations)
        return self._without_improvement >= self._patience

    def restore(self, run: Run) -> None:
        """Give the learner of the run the best model, if it is not the last.

        Parameters
        ----------
        run : Run
            The run that has ended.
        """
        if self._mistakes is not None and run.evaluations[-1].mistakes > self._mistakes:
            run.learner.load(self._state)
