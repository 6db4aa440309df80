"""Unlabeled rows for paraactive query, and functions that fill in the labels."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cli.command_line import Printed, figures
from making import two_moons

X, Y = two_moons(900, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")
BEGIN = ("query", "rows.csv", "--classes", "down,up", "--out", "run.db", "--warmstart", "40", "--batch", "150")


def write_rows() -> None:
    """Write rows.csv, without labels."""
    with Path("rows.csv").open("w") as file:
        rows = csv.writer(file)
        rows.writerow(["across", "high"])
        rows.writerows(X.tolist())


def questions() -> list[dict[str, str]]:
    """The lines of the CSV file."""
    with Path("run.db.ask.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def write_table(table: list[dict[str, str]]) -> None:
    """Replace the CSV file."""
    with Path("run.db.ask.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, list(table[0]))
        rows.writeheader()
        rows.writerows(table)


def fill(count: int | None = None, wrong: dict[str, str] | None = None) -> None:
    """Fill in the true labels of the first lines, and change the first line to `wrong`."""
    table = questions()
    for row in table[:count]:
        row["label"] = true_label(row)
    table[0] |= wrong or {}
    write_table(table)


def fill_in(answer: Callable[[dict[str, str]], str]) -> None:
    """Fill in the answer for each line."""
    write_table([row | {"label": answer(row)} for row in questions()])


def true_label(row: dict[str, str]) -> str:
    """The true label of a line."""
    return str(NAMES[int(row["row"])])


def opposite_label(row: dict[str, str]) -> str:
    """The wrong label of a line."""
    return {"up": "down", "down": "up"}[true_label(row)]


def to_the_end(capsys: Printed, *options: str) -> dict[str, Any]:
    """Fill in true labels until the run ends; return what query prints then."""
    for _ in range(20):
        fill()
        printed = figures(capsys, "query", "run.db", "--json", *options)
        if printed["questions"] is None:
            return printed
    raise AssertionError("it never ends")
