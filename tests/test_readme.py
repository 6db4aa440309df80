"""What the README shows must run, and its links must lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.command_line import COMMANDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [README, *(page.read_text() for page in sorted((ROOT / "docs").glob("*.md")))]


def test_the_readme_has_at_most_200_lines_and_one_table_of_figures() -> None:
    assert README.count("\n") <= 200
    tables = re.findall(r"^\|(?: ?-+ ?\|)+$", README, re.MULTILINE)
    assert len(tables) == 2  # What paraactive can do, and what was measured.
    assert README.count("<!-- made by make bench -->") == 1


def test_the_ten_lines_of_code_run(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    accuracy, selected, rate, rule = done.stdout.splitlines()[0].split(maxsplit=3)
    assert float(accuracy) > 0.96
    assert int(selected) < 15_000
    assert float(rate) < 0.4
    assert rule.startswith("SignedMargin(eta=")


def test_the_page_of_the_command_line_lists_and_shows_every_command() -> None:
    from paraactive.cli.app import run

    page = (ROOT / "docs" / "commands.md").read_text()
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(COMMANDS)
    assert set(re.findall(r"^    paraactive (\w+)", page, re.MULTILINE)) == set(COMMANDS)
    assert f"{len(COMMANDS)} commands" in README
    for command in COMMANDS:
        assert run([command, "--help"]) == 0


def test_the_commands_and_options_that_are_shown_exist() -> None:
    from typer.main import get_command

    from paraactive.cli.app import app

    known = get_command(app).commands  # pyright: ignore
    text = "\n".join(PAGES).replace("\\\n", " ")
    shown = re.findall(r"^    (?:\w+ \S+ \| )?paraactive (\w+)(.*)$", text, re.MULTILINE)
    assert len(shown) > 20
    for command, rest in shown:
        options = {name for parameter in known[command].params for name in parameter.opts}
        assert set(re.findall(r"(--[\w-]+)", rest.split("#")[0])) <= options


@pytest.mark.parametrize("link", re.findall(r"\]\(([^):]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    name, _, anchor = link.partition("#")
    assert (ROOT / name).exists()
    if anchor:
        headings = re.findall(r"^#+ (.*)$", (ROOT / name).read_text(), re.MULTILINE)
        assert anchor in [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
