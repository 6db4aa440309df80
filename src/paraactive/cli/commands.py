"""What the commands do, once their options are read. Apart from `app`, so that --help does not wait for numba."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

import paraactive
from paraactive.cli.options import DEFAULT_EXAMPLES, make_job
from paraactive.cli.progress import ProgressBar
from paraactive.cli.tables import show_run, show_times
from paraactive.errors import InputError
from paraactive.experiments import Comparison, compare_with_passive
from paraactive.run import Run
from paraactive.training import BATCH

_ERRORS = Console(stderr=True)


def train_run(
    data: str, as_json: bool, *, learner: str | None = None, rule: str | None = None, eta: float | None = None,
    rate: float | None = None, C: float | None = None, gamma: float | None = None, gap: float | None = None,
    hidden: int | None = None, step: float | None = None, batch: int | None = None, warmstart: int | None = None,
    nodes: int = 1, engine: str = "simulated", schedule: str = "synchronous", examples: int | None = None,
    passes: int = 1, test: Path | None = None, seed: int = 0, out: Path | None = None, overwrite: bool = False,
    passive: bool = False,
) -> None:  # fmt: skip
    """Train, show, and compare if asked."""
    job = make_job(
        data, test, learner, rule, seed=seed, passes=passes, eta=eta, rate=rate,
        C=C, gamma=gamma, gap=gap, hidden=hidden, step=step,
    )  # fmt: skip
    if passive and not job.test:
        raise InputError(
            "--passive without test examples", why="speedups are taken at equal mistakes", remedy="give --test FILE"
        )
    if examples is None and job.stream.length is None:
        examples = DEFAULT_EXAMPLES
    with _told_how_to_resume(out), ProgressBar("sifting", _ERRORS) as bar:
        run = paraactive.train(
            job.new_learner(), job.stream, rule=job.new_rule(), examples=examples, batch=batch, warmstart=warmstart,
            nodes=nodes, engine=engine, schedule=schedule, seed=seed, test=job.test, out=out, overwrite=overwrite,
            observers=[bar],
        )  # fmt: skip
    comparison = None
    if passive:
        with ProgressBar("passive", _ERRORS) as bar:
            comparison = compare_with_passive(
                run, job.new_learner(), job.stream, job.test, batch=BATCH, seed=seed, observers=[bar]
            )
    _show(run, as_json, out, comparison)


def resume_run(path: Path, examples: int | None, nodes: int | None, as_json: bool) -> None:
    """Go on with a run."""
    with _told_how_to_resume(path), ProgressBar("sifting", _ERRORS) as bar:
        run = paraactive.resume(path, examples=examples, nodes=nodes, observers=[bar])
    _show(run, as_json, path)


def replay_run(path: Path, as_json: bool) -> None:
    """Rebuild a model from the log."""
    with ProgressBar("replaying", _ERRORS) as bar:
        run = paraactive.replay(path, observers=[bar])
    _show(run, as_json)
    if not as_json:
        print(f"Replayed {run.selected:,} entries: the model is the one that the run had.")


@contextmanager
def _told_how_to_resume(out: Path | None) -> Generator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if out is not None and out.exists():
            again = f"paraactive resume {shlex.quote(str(out))}"
            print(f"\nStopped; the run file is kept. To go on: {again}", file=sys.stderr)
        raise


def _show(run: Run, as_json: bool, out: Path | None = None, comparison: Comparison | None = None) -> None:
    if as_json:
        print(json.dumps(_figures(run, comparison), indent=2))
        return
    console = Console()
    show_run(console, run)
    show_times(console, run, comparison)
    if out is not None:
        print(f"The run is in {out}; check it with: paraactive replay {shlex.quote(str(out))}")


def _figures(run: Run, comparison: Comparison | None) -> dict[str, Any]:
    figures = run.summary()
    if comparison:
        speedups = comparison.speedups(run)
        figures["simulated"] = [item | {"speedup": speedups[item["nodes"]]} for item in figures["simulated"]]
        figures["passive"] = comparison.passive.summary() | {
            "seconds": comparison.seconds,
            "reached": comparison.reached,
        }
    return figures
