"""The progress bar: it observes the events of a run."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from paraactive.data.events import Compiling, Evaluated, Event, NodeJoined, NodeLost, NodeSilent, Round, RunStarted
from paraactive.errors import counted


class ProgressBar:
    """Shows examples seen, examples per second, the sampling rate and the latest number of mistakes.

    The bar is on standard error, so that standard output has only the result. It is drawn only on a terminal.

    Parameters
    ----------
    title : str
        Text before the bar.
    console : Console
        Where to draw.
    show : callable, optional
        Called at the end of each round in place of `progress.start`: the caller then draws `progress` itself.
    """

    def __init__(self, title: str, console: Console, show: Callable[[], object] | None = None) -> None:
        self._title = title
        self._sifted = self._selected = 0
        self._console, self._absent = console, set[int]()
        self.progress = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
            TextColumn("{task.fields[speed]}"),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[mistakes]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not console.is_terminal,
        )
        self._show = show or self.progress.start
        self._task: TaskID | None = None
        self._waiting = console.status(Text(f"{title}: preparing"))

    def __enter__(self) -> ProgressBar:
        if not self.progress.disable:
            self._waiting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.stop()
        self.progress.stop()

    def __call__(self, event: Event) -> None:
        """Show what this event changes."""
        if isinstance(event, Compiling):
            self._console.print(f"compiling the loops of {event.learner}, once on this machine …")
        elif isinstance(event, RunStarted):
            self._sifted, self._selected = event.sifted, event.selected
            self._task = self.progress.add_task(
                self._title, total=event.examples, completed=event.seen, speed="", rate="", mistakes=""
            )
        elif isinstance(event, Round):
            self._advance(event)
        elif isinstance(event, NodeLost):
            self._console.print(f"node {event.node} is lost ({event.why}); the other nodes sift its examples")
            self._absent.add(event.node)
        elif isinstance(event, NodeSilent):  # A warning was printed already.
            self._absent.add(event.node)
        elif isinstance(event, NodeJoined) and event.node in self._absent:
            self._absent.discard(event.node)
            self._console.print(f"node {event.node} is connected again")
        elif isinstance(event, Evaluated) and self._task is not None:
            self.progress.update(self._task, mistakes=counted(event.mistakes, "mistake"))

    def _advance(self, ended: Round) -> None:
        if self._task is None:
            return
        self._waiting.stop()
        self._show()
        bar = self.progress.tasks[0]
        if ended.number:
            self._sifted += ended.seen - int(bar.completed)
            self._selected += ended.selected
        speed = bar.finished_speed or bar.speed
        self.progress.update(
            self._task,
            completed=ended.seen,
            speed=f"{speed:,.0f}/s" if speed else "",
            rate=f"{self._selected / self._sifted:.2%} selected" if self._sifted else "warmstart",
        )
