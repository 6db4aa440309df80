"""A long run makes a page that a browser can bear."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paraactive import Digits, LaSVM
from paraactive.basics.part_spec import JSONValue
from paraactive.data.events import Evaluated, NodeTimes, Round, RunEnded, RunStarted
from paraactive.data.examples import Examples, Selected
from paraactive.report import write_report
from paraactive.rules import SignedMargin
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import RunSpec
from paraactive.schedules.plan import Plan
from paraactive.sifting.parts import describe_learner, describe_rule, describe_stream
from paraactive.streams import Stream

SEEN, ENTRIES, BATCH = 10_000_000, 100_000, 4096


def write_long_run(path: Path, nodes: int = 8) -> None:
    """A run file as ten million examples leave it, of which a hundred thousand were selected."""
    stream: Stream = Digits()
    plan = Plan(SEEN, BATCH, BATCH, nodes)
    known: dict[str, JSONValue] = {
        "paraactive": "0", "learner": describe_learner(LaSVM()).to_dict(),
        "rule": describe_rule(SignedMargin()).to_dict(),
        "stream": describe_stream(stream).to_dict(), "width": 784, "classes": [*stream.classes], "test": None,
        "examples": plan.examples, "batch": BATCH, "warmstart": BATCH, "nodes": nodes, "delay": None,
        "engine": "simulated", "schedule": "synchronous", "updates": "auto", "address": None, "seed": 0, "budget": None,
    }  # fmt: skip
    rng = np.random.default_rng(0)
    ends = [*range(BATCH, SEEN, BATCH), SEEN]
    each = np.full(len(ends), (ENTRIES - BATCH) // (len(ends) - 1))
    each[0], each[-1] = BATCH, 0
    each[-1] = ENTRIES - each.sum()
    with RunFile.create(path, RunSpec.from_dict(known)) as file:
        file.writer.use_stream(stream)
        file.events.observe(RunStarted(SEEN, 0))
        for number, (end, count) in enumerate(zip(ends, each.tolist(), strict=True)):
            first = ends[number - 1] if number else 0
            index = np.sort(rng.choice(np.arange(first, end), count, replace=False))
            p = rng.uniform(1e-4, 1.0, count) if number else np.ones(count)
            examples = Examples(np.zeros((count, 784), np.float32), np.where(index % 2, 1, -1).astype(np.int8), index)
            version = np.full(count, file.version, np.int64)
            file.writer.append(Selected(examples, p, np.full(count, first), version))
            times = tuple(NodeTimes(node, 0.001, 0.01, 0.002, 0.0005, 0.001) for node in range(nodes))
            seconds = {k: 0.08 / k + 0.002 for k in (1, 2, 4, 8)} if number else {}
            file.writer.end_round(
                Round(number, end, file.version, count, 0.008, 0.08 if number else 0.0, 0.002, seconds, count, 0, times)
            )
            if number % 10 == 0:
                file.events.observe(Evaluated(end, file.version, max(15, 80 - number // 20), 4065, 0.1, vectors=4000))
        file.events.observe(RunEnded(SEEN, file.version, "0" * 64))


def test_ten_million_examples_and_a_hundred_thousand_entries_make_a_small_page(tmp_path: Path) -> None:
    write_long_run(tmp_path / "long.db")
    page = write_report([tmp_path / "long.db"], tmp_path / "long.html")
    assert page.stat().st_size < 1_000_000
    assert '"examples seen", 10000000' in page.read_text()
