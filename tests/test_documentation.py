"""What the documentation shows must run, and its figures come from commands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
BLOCKS = [
    (f"{page.stem}-{number}", code)
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]
NOTEBOOKS = sorted(path.name for path in (DOCS / "notebooks").glob("*.py"))
NEEDS_A_RUN = {"seeing-0"}


def run(arguments: list[str], folder: Path) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("name", "code"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_a_block_of_the_documentation_runs(name: str, code: str, tmp_path: Path) -> None:
    if name in NEEDS_A_RUN:
        code = (
            "from paraactive import Digits, LaSVM, train\n"
            "train(LaSVM(gamma=0.012), Digits(), examples=5000, out='run.db')\n" + code
        )
    run(["-c", code], tmp_path)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_top_to_bottom(name: str, tmp_path: Path) -> None:
    assert run([str(DOCS / "notebooks" / name)], tmp_path).count("\n") >= 2


def test_there_are_three_notebooks_and_each_is_in_the_documentation() -> None:
    page = (DOCS / "notebooks.md").read_text()
    assert len(NOTEBOOKS) == 3
    assert all(f"docs/notebooks/{name}" in page for name in NOTEBOOKS)


def test_every_figure_that_is_shown_was_written_by_a_command() -> None:
    shown = {
        name
        for text in [(ROOT / "README.md").read_text(), *(page.read_text() for page in PAGES)]
        for name in re.findall(r"figures/([\w-]+)\.svg", text)
    }
    made = {
        chart["id"]
        for points in (DOCS / "figures").glob("*.json")
        for chart in json.loads(points.read_text())["charts"]
    }
    assert shown
    assert shown <= made
    assert all((DOCS / "figures" / f"{name}.svg").exists() for name in shown)


def test_no_page_has_a_table_of_figures_typed_by_hand() -> None:
    """Tables with numbers come from a marker that the build replaces."""
    for page in PAGES:
        rows = [line for line in page.read_text().splitlines() if line.startswith("|")]
        assert not [row for row in rows if re.search(r"\d+\.\d+ s\b|\d%", row)], page.name
