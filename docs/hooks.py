"""Puts figures into the pages when the documentation is built: tables and claims from what commands wrote.

A line `<!-- claims: svm -->` becomes the list of claims that `paraactive reproduce svm` wrote to docs/figures/svm.json,
`<!-- speedups: svm -->` its table, `<!-- notes: svm -->` how it was done, `<!-- benchmark: Start-up -->` that part of
benchmarks/RESULTS.md, and `<!-- tables -->` the tables of a run file. So no figure in a page is typed by hand.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
VERDICTS = {"yes": "holds here", "no": "**differs here**", "open": "not decided here"}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return re.sub(r"^<!-- (\w+)(?:: (.+?))? -->$", lambda found: _made(found[1], found[2]), markdown, flags=re.M)


def _made(kind: str, name: str | None) -> str:
    makers = {"claims": _claims, "speedups": _speedups, "notes": _notes, "benchmark": _benchmark}
    if kind == "tables":
        return _tables()
    return makers[kind](name or "")


def _points(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "figures" / f"{name}.json").read_text())


def _claims(name: str) -> str:
    claims = _points(name)["claims"]
    rows = [f"| {each['claim']} | {VERDICTS[each['verdict']]} | {each['measured']} |" for each in claims]
    return "\n".join(["| The claim | | Measured |", "| --- | --- | --- |", *rows])


def _speedups(name: str) -> str:
    (table,) = _points(name)["tables"]
    rows = ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in table["rows"]]
    head = ["| " + " | ".join(table["head"]) + " |", "|" + " --- |" * len(table["head"])]
    return "\n".join([*head, *rows])


def _notes(name: str) -> str:
    return "\n".join(f"- {note}" for note in _points(name)["notes"])


def _benchmark(title: str) -> str:
    parts = re.split(r"^## ", (ROOT / "benchmarks" / "RESULTS.md").read_text(), flags=re.M)
    (found,) = [part for part in parts if part.partition("\n")[0] == title]
    # A range of figures such as (0.1-0.2) stays on one line.
    return re.sub(r"(?<=\d)-(?=\d)", "\N{NON-BREAKING HYPHEN}", found.partition("\n")[2].strip())


def _tables() -> str:
    source = (ROOT / "src" / "paraactive" / "runs" / "runfile" / "connection.py").read_text()
    tables = re.findall(r'"""(CREATE TABLE .*?)"""', source, flags=re.S)
    return "\n\n".join(f"```sql\n{table}\n```" for table in tables)
