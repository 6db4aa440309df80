"""What the documentation shows must run, and its figures come from programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import paraactive
from paraactive.report import Axis, Chart, Curve
from paraactive.report.figures import COLORS, mark_of, save_figure, save_figures

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TEXTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md")]
PAGES = sorted(DOCS.glob("*.md"))
BLOCKS = {
    f"{page.stem}-{number}": code
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
}
NOTEBOOKS = sorted(path.name for path in (DOCS / "notebooks").glob("*.py"))
NEEDS_A_RUN = {"seeing-0"}
TESTED_BY_OUTPUT = {"index-1", "choose-1", "labels-0"}


def run(arguments: Sequence[str], folder: Path) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", [name for name in BLOCKS if name not in TESTED_BY_OUTPUT])
def test_a_block_of_the_documentation_runs(name: str, tmp_path: Path) -> None:
    code = BLOCKS[name]
    if name in NEEDS_A_RUN:
        code = (
            "from paraactive import Digits, LaSVM, train\n"
            "train(LaSVM(gamma=0.012), Digits(), examples=5000, out='run.db')\n" + code
        )
    run(["-c", code], tmp_path)


def test_the_run_that_is_kept_selects_few_examples_and_predicts_labels(tmp_path: Path) -> None:
    counts, labels = run(["-W", "error", "-c", BLOCKS["index-1"]], tmp_path).splitlines()
    seen, selected, rate = counts.split()
    assert int(seen) == 50_000
    assert int(selected) < 10_000
    assert float(rate) < 0.1
    assert labels.split() == ["inside", "outside"]
    assert (tmp_path / "circle.db").exists()


def test_the_torch_module_learns_the_digits(tmp_path: Path) -> None:
    (said,) = run(["-W", "error", "-c", BLOCKS["choose-1"]], tmp_path).splitlines()
    found = re.fullmatch(r"(\d+) mistakes of 10 000, (\d+)% of the digits learned after the warmstart", said)
    assert found
    assert int(found[1]) < 800
    assert int(found[2]) < 60


def test_the_oracle_is_asked_for_few_labels(tmp_path: Path) -> None:
    said = run(["-W", "error", "-c", BLOCKS["labels-0"]], tmp_path).split()
    assert int(said[0]) <= 5_000
    assert int(said[3]) <= 500


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
        name
        for points in (DOCS / "figures").glob("*.json")
        for name in [points.stem, *(chart["id"] for chart in json.loads(points.read_text())["charts"])]
    }
    assert shown
    assert shown <= made
    assert all((DOCS / "figures" / f"{name}.svg").exists() for name in shown)


@pytest.mark.parametrize("name", ["svm", "network", "stragglers", "delays"])
def test_the_figures_of_an_experiment_are_drawn_from_the_points_beside_them(name: str, tmp_path: Path) -> None:
    for chart in charts_of(name):
        _, drawn = save_figures([chart], tmp_path)
        assert drawn.read_text() == (DOCS / "figures" / drawn.name).read_text(), "run make picture to draw it again"


@pytest.mark.parametrize("name", ["svm", "network", "stragglers", "delays"])
def test_two_curves_of_a_figure_differ_in_color_or_mark(name: str) -> None:
    for chart in charts_of(name):
        looks = [place if curve.look is None else curve.look for place, curve in enumerate(chart.curves)]
        shown = [(COLORS[look % len(COLORS)], mark_of(look)) for look in looks]
        assert len(set(shown)) == len(shown), chart.id


def test_the_figure_of_mistakes_says_of_how_many_test_examples_they_are() -> None:
    (overview,) = [chart for chart in charts_of("svm") if chart.id == "svm-overview"]
    assert overview.y.label == "test mistakes, of 4\N{NARROW NO-BREAK SPACE}065"


def test_the_picture_of_the_readme_is_drawn_from_what_was_measured(tmp_path: Path) -> None:
    charts = charts_of("peers")
    _, drawn = save_figure(charts, tmp_path / "peers")
    assert drawn.read_text() == (DOCS / "figures" / "peers.svg").read_text()
    measured = json.loads((ROOT / "benchmarks" / "results.json").read_text())["curves"]["figures"]
    for chart in charts:
        for curve in chart.curves:
            assert [x for x, _ in curve.points] == [point["seconds"] for point in measured[chart.title][curve.name]]
    assert "figures/peers.svg" in (ROOT / "README.md").read_text()


def charts_of(name: str) -> list[Chart]:
    points = json.loads((DOCS / "figures" / f"{name}.json").read_text())
    return [chart_of(description) for description in points["charts"]]


def chart_of(known: dict[str, Any]) -> Chart:
    """Build the chart from its JSON."""
    curves = [Curve(**curve) for curve in known["curves"]]
    return Chart(known["id"], known["title"], Axis(**known["x"]), Axis(**known["y"]), curves, known["note"])


def benchmarks(*arguments: str) -> str:
    """Run in a process of its own, because benchmarks hold all libraries to one thread."""
    return run(arguments, ROOT)


def test_the_results_of_the_benchmarks_are_what_the_programs_make_of_what_was_measured() -> None:
    assert benchmarks("-m", "benchmarks", "--print") == (ROOT / "benchmarks" / "RESULTS.md").read_text()


def test_every_row_of_the_results_is_one_that_its_program_measures() -> None:
    code = """
import json
from benchmarks import bench_cascade, bench_network, bench_nodes, bench_noise, bench_peers, bench_plan, bench_svm
from benchmarks.peers import METHODS
print(json.dumps({
    "sets": [data.name for data in bench_peers.SETS],
    "methods": [way.name for way in METHODS],
    "nodes": [bench_nodes.name_of(*each) for each in bench_nodes.RUNS],
    "svm": list(bench_svm.KINDS),
    "network": list(bench_network.RULES),
    "cascade": list(bench_cascade.WAYS),
    "plan": list(bench_plan.TASKS),
    "noise": [task.name for task in bench_noise.TASKS],
}))
"""
    programs = json.loads(benchmarks("-c", code))
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    measured = {name: part["figures"] for name, part in results.items()}
    assert measured["peers"]["all_sets"] == programs["sets"]
    assert set(measured["peers"]["sets"]) <= set(programs["sets"])
    assert all(list(found) == programs["methods"] for found in measured["peers"]["found"].values())
    assert list(measured["nodes"]) == programs["nodes"]
    assert list(measured.get("svm", {"ours": programs["svm"]})["ours"]) == programs["svm"]
    assert list(measured["network"]["real"]) == programs["network"]
    assert list(measured["cascade"]["runs"]) == programs["cascade"]
    assert [each["task"] for each in measured["plan"]] == programs["plan"]
    assert list(dict.fromkeys(each["task"] for each in measured["noise"])) == programs["noise"]


def test_every_part_of_the_results_says_where_it_comes_from() -> None:
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    for name, part in results.items():
        assert re.fullmatch(r"[0-9a-f]{7,40}", part["commit"]), name
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", part["date"]), name
        assert part["command"] == f"python -m benchmarks {name}"
        assert "cores" in part["machine"]


def test_the_table_of_the_readme_is_that_of_the_results() -> None:
    _, _, rest = (ROOT / "README.md").read_text().partition("<!-- made by make bench -->\n")
    table, _, _ = rest.partition("\n<!-- end -->")
    assert table
    assert f"\n\n{table}\n\n" in (ROOT / "benchmarks" / "RESULTS.md").read_text()


def test_no_page_has_a_table_of_figures_typed_by_hand() -> None:
    """Tables with numbers come from a marker that the build replaces."""
    for page in PAGES:
        rows = [line for line in page.read_text().splitlines() if line.startswith("|")]
        assert not [row for row in rows if re.search(r"\d+\.\d+ s\b|\d%", row)], page.name


@pytest.mark.parametrize("path", [*TEXTS, *PAGES], ids=lambda path: path.stem)
def test_prose_uses_one_spelling(path: Path) -> None:
    assert re.findall(r"\b(?:un)?learnt\b|\blabelled\b|\bcolour|\bcentre", path.read_text()) == []


def test_the_changelog_has_an_unreleased_section_above_the_present_version() -> None:
    released = re.findall(
        r"^## \[([^\]]+)\](?: - \d{4}-\d\d-\d\d)?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert released[:2] == ["Unreleased", paraactive.__version__]


def test_the_architecture_has_at_most_150_lines_and_names_tests_that_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    named = re.findall(r"`(tests/[\w/.]+)`", text)
    assert text.count("\n") <= 150
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
