"""The live view of --verbose: it observes the events of a run and redraws itself."""

from __future__ import annotations

from collections import deque

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from paraactive.cli.progress import ProgressBar
from paraactive.data.events import NODE_TIMES, Evaluated, Event, NodeTimes, Round, RunStarted

_BLOCKS = "▁▂▃▄▅▆▇█"
_KEPT = 60


def sparkline(values: list[float]) -> str:
    """Draw numbers as a line of blocks.

    Parameters
    ----------
    values : list of float
        The numbers. The largest has the highest block.

    Returns
    -------
    str
        One block for each number.

    Examples
    --------
    >>> sparkline([1, 2, 4, 8])
    '▁▂▄█'
    """
    if not values:
        return ""
    low, high = min(values), max(values)
    return "".join(_BLOCKS[round((value - low) / (high - low) * 7) if high > low else 0] for value in values)


class LiveView:
    """The progress bar, and below it the mistakes, the sampling rate, the model and the time that each node spent.

    Parameters
    ----------
    title : str
        Text before the bar.
    console : Console
        Where to draw.
    """

    def __init__(self, title: str, console: Console) -> None:
        self._title = title
        self._bar = ProgressBar(title, console, show=self._start)
        self._mistakes: deque[float] = deque(maxlen=_KEPT)
        self._rates: deque[float] = deque(maxlen=_KEPT)
        self._last: Evaluated | None = None
        self._seen = 0
        self._spent: dict[int, list[float]] = {}
        self._live = Live(console=console, refresh_per_second=8, get_renderable=self.drawn)

    def __enter__(self) -> LiveView:
        self._bar.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._live.stop()
        self._bar.__exit__(*failure)

    def __call__(self, event: Event) -> None:
        """Update the view."""
        self._bar(event)
        if isinstance(event, RunStarted):
            self._seen = event.seen
        elif isinstance(event, Round):
            if event.number and event.seen > self._seen:
                self._rates.append(event.selected / (event.seen - self._seen))
            self._seen = event.seen
            self._add(event.nodes)
        elif isinstance(event, Evaluated):
            self._last = event
            self._mistakes.append(event.mistakes)

    def _start(self) -> None:
        if not self._live.is_started:
            self._live.start()

    def _add(self, nodes: tuple[NodeTimes, ...]) -> None:
        for times in nodes:
            own = self._spent.setdefault(times.node, [0.0] * len(NODE_TIMES))
            for place, kind in enumerate(NODE_TIMES):
                own[place] += getattr(times, kind)

    def drawn(self) -> RenderableType:
        """Draw the whole view.

        Returns
        -------
        RenderableType
            What rich displays.
        """
        facts = Table.grid(padding=(0, 2))
        if self._last:
            tried = self._last
            facts.add_row("mistakes", f"{tried.mistakes} of {tried.test_examples:,}", sparkline(list(self._mistakes)))
            if tried.vectors is not None:
                facts.add_row("support vectors", f"{tried.vectors:,}", "")
            if tried.loss is not None:
                facts.add_row("loss", f"{tried.loss:.4g}", "")
        if self._rates:
            facts.add_row("sampling rate", f"{self._rates[-1]:.2%}", sparkline(list(self._rates)))
        return Group(
            self._bar.progress, Panel(Group(facts, Text(), self._nodes()), title=Text(self._title), expand=False)
        )

    def _nodes(self) -> Table:
        table = Table(box=None, padding=(0, 2), pad_edge=False)
        for name in ("node", *(f"{kind}, s" for kind in NODE_TIMES)):
            table.add_column(name, justify="right")
        for node, own in sorted(self._spent.items())[:16]:
            table.add_row(str(node) if node >= 0 else "driver", *(f"{seconds:.2f}" for seconds in own))
        return table
