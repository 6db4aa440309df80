"""The table of `bench_sound`: what each way came to, and which of our promises hold.

Everything here is a function of the collected records, and any of them may be missing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from benchmarks.datasets import DATA_SETS
from benchmarks.measuring import table

Verdict: TypeAlias = bool | None
"""Whether a promise holds; None: not measured, or not promised."""

_ROUNDING = 1e-9
"""Means of the same errors may differ by this much."""

FIELDS = ("error", "seconds", "rows", "selected", "vectors")


def collected(by_set: Mapping[str, Any], left_out: Mapping[str, str], seconds: float) -> dict[str, Any]:
    """Records as lists over seeds, with what is known of each data set."""
    known = {data.name: data for data in DATA_SETS}
    sets: dict[str, Any] = {}
    for name, seeds in by_set.items():
        data = known[name]
        ways: dict[str, Any] = {}
        for seed, records in sorted(seeds.items(), key=lambda each: int(each[0])):
            for way, record in records.items():
                place = ways.setdefault(way, {"seeds": [], "failed": {}})
                if "failed" in record:
                    place["failed"][seed] = record["failed"]
                    continue
                place["seeds"].append(int(seed))
                for field in FIELDS:
                    if record.get(field) is not None:
                        place.setdefault(field, []).append(record[field])
        sets[name] = {
            "rows": max(ways.get("ours", {}).get("rows", [data.rows])), "test": data.test, "classes": data.classes,
            "noise": data.noise, "note": data.note, "balanced": data.balanced, "ways": ways,
        }  # fmt: skip
    return {"sets": sets, "left_out": dict(left_out), "seconds": seconds}


# Figures ---------------------------------------------------------------------------------------------------------


def errors(result: Any, way: str) -> dict[int, float]:
    """By seed."""
    place = result["ways"].get(way, {})
    return dict(zip(place.get("seeds", []), place.get("error", []), strict=True))


def mean(result: Any, way: str, field: str = "error") -> float | None:
    """Over seeds; None: there is nothing."""
    values = result["ways"].get(way, {}).get(field)
    return statistics.mean(values) if values else None


def chance(result: Any, error: float) -> float:
    """Standard error of one error, because the test rows are few. Half a balanced error comes from 1% of the rows."""
    return math.sqrt(max(error * (1 - error), 1e-9) / result["test"] * (25 if result["balanced"] else 1))


def standard_error(result: Any, way: str) -> float | None:
    """Of the mean over seeds. With fewer than three seeds, that of counting mistakes on the test rows."""
    values = list(errors(result, way).values())
    if not values:
        return None
    if len(values) < 3:
        return chance(result, statistics.mean(values)) / math.sqrt(len(values))
    return statistics.stdev(values) / math.sqrt(len(values))


def difference(result: Any, other: str) -> tuple[float, float] | None:
    """Mean of our error less that of another way, seed by seed, and its standard error."""
    ours, theirs = errors(result, "ours"), errors(result, other)
    pairs = [ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys())]
    if not pairs:
        return None
    if len(pairs) > 2:
        return statistics.mean(pairs), statistics.stdev(pairs) / math.sqrt(len(pairs))
    both = [chance(result, statistics.mean(each.values())) for each in (ours, theirs)]
    return statistics.mean(pairs), math.hypot(*both) / math.sqrt(len(pairs))


# Promises --------------------------------------------------------------------------------------------------------


def as_good_as_passive(result: Any, way: str = "ours") -> Verdict:
    """Our error is at most that of the passive learner plus its standard error, over the same seeds."""
    ours, passive, allowed = (*means(result, way, "passive"), standard_error(result, "passive"))
    if ours is None or passive is None or allowed is None:
        return _failed(result, way)
    return ours <= passive + allowed + _ROUNDING


def below_commonest(result: Any, way: str = "ours") -> Verdict:
    """Our error is at most that of the commonest class, over the same seeds."""
    ours, commonest = means(result, way, "commonest")
    return _failed(result, way) if ours is None or commonest is None else ours <= commonest + _ROUNDING


def means(result: Any, way: str, other: str) -> tuple[float, float] | tuple[None, None]:
    """The mean errors of two ways over the seeds that both have."""
    ours, theirs = errors(result, way), errors(result, other)
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return None, None
    return statistics.mean(ours[seed] for seed in seeds), statistics.mean(theirs[seed] for seed in seeds)


def as_good_as_warmstart(result: Any) -> Verdict:
    """Our error is at most that after the warmstart, or it is larger by at most two standard errors."""
    found = difference(result, "warmstart")
    return _failed(result, "ours") if found is None else found[0] <= 2 * found[1]


def near_svc(result: Any) -> Verdict:
    """Our error is at most 1.1 times that of SVC, or it is larger by at most two standard errors."""
    found, svc = difference(result, "svc"), mean(result, "svc")
    if found is None or svc is None:
        return _failed(result, "ours")
    return found[0] <= max(0.1 * svc, 2 * found[1])


def faster_than_svc(result: Any) -> Verdict:
    """Three times faster than SVC, where that takes more than 10 s for all rows."""
    ours, svc = mean(result, "ours", "seconds"), svc_seconds(result)
    if svc is None or svc <= 10:
        return None
    return _failed(result, "ours") if ours is None else 3 * ours <= svc


def svc_seconds(result: Any) -> float | None:
    """For all rows, at least: if SVC had only a part of them, in proportion to the rows, though it grows faster."""
    spent, rows = mean(result, "svc", "seconds"), mean(result, "svc", "rows")
    return None if spent is None or not rows else spent * max(result["rows"] / rows, 1.0)


def _failed(result: Any, way: str) -> Verdict:
    """A way that has no result in time keeps no promise; one that was not measured yet breaks none."""
    return False if result["ways"].get(way, {}).get("failed") else None


PROMISES: dict[str, Callable[[Any], Verdict]] = {
    "no worse than passive + se": as_good_as_passive,
    "at most commonest": below_commonest,
    "no worse than warmstart": as_good_as_warmstart,
    "within 10% of SVC": near_svc,
    "3x faster where SVC > 10 s": faster_than_svc,
}


def command_line_holds(result: Any) -> dict[str, Verdict]:
    """The command line, against the same: no worse than passive, and at most the commonest class."""
    return {"passive": as_good_as_passive(result, "cli"), "commonest": below_commonest(result, "cli")}


# To be read ------------------------------------------------------------------------------------------------------


def _percent(value: float | None, error: float | None = None) -> str:
    if value is None:
        return ""
    return f"{100 * value:.2f}" + ("" if error is None else f"\u00a0±\u00a0{100 * error:.2f}")


def _error(result: Any, way: str, se: bool = False) -> str:
    place = result["ways"].get(way, {})
    if not place.get("error"):
        return "none in time" if any("TimeoutError" in why for why in place.get("failed", {}).values()) else (
            "failed" if place.get("failed") else ""
        )  # fmt: skip
    rows = statistics.mean(place["rows"]) if way in ("passive", "svc") and place.get("rows") else result["rows"]
    part = "" if rows >= result["rows"] else f" ({rows:,.0f} rows)"
    return _percent(mean(result, way), standard_error(result, way) if se else None) + part


def _seconds(result: Any) -> str:
    svc, whole = mean(result, "svc", "seconds"), svc_seconds(result)
    estimate = f" (≥ {whole:.0f})" if svc and whole and whole > 1.01 * svc else ""
    figures = [mean(result, way, "seconds") for way in ("ours", "passive", "svc")]
    return " / ".join("" if each is None else f"{each:.1f}" for each in figures) + estimate


def _selected(result: Any) -> str:
    selected = mean(result, "ours", "selected")
    return "" if selected is None else f"{100 * selected / result['rows']:.0f}"


def _vectors(result: Any) -> str:
    counts = [mean(result, way, "vectors") for way in ("ours", "passive", "svc")]
    return " / ".join("" if count is None else f"{count:,.0f}" for count in counts)


def _row(name: str, result: Any) -> list[str]:
    noise = "" if result["noise"] is None else f"{100 * result['noise']:.0f}"
    broken = [promise for promise, holds in PROMISES.items() if holds(result) is False]
    broken += [f"command line: {other}" for other, holds in command_line_holds(result).items() if holds is False]
    return [
        name, f"{result['rows']:,}", str(result["classes"]), noise, _error(result, "ours", se=True),
        _error(result, "passive", se=True), _error(result, "warmstart"), _error(result, "svc"),
        _error(result, "commonest"), _error(result, "cli"), f"{_selected(result)}%", _vectors(result),
        _seconds(result), "; ".join(broken),
    ]  # fmt: skip


HEADER = [
    "data set", "rows", "classes", "noise", "ours", "every row", "warmstart", "SVC", "commonest", "command line",
    "learned", "vectors, ours / every row / SVC", "seconds, ours / every row / SVC", "does not hold",
]  # fmt: skip


def _count(verdicts: Sequence[Verdict]) -> str:
    measured = [each for each in verdicts if each is not None]
    return f"{sum(measured)} of {len(measured)}"


def render(figures: Mapping[str, Any]) -> str:
    """The table, how often each promise holds, and what is to be known to read it."""
    sets: Mapping[str, Any] = figures.get("sets", {})
    rows = [_row(name, result) for name, result in sets.items()]
    held = [f"{name}: {_count([holds(result) for result in sets.values()])}" for name, holds in PROMISES.items()]
    for other in ("passive", "commonest"):
        verdicts = [command_line_holds(result)[other] for result in sets.values()]
        held.append(f"command line against {other}: {_count(verdicts)}")
    seeds = sorted({len(errors(result, "ours")) for result in sets.values()})
    notes = [
        f"Errors in percent on test rows, mean ± standard error over {' to '.join(map(str, seeds)) or 'no'} seeds. "
        "noise: the smallest possible error, where it is known. every row: the same learner, passive. warmstart: on "
        "the rows of the warmstart alone. SVC: scikit-learn's with C 1 and gamma scale, on standardized columns except "
        "pixels; one seed where it is slow. "
        f"Where it or SVC would take more than {figures.get('seconds', 0):.0f} s they learned a part of the rows, "
        "which is given in parentheses; the seconds in parentheses are for all rows, in proportion to the rows. "
        'With "balanced", errors are balanced errors. Seconds are processor time of fitting in one thread.',
        "What holds: " + "; ".join(held) + ".",
    ]
    notes += [f"{name} is left out: {why}." for name, why in figures.get("left_out", {}).items()]
    return "\n\n".join([table(HEADER, rows), *notes])
