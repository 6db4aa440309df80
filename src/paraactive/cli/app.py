"""The command line: runs one command, and turns errors and warnings into one line each."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from paraactive._version import __version__
from paraactive.cli import model_app, report_app, training_app
from paraactive.cli.base import app
from paraactive.cli.wording import in_options
from paraactive.errors import NodeWarning, ParaActiveError, ReplicaWarning, RunFileWarning, SlowScoresWarning

_COMMANDS = (training_app, model_app, report_app)
"""Importing these modules adds their commands to `app`."""


def run(arguments: list[str]) -> int:
    """Run one command line.

    Parameters
    ----------
    arguments : list of str
        The words after `paraactive`.

    Returns
    -------
    int
        Exit code: 0, 2 after an error of the user, 130 after Ctrl-C.
    """
    try:
        with _warnings_in_one_line():
            code: object = app(arguments, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except ParaActiveError as error:
        return _complain(in_options(error, _options_of(arguments)))
    except (KeyboardInterrupt, typer.Abort):
        print("paraactive: stopped", file=sys.stderr)
        return 130
    except Exception as error:
        message = getattr(error, "format_message", None)  # Typer raises it for a wrong command line.
        if message is None:
            raise
        text = str(message()).rstrip(".")  # It is empty if typer printed the help.
        return _complain(f"{text} (see '{_help_for(arguments)}')") if text else 2


@contextmanager
def _warnings_in_one_line() -> Generator[None]:
    """Print warnings of paraactive without the line of code that raised them."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **how: Any) -> None:
        if issubclass(category, NodeWarning | ReplicaWarning | RunFileWarning | SlowScoresWarning):
            print(f"paraactive: warning: {message}", file=sys.stderr)
        else:
            shown(message, category, *where, **how)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown


def _options_of(arguments: list[str]) -> dict[str, str]:
    """The option for each parameter of the command."""
    commands: dict[str, Any] = getattr(typer.main.get_command(app), "commands", {})
    command = next((commands[word] for word in arguments[:1] if word in commands), None)
    own = () if command is None else command.params
    return {each.name: each.opts[0] for each in own if each.name and each.opts[0].startswith("--")}


def _help_for(arguments: list[str]) -> str:
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    return " ".join(["paraactive", *[word for word in arguments[:1] if word in known], "--help"])


def _complain(message: str) -> int:
    print(f"paraactive: error: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _show_version(asked: bool) -> None:
    if asked:
        print(f"paraactive {__version__}")
        raise typer.Exit


@app.callback()
def _options(  # pyright: ignore[reportUnusedFunction]
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
