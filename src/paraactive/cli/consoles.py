"""The terminal, as all commands use it."""

from __future__ import annotations

from rich.console import Console


def new_console(*, stderr: bool = False) -> Console:
    """A console that shows text as it is: a label such as "[/b]" or ":x:" is not markup of ours."""
    return Console(stderr=stderr, markup=False, emoji=False)
