"""Put measured figures into the pages while mkdocs builds them, so that no figure in a page is typed by hand.

A line in a page is a marker:

- `<!-- claims: svm -->` becomes the claims that `paraactive reproduce svm` wrote to docs/figures/svm.json;
- `<!-- speedups: svm -->` becomes the table of speedups in the same file;
- `<!-- notes: svm -->` becomes the notes on the experiment in the same file;
- `<!-- benchmark: Start-up -->` becomes the section of that title in benchmarks/RESULTS.md;
- `<!-- tables -->` becomes the SQL statements that create the tables of a run file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
VERDICTS = {"yes": "holds here", "no": "**differs here**", "open": "not decided here"}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the markers of one page. mkdocs calls this function for each page."""
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
    return "\n".join(["| Claim | Result | Measured |", "| --- | --- | --- |", *rows])


def _speedups(name: str) -> str:
    (table,) = _points(name)["tables"]
    rows = ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in table["rows"]]
    head = ["| " + " | ".join(table["head"]) + " |", "|" + " --- |" * len(table["head"])]
    return "\n".join([*head, *rows])


def _notes(name: str) -> str:
    return "\n".join(f"- {note}" for note in _points(name)["notes"])


def _benchmark(title: str) -> str:
    parts = re.split(r"^#{1,2} ", (ROOT / "benchmarks" / "RESULTS.md").read_text(), flags=re.M)
    (found,) = [part for part in parts if part.partition("\n")[0] == title]
    # A range of figures such as (0.1-0.2) stays on one line.
    return re.sub(r"(?<=\d)-(?=\d)", "\N{NON-BREAKING HYPHEN}", found.partition("\n")[2].strip())


def _tables() -> str:
    sources = sorted((ROOT / "src" / "paraactive" / "runs" / "runfile").glob("*.py"))
    tables = [
        found for source in sources for found in re.findall(r'"""(CREATE TABLE .*?)"""', source.read_text(), re.S)
    ]
    return "\n\n".join(f"```sql\n{table}\n```" for table in tables)
