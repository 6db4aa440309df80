"""The commands report, watch and reproduce, as they are registered."""

from __future__ import annotations

from paraactive.cli import report_app
from paraactive.cli.base import app


def test_it_adds_four_commands_each_with_an_example() -> None:
    added = {command.callback: command.epilog or "" for command in app.registered_commands}
    for command in (report_app.report, report_app.watch, report_app.reproduce, report_app.plan):
        assert f"paraactive {command.__name__} " in added[command]
