"""The consoles that all commands print to."""

from __future__ import annotations

from cli.command_line import Printed
from paraactive.cli.consoles import new_console


def test_text_of_the_user_is_shown_as_it_is(capsys: Printed) -> None:
    for label in ("[/nope]", "[bold]", ":warning:", "[link=x]y[/link]"):
        new_console().print(label)
        new_console(stderr=True).print(label)
        assert capsys.readouterr() == (f"{label}\n", f"{label}\n")
