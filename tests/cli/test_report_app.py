"""The commands report, watch and reproduce, as they are registered."""

from __future__ import annotations

import typer

from paraactive.cli import report_app


def test_it_adds_three_commands_each_with_an_example() -> None:
    app = typer.Typer()
    report_app.add_to(app)
    added = {command.callback: command.epilog or "" for command in app.registered_commands}
    assert list(added) == [report_app.report, report_app.watch, report_app.reproduce]
    assert all(f"paraactive {command.__name__} " in example for command, example in added.items() if command)
