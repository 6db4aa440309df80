"""The progress bar: an observer of the run's events."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from paraactive.data.events import Compiling, Evaluated, Event, NodeJoined, NodeLost, NodeSilent, Round, RunStarted
from paraactive.errors import counted


class ProgressBar:
    """Shows examples seen, examples per second, the sampling rate and the mistakes of the moment.

    The bar is drawn on standard error, and only if that is a terminal. Standard output has the result alone.
    """

    def __init__(self, title: str, console: Console, show: Callable[[], object] | None = None) -> None:
        """`show` is called at the end of each round, if given: the caller then draws `progress` itself."""
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
            self._console.print(f"compiling the loops of {event.learner}, once for this machine …")
        elif isinstance(event, RunStarted):
            self._sifted, self._selected = event.sifted, event.selected
            self._task = self.progress.add_task(
                self._title, total=event.examples, completed=event.seen, speed="", rate="", mistakes=""
            )
        elif isinstance(event, Round):
            self._advance(event)
        elif isinstance(event, NodeLost):
            self._console.print(f"node {event.node} is lost ({event.why}); what it was sifting is sifted by others")
            self._absent.add(event.node)
        elif isinstance(event, NodeSilent):  # A warning says so.
            self._absent.add(event.node)
        elif isinstance(event, NodeJoined) and event.node in self._absent:
            self._absent.discard(event.node)
            self._console.print(f"node {event.node} is back")
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
