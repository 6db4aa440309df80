"""The page of runs: summary, and several runs side by side."""

from __future__ import annotations

from paraactive.report import Chart, page_of, read_run_records
from report.conftest import Recorded, sections_of


def test_the_summary_has_the_figures_of_the_run(digits: Recorded) -> None:
    rows = {row[0]: row[1] for row in sections_of(digits)["summary"].rows}
    figures = digits.run.summary()
    assert rows["examples seen"] == figures["seen"] == 5000
    assert rows["selected"] == figures["selected"]
    assert rows["sampling rate"] == figures["sampling_rate"]
    assert rows["test mistakes"] == figures["mistakes"]
    assert rows["support vectors"] == figures["vectors"]
    assert rows["nodes"] == 2
    assert rows["engine"] == "threads"
    assert rows["learner"] == "SVM, rbf kernel"
    assert rows["rule"] == "signed margin, eta 0.15, p at least 1/sqrt(n)"
    assert rows["data"] == "digits, {3,1} v {5,7}"
    assert rows["model digest"] == figures["digest"][:16]


def test_a_run_without_test_examples_says_so(nasty: Recorded) -> None:
    found = sections_of(nasty)
    assert "no test examples" in found["error-time"].lines[0]
    assert "error-seen" not in found


def test_several_runs_are_compared_on_one_page(digits: Recorded, nasty: Recorded) -> None:
    page = page_of(read_run_records([digits.path, nasty.path, digits.path]))
    by_id = {section.id: section for section in page.sections}
    rate = by_id["rate"]
    assert isinstance(rate, Chart)
    assert len({curve.name for curve in rate.curves}) == 3, "a name of its own for each"
    assert {"timeline-0", "timeline-1", "timeline-2", "speedup-1"} <= set(by_id)
