"""The benchmark `sound`: its data sets that need no download, its records, and its table.

Each test runs in a process of its own, because benchmarks hold all libraries to one thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def said(code: str) -> Any:
    """What a program prints, as JSON."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_generated_data_sets_have_the_rows_and_classes_and_rare_labels_that_they_state() -> None:
    code = """
import json
import numpy as np
from benchmarks.datasets import DATA_SETS
found = {}
for data in DATA_SETS:
    if "_ignoring" in repr(data.make):
        continue
    split, again = data.split(3, 2000), data.split(3, 2000)
    same = bool((split.x == again.x).all() and (split.y == again.y).all())
    other = bool((split.x == data.split(4, 2000).x).all())
    shares = np.unique(split.y, return_counts=True)[1] / len(split.y)
    found[data.name] = [len(split.y), len(split.test_y), len(shares) == data.classes, float(shares.min()), same, other]
print(json.dumps(found))
"""
    found = said(code)
    assert len(found) >= 9
    assert all(figures[:3] == [2000, 1000, True] for figures in found.values())
    assert all(figures[4:] == [True, False] for figures in found.values())
    assert 0.003 < found["rare"][3] < 0.02
    assert 0.45 < found["line"][3] < 0.5


def test_the_data_sets_cover_noise_classes_sizes_and_scales() -> None:
    code = """
import json
from benchmarks.datasets import DATA_SETS
print(json.dumps([[data.name, data.rows, data.classes, data.noise, data.note] for data in DATA_SETS]))
"""
    sets = said(code)
    names, rows, classes, noise, notes = zip(*sets, strict=True)
    assert len(set(names)) == len(names) >= 14
    assert min(rows) <= 1000
    assert max(rows) == 500_000
    assert (min(classes), max(classes)) == (2, 26)
    known = [each for each in noise if each is not None]
    assert min(known) == 0
    assert max(known) > 0.4
    assert any("not scaled" in note for note in notes)


def test_missing_a_rare_class_counts_fully_in_the_balanced_error() -> None:
    code = """
import json
from benchmarks.sound_ways import error_of
never = [[98, 0], [2, 0]]
print(json.dumps([error_of(never, False), error_of(never, True), error_of([[3, 1], [0, 0]], True)]))
"""
    assert said(code) == [pytest.approx(0.02), 0.5, 0.25]


def test_a_slow_way_learns_the_largest_part_that_fits_the_time() -> None:
    code = """
import json
from benchmarks.sound_ways import largest_part
tried = []
def fit(rows):
    tried.append(rows)
    return {"rows": rows, "seconds": (rows / 20_000) ** 2 * 100}
largest_part(fit, 500_000, 100.0, None)
largest_part(fit, 6_000, 100.0, None)
largest_part(fit, 500_000, 100.0, 19_000)
print(json.dumps(tried))
"""
    first, second, *known = said(code)
    assert first == 8000
    assert 16_000 < second <= 20_000
    assert known == [6000, 19_000]


def test_the_table_counts_what_holds_and_needs_no_result_to_be_there() -> None:
    code = """
import json
from benchmarks.sound_table import PROMISES, collected, render
def record(error, seconds=1.0, rows=10_000):
    return {"error": error, "seconds": seconds, "rows": rows, "selected": 100, "vectors": 10}
good = {
    str(seed): {
        "ours": record(0.03 + seed / 1000), "passive": record(0.03 + seed / 1000), "warmstart": record(0.05),
        "svc": record(0.03, 5.0, 4000), "commonest": {"error": 0.5},
    }
    for seed in range(3)
}
bad = {"0": {"ours": {"failed": "TimeoutError: late"}, "commonest": {"error": 0.4}, "passive": record(0.1)}}
records = {"moons 0.2": good, "moons 0.3": bad, "line": {"0": {}}}
figures = json.loads(json.dumps(collected(records, {"DNA": "gone"}, 60.0)))
verdicts = {name: [holds(figures["sets"][each]) for holds in PROMISES.values()] for name, each in (
    ("good", "moons 0.2"), ("bad", "moons 0.3"), ("empty", "line"))}
print(json.dumps([verdicts, render(figures), render({})]))
"""
    verdicts, text, empty = said(code)
    assert verdicts["good"] == [True, True, True, True, True]
    assert verdicts["bad"] == [False, False, False, False, None]
    assert verdicts["empty"] == [None, None, None, None, None]
    assert "no worse than passive + se: 1 of 2" in text
    assert "(4,000 rows)" in text
    assert "none in time" in text
    assert "DNA is left out: gone." in text
    assert empty.startswith("| data set")


def test_records_of_ours_are_measured_again_when_the_library_changes(tmp_path: Path) -> None:
    code = f"""
import json
from pathlib import Path
from benchmarks.bench_sound import Records
path = Path({str(tmp_path)!r}) / "records.json"
records = Records(path)
for way in ("ours", "svc"):
    records.put("line", 0, (way, {{"error": 0.1, "seconds": 30.0, "rows": 5}}))
same = Records(path)
old = json.loads(path.read_text())
path.write_text(json.dumps(old | {{"code": "another"}}))
changed, kept = Records(path), Records(path, keep=True)
missing = [each.missing("line", 0) for each in (same, changed, kept)]
print(json.dumps([*missing, same.missing("line", 1), same.parts("line")]))
"""
    same, changed, kept, next_seed, parts = said(code)
    assert same == kept == ["warmstart", "commonest", "cli", "passive"]
    assert changed == ["ours", "warmstart", "commonest", "cli", "passive"]
    assert next_seed == ["ours", "warmstart", "commonest", "cli", "passive"]
    assert parts == {"svc": 5}
