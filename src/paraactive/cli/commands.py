"""What the training commands do. `training_app` imports it late, so that --help does not wait for numba."""

from __future__ import annotations

import copy
import json
import shlex
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import paraactive
from paraactive.basics.registry import RULES
from paraactive.cli.consoles import new_console
from paraactive.cli.data_options import ColumnOptions, scale_in
from paraactive.cli.live import LiveView
from paraactive.cli.options import (
    DEFAULT_EXAMPLES,
    Job,
    learner_named,
    make_guard,
    make_job,
    number_or_text,
    weights_in,
)
from paraactive.cli.progress import ProgressBar
from paraactive.cli.tables import show_run, show_times
from paraactive.engines import Cluster
from paraactive.errors import ClusterLostError, InputError, counted
from paraactive.experiments import Comparison, compare_with_passive
from paraactive.rules import Rule
from paraactive.runs.arguments import default_warmstart
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile, request_nodes
from paraactive.runs.sampling_defaults import is_svm
from paraactive.runs.tuning import MOST_EXAMPLES, Tuned
from paraactive.runs.tuning import tune as tune_learner
from paraactive.sifting.guard import Guard, class_weights
from paraactive.sifting.parts import build_stream
from paraactive.sifting.sampling import Sampling
from paraactive.sifting.scaling import standardized
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails
from paraactive.trackers import MLflow, TensorBoard

_ERRORS = new_console(stderr=True)


_OF_TRAIN = (
    "examples",
    "batch",
    "warmstart",
    "nodes",
    "engine",
    "schedule",
    "delay",
    "updates",
    "address",
    "durability",
    "finish",
)
"""Options that are passed to `train` unchanged."""


def train_run(
    data: str, as_json: bool, *, learner: str | None = None, rule: str | None = None, settings: Sequence[str] = (),
    passes: int = 1, label: str | None = None, features: str | None = None, weight: str | None = None,
    missing: str | None = None, encode: str | None = None, class_weight: str | None = None, test: Path | None = None,
    seed: int = 0, latency: float | None = None, jitter: float | None = None, slowdown: float | None = None,
    guard: bool = False, floor: str | None = None, select: str | None = None, tune: bool = False,
    cap: float | None = None, set_aside: float | None = None, out: Path | None = None, overwrite: bool = False,
    passive: bool = False, speedups: bool = False, heading: str = "", verbose: bool = False,
    tensorboard: Path | None = None, mlflow: str | None = None, standardize: bool | None = None, **options: Any,
) -> None:  # fmt: skip
    """Train, print the result, and compare with passive learning if that is wanted.

    Parameters
    ----------
    data : str
        Name of a task, or a file.
    as_json : bool
        Print JSON.
    learner, rule : str or None
        Names, or "package.module:Class"; None for the default.
    settings : sequence of str
        Parameters of the user's own learner or rule, as NAME=VALUE.
    passes : int, default=1
        Number of passes over a file.
    label, features, weight, missing, encode : str or None
        Columns of a file; see `ColumnOptions`.
    class_weight : str or None
        "balanced", or names with weights.
    test : Path or None
        File with test examples.
    seed : int, default=0
        Seed of all random numbers.
    latency, jitter : float or None
        Latency and its random part in the engine "simulated", in seconds.
    slowdown : float or None
        Factor by which the first simulated node is slower.
    guard : bool
        Use the guard with its defaults.
    floor, select : str or None
        Sampling policy, as typed.
    tune : bool
        Choose C and gamma of the SVM on a part of the warmstart first.
    cap, set_aside : float or None
        Parts of the guard.
    out : Path or None
        Run file.
    overwrite : bool
        Replace the run file if it exists.
    passive, speedups : bool
        Compare with passive learning; print the estimated times.
    heading : str
        Text to print before the result.
    verbose : bool
        Show the live view.
    tensorboard : Path or None
        Folder for TensorBoard logs.
    mlflow : str or None
        MLflow tracking server.
    standardize : bool or None
        Whether to standardize the features; None for the default.
    **options : object
        Other options of `train`, of the learner and of the rule.
    """
    for_train = {name: options.pop(name, None) for name in _OF_TRAIN}
    for_train["finish"] = "auto" if for_train["finish"] is None else for_train["finish"]
    job = make_job(
        data, test, learner, rule, options, seed=seed, passes=passes, settings=settings,
        columns=ColumnOptions(label, features, weight, missing, encode),
    )  # fmt: skip
    if passive and not job.test:
        raise InputError(
            "--passive is given without test examples",
            why="the comparison needs the number of test mistakes",
            remedy="give --test FILE",
        )
    if for_train["examples"] is None and job.stream.length is None:
        for_train["examples"] = DEFAULT_EXAMPLES
    scaled = scale_in(standardize, job.stream)
    is_open = learner is None and rule is None
    tuned = _tuned(job, scaled, for_train["warmstart"], class_weight, is_open) if tune else None
    learner_of_run = job.new_learner() if tuned is None else tuned.learner
    plain = copy.deepcopy(learner_of_run) if passive else None
    trackers = _trackers(tensorboard, mlflow, {"data": data, "learner": job.learner_parameters, "seed": seed})

    def finished(run: Run) -> None:
        """Compare and print before the nodes end, so that a cluster that fails at the end loses no result."""
        bar.__exit__()
        comparison = None
        if plain is not None:
            with ProgressBar("passive", _ERRORS) as passive_bar:
                weights = class_weights(weights_in(class_weight), job.stream)
                alone = Guard(None, None, None).learner(plain, weights)
                comparison = compare_with_passive(
                    run, alone, job.stream, job.test, seed=seed, observers=[passive_bar], scale=scaled
                )
        if heading and not as_json:
            print(heading)
        _show(run, as_json, speedups, comparison, tuned)
        _say_where(out, as_json)

    with _naming_resume_command(out), _closed(trackers), _view("sifting", verbose) as bar:
        paraactive.train(
            learner_of_run, job.stream,
            rule=job.new_rule() if tuned is None or is_svm(tuned.learner) else None,
            cluster=_cluster(latency, jitter, slowdown), seed=seed,
            test=job.test, out=out, overwrite=overwrite, observers=[bar, *trackers],
            guard=make_guard(guard, cap, set_aside), class_weight=weights_in(class_weight), scale=scaled,
            floor=number_or_text("auto" if floor is None else floor),
            select=number_or_text("auto" if select is None else select),
            finished=finished,
            **{name: value for name, value in for_train.items() if value is not None},
        )  # fmt: skip


def _tuned(job: Job, scaled: bool | str, warmstart: int | None, class_weight: str | None, is_open: bool) -> Tuned:
    """Choose the parameters of the SVM on the first examples of the stream, or a network if no learner was typed."""
    details = StreamDetails(job.stream)
    length = job.stream.length or MOST_EXAMPLES * 5
    first = default_warmstart(length) if warmstart is None else warmstart
    weights = class_weights(weights_in(class_weight), job.stream)
    early = Sampling(class_weight=weights).weighted(
        job.stream.read(0, min(MOST_EXAMPLES, length, first, details.first_pass or length)), len(job.stream.classes)
    )
    learner = standardized(job.new_learner(), scaled, job.stream)
    return tune_learner(learner, early, len(job.stream.classes), or_network=is_open and is_svm(learner))


def resume_run(
    path: Path, as_json: bool, *, examples: int | None, passes: int | None, learner: str | None,
    settings: Sequence[str], rule: str | None, latency: float | None, jitter: float | None, slowdown: float | None,
    speedups: bool = False, verbose: bool = False, tensorboard: Path | None = None, mlflow: str | None = None,
    **options: Any,
) -> None:  # fmt: skip
    """Continue a run, and print the result.

    Parameters
    ----------
    path : Path
        Run file.
    as_json : bool
        Print JSON.
    examples, passes : int or None
        New total number; None for the number before.
    learner : str or None
        The user's own learner, as "package.module:Class".
    settings : sequence of str
        Its parameters, as NAME=VALUE.
    rule : str or None
        The user's own rule, as "package.module:Class".
    latency, jitter : float or None
        Latency and its random part in the engine "simulated", in seconds.
    slowdown : float or None
        Factor by which the first simulated node is slower.
    speedups : bool
        Print the estimated times.
    verbose : bool
        Show the live view.
    tensorboard : Path or None
        Folder for TensorBoard logs.
    mlflow : str or None
        MLflow tracking server.
    **options : object
        Other options of `resume`.
    """
    stream = None if passes is None else _with_passes(path, passes)
    if stream is not None and examples is None:
        examples = stream.length
    trackers = _trackers(tensorboard, mlflow, {"run": str(path)})

    def finished(run: Run) -> None:
        bar.__exit__()
        _show(run, as_json, speedups)
        _say_where(path, as_json)

    with _naming_resume_command(path), _closed(trackers), _view("sifting", verbose) as bar:
        paraactive.resume(
            path, examples=examples, cluster=_cluster(latency, jitter, slowdown), stream=stream,
            learner=learner_named(learner, settings), rule=None if rule is None else cast(Rule, RULES.find(rule)()),
            observers=[bar, *trackers], finished=finished, **options,
        )  # fmt: skip


def _view(title: str, verbose: bool) -> ProgressBar | LiveView:
    return LiveView(title, _ERRORS) if verbose and _ERRORS.is_terminal else ProgressBar(title, _ERRORS)


def _trackers(tensorboard: Path | None, mlflow: str | None, parameters: dict[str, Any]) -> list[TensorBoard | MLflow]:
    """The trackers that the options name."""
    found: list[TensorBoard | MLflow] = [] if tensorboard is None else [TensorBoard(tensorboard)]
    return found if mlflow is None else [*found, MLflow(uri=mlflow, parameters=parameters)]


@contextmanager
def _closed(trackers: list[TensorBoard | MLflow]) -> Generator[None]:
    """Close the trackers, also after an error."""
    try:
        yield
    finally:
        for tracker in trackers:
            tracker.close()


def resize_run(path: Path, nodes: int, as_json: bool) -> None:
    """Change the number of nodes of a run that another process is running.

    Parameters
    ----------
    path : Path
        Run file.
    nodes : int
        Number of nodes from the next round on.
    as_json : bool
        Print JSON.
    """
    request_nodes(path, nodes)
    if as_json:
        print(json.dumps({"run": str(path), "nodes": nodes}))
        return
    print(f"The run in {path} will have {counted(nodes, 'node')} from its next round on.")


def _cluster(latency: float | None, jitter: float | None, slowdown: float | None) -> Cluster | None:
    """The simulated cluster; None if no option describes it."""
    if latency is None and jitter is None and slowdown is None:
        return None
    return Cluster(slowness=() if slowdown is None else (slowdown,), latency=latency or 0.0, jitter=jitter or 0.0)


def _with_passes(path: Path, passes: int) -> Stream:
    """The stream of a run, with more passes over its file."""
    with RunFile.read(path) as file, file.reraise_as_corruption():
        stream = file.spec.data.stream
        if stream.kind not in ("arrays", "table"):
            raise InputError(
                "--passes is given", why="the run does not read a file", remedy="give --examples to extend it"
            )
        return build_stream(stream.changed(passes=passes))


def replay_run(path: Path, learner: str | None, settings: Sequence[str], as_json: bool) -> None:
    """Rebuild a model from the log, and print the result.

    Parameters
    ----------
    path : Path
        Run file.
    learner : str or None
        The user's own learner, as "package.module:Class".
    settings : sequence of str
        Its parameters, as NAME=VALUE.
    as_json : bool
        Print JSON.
    """
    with ProgressBar("replaying", _ERRORS) as bar:
        run = paraactive.replay(path, learner=learner_named(learner, settings), observers=[bar])
    if as_json:
        print(json.dumps(run.summary() | {"checked": run.checked}, indent=2))
        return
    show_run(new_console(), run)
    entries = f"Replayed {counted(len(run.learned.key), 'entry', 'entries')} (the times above are from the run itself)"
    if run.checked:
        places = counted(run.checked, "snapshot")
        print(f"{entries}: the model is identical to the model of the run, bit for bit, at {places}.")
    else:
        print(f"{entries}; the model was not compared, because the run has no snapshot.")


@contextmanager
def _naming_resume_command(out: Path | None) -> Generator[None]:
    """Add the command that continues the run to the message, if the run is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        if out is not None and out.exists():
            print(f"\nStopped. The run file is kept. Continue with: {_resume_command(out)}", file=sys.stderr)
        raise
    except ClusterLostError as error:
        if out is None:
            raise
        remedy = f"continue, with this cluster or with --engine processes: {_resume_command(out)}"
        raise ClusterLostError(error.fact, why=error.why, remedy=remedy) from error


def _resume_command(out: Path) -> str:
    return f"paraactive resume {shlex.quote(str(out))}"


def _show(
    run: Run, as_json: bool, speedups: bool, comparison: Comparison | None = None, tuned: Tuned | None = None
) -> None:
    if as_json:
        chosen = {} if tuned is None else {"tuned": str(tuned)}
        print(json.dumps(_figures(run, comparison) | chosen, indent=2))
        return
    if tuned is not None:
        print(f"The learner was {tuned}.")
    console = new_console()
    show_run(console, run)
    if comparison or speedups:
        show_times(console, run, comparison)


def _say_where(out: Path | None, as_json: bool) -> None:
    if out is not None and not as_json:
        name = shlex.quote(str(out))
        print(f"The run file is {out}. Show it with: paraactive report {name}")
        print(f"Check it with: paraactive replay {name}")


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
