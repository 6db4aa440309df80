"""Named figures of a run, which every tracker logs."""

from __future__ import annotations

from paraactive.data.events import Evaluated, Event, Round, RunEnded, RunStarted


class Figures:
    """Turns events into named figures. It keeps the sums that a single event does not contain."""

    def __init__(self) -> None:
        self._seen = self._sifted = self._selected = 0
        # Seconds of work of all nodes together. This is neither wall time nor the paper's clock.
        self._busy_seconds = 0.0

    def __call__(self, event: Event) -> tuple[int, dict[str, float]]:
        """Return the figures that are known after an event.

        Parameters
        ----------
        event : Event
            An event of the run.

        Returns
        -------
        tuple of int and dict
            Number of examples seen, and figures by name; no figures for events that have none.

        Examples
        --------
        >>> figures = Figures()
        >>> figures(Round(0, 100, 100, 100, 0.0, 0.0, 0.5))
        (100, {'busy_seconds': 0.5, 'update_seconds': 0.5})
        >>> figures(Round(1, 200, 110, 10, 0.0, 1.0, 0.5))[1]["sampling_rate"]
        0.1
        """
        if isinstance(event, RunStarted):
            self._seen, self._sifted, self._selected = event.seen, event.sifted, event.selected
        if isinstance(event, Round):
            return event.seen, self._of_round(event)
        if isinstance(event, Evaluated):
            figures = {"mistakes": float(event.mistakes), "error": event.mistakes / event.test_examples}
            figures |= {} if event.vectors is None else {"vectors": float(event.vectors)}
            return event.seen, figures | ({} if event.loss is None else {"loss": event.loss})
        if isinstance(event, RunEnded):
            return event.seen, {"wall_seconds": event.wall_seconds}
        return 0, {}

    def _of_round(self, ended: Round) -> dict[str, float]:
        self._busy_seconds += ended.fetch_seconds + ended.sift_seconds + ended.update_seconds
        before, self._seen = self._seen, ended.seen
        if not ended.number:
            return {"busy_seconds": self._busy_seconds, "update_seconds": ended.update_seconds}
        self._sifted += ended.seen - before
        self._selected += ended.selected
        rates = {"sampling_rate": self._selected / self._sifted} if self._sifted else {}
        return rates | {
            "selected": float(ended.selected),
            "entries": float(ended.version),
            "busy_seconds": self._busy_seconds,
            "sift_seconds": ended.sift_seconds,
            "update_seconds": ended.update_seconds,
            "fetch_seconds": ended.fetch_seconds,
            "scored": float(ended.scored),
            "lowered": float(ended.lowered),
        }
