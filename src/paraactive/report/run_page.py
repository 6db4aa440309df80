"""The page of one run, or of several runs side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from paraactive.report.names import data_name, learner_name, rule_name
from paraactive.report.node_sections import node_events_table, speedup_chart, timeline
from paraactive.report.run_charts import (
    entry_lag_bars,
    error_against_seen,
    error_against_time,
    estimated_error_chart,
    evaluation_chart,
    sampling_rate_chart,
    weight_bars,
)
from paraactive.report.run_gallery import heaviest_section
from paraactive.report.run_record import RunRecord
from paraactive.report.sections import Cell, Listing, Page, Section, TableSection
from paraactive.sifting.confidence import Interval


def page_of(records: Sequence[RunRecord], *, live: bool = False) -> Page:
    """Make the page of one run or several runs.

    Parameters
    ----------
    records : sequence of RunRecord
        The runs. Each run has the same color in all charts.
    live : bool, optional
        Whether the page shows the progress of the runs and asks for newer data once a second. Default: False.

    Returns
    -------
    Page
        The page. Sections for which the runs have no data are left out.
    """
    several = len(records) > 1
    sections: list[Section | None] = [
        _summary(records),
        error_against_time(records),
        error_against_seen(records),
        estimated_error_chart(records),
        sampling_rate_chart(records),
        evaluation_chart(records, "vectors", "Support vectors", "vectors"),
        evaluation_chart(records, "loss", "Loss on the test examples", "mean logistic loss"),
    ]
    titled = [(number, record, f": {record.name}" if several else "") for number, record in enumerate(records)]
    sections += [timeline(number, record, ending) for number, record, ending in titled]
    sections += [entry_lag_bars(records), weight_bars(records)]
    sections += [speedup_chart(number, record, ending) for number, record, ending in titled]
    sections += [heaviest_section(number, record, ending) for number, record, ending in titled]
    sections += [node_events_table(records), _versions(records)]
    sections += [_configuration(number, record, ending) for number, record, ending in titled]
    title = " · ".join(record.name for record in records)
    status = "; ".join(_status(record, several) for record in records) if live else ""
    return Page(f"paraactive: {title}", [section for section in sections if section], status, live)


def _status(record: RunRecord, several: bool) -> str:
    total = record.spec.plan.examples
    state = "done" if record.is_done else "not finished"
    return f"{f'{record.name}: ' if several else ''}{record.seen:,} of {total:,} examples seen, {state}"


def _summary(records: Sequence[RunRecord]) -> TableSection:
    rows: list[tuple[str, Callable[[RunRecord], Cell]]] = [
        ("examples seen", lambda record: record.seen),
        ("examples planned", lambda record: record.spec.plan.examples),
        ("warmstart examples", lambda record: record.rounds[0].seen if record.rounds else 0),
        ("selected", _selected),
        ("sampling rate", _sampling_rate),
        ("estimated error, latest models", lambda record: _estimate(record, "recent_error")),
        ("estimated error, all models", lambda record: _estimate(record, "error")),
        ("estimated error after the warmstart", lambda record: _estimate(record, "first_error")),
        ("error of the commonest class", lambda record: _estimate(record, "commonest_error")),
        ("noise theta", lambda record: _estimate(record, "theta")),
        ("effective sample size of the weights", lambda record: _estimate(record, "effective_size")),
        ("scale of p by the budget", lambda record: _estimate(record, "scale")),
        ("examples scored exactly", lambda record: sum(ended.scored for ended in record.rounds)),
        ("p lowered by the proxy", lambda record: sum(ended.lowered for ended in record.rounds)),
        ("test mistakes", lambda record: _last(record, "mistakes")),
        ("test examples", lambda record: _last(record, "test_examples")),
        ("support vectors", lambda record: _last(record, "vectors")),
        ("test loss", lambda record: _last(record, "loss")),
        ("warmstart time, s", lambda record: record.rounds[0].update_seconds if record.rounds else None),
        ("fetching time, s, all nodes", lambda record: sum(ended.fetch_seconds for ended in record.rounds)),
        ("sifting time, s, all nodes", lambda record: sum(ended.sift_seconds for ended in record.rounds)),
        ("learning time, s", lambda record: sum(ended.update_seconds for ended in record.rounds[1:])),
        ("wall time, s", lambda record: record.ended["wall_seconds"] if record.ended else None),
        ("largest weight", lambda record: float(record.weights.max()) if len(record.weights) else None),
        ("mean lag in entries", lambda record: record.entry_lag["mean"] if record.entry_lag else None),
        ("nodes", lambda record: record.spec.nodes),
        ("engine", lambda record: record.spec.placement.engine),
        ("schedule", lambda record: record.spec.schedule),
        ("learner", lambda record: learner_name(record.spec.learner)),
        ("rule", lambda record: rule_name(record.spec.rule, record.spec.sampling.floor)),
        ("data", lambda record: data_name(record.spec.data)),
        ("model digest", lambda record: record.ended["digest"][:16] if record.ended else None),
    ]
    values = [(name, [value(record) for record in records]) for name, value in rows]
    body = [[name, *cells] for name, cells in values if any(cell is not None for cell in cells)]
    note = " ".join(_verdict(record, len(records) > 1) for record in records)
    return TableSection("summary", "Summary", ["", *(record.name for record in records)], body, note, wide=True)


def _verdict(record: RunRecord, several: bool) -> str:
    verdict = record.verdict
    warnings = "".join(f" Warning: {each}." for each in verdict.warnings)
    return f"{f'{record.name}: ' if several else ''}{verdict.sentence}{warnings}"


def _estimate(record: RunRecord, name: str) -> Any:
    found = None if record.estimates is None else getattr(record.estimates, name)
    return found.percent() if isinstance(found, Interval) else found


def _selected(record: RunRecord) -> int:
    return sum(ended.selected for ended in record.rounds[1:])


def _sampling_rate(record: RunRecord) -> float:
    sifted = record.seen - record.rounds[0].seen if record.rounds else 0
    return _selected(record) / sifted if sifted else 0.0


def _last(record: RunRecord, name: str) -> Any:
    return getattr(record.evaluations[-1], name) if record.evaluations else None


def _versions(records: Sequence[RunRecord]) -> TableSection:
    names = list(dict.fromkeys(name for record in records for name in record.spec.software.versions))
    body = [["paraactive", *(record.spec.software.paraactive for record in records)]]
    body += [[name, *(record.spec.software.versions.get(name) for record in records)] for name in names]
    return TableSection("versions", "Versions", ["", *(record.name for record in records)], body, wide=True)


def _configuration(number: int, record: RunRecord, ending: str) -> Listing:
    text = json.dumps(record.spec.to_dict(), indent=2)
    return Listing(f"configuration-{number}", f"Configuration{ending}", text, "As stored in the run file.")
