"""The commands that train: demo, train, resume, replay and resize.

Options that set a parameter of `train`, of a learner or of a rule are derived from that parameter and its docstring.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from paraactive.basics.registry import LEARNERS, RULES
from paraactive.cli.base import (
    DataArgument,
    EncodeOption,
    JitterOption,
    JsonOption,
    LatencyOption,
    LearnerOption,
    MissingOption,
    MLflowOption,
    PassiveOption,
    RunArgument,
    SeedOption,
    SetOption,
    SlowdownOption,
    SpeedupsOption,
    StandardizeOption,
    TensorBoardOption,
    VerboseOption,
    app,
)
from paraactive.cli.derived import option_of, options_from, part_options, with_options
from paraactive.cli.parameters import Parameter

_TRAIN, _RESUME = "paraactive.runs.train:train", "paraactive.runs.resume:resume"
_TEXTS = {
    "examples": "Number of examples to read from the stream. Default: 102400 for a task, the whole file otherwise.",
    "gamma": "Kernel coefficient gamma of the SVM: a number, or scale for 1 / (features x variance). Default: 0.012 "
    "for the digits, otherwise scale.",
    "gap": "Optimize the SVM after each round until its duality gap is at most this; 0 turns it off. Default: 0.2, or "
    "0 with the rules uniform and passive.",
    "eta": "Aggressiveness of the rules margin, signed and least: a larger eta selects fewer examples. Default: "
    "depends on the learner.",
    "theta": "Noise of the labels, for the rules margin, signed and least: the error that the best possible model "
    "would make, or auto to estimate it from the run. 0 is the rule of the paper. Default: auto.",
    "steepest": "Upper bound on the slope eta / (theta + 1/sqrt(n)) of the rules margin, signed and least. Default: "
    "for signed and least with the SVM, 3 for up to 90 features and features / 30 beyond, otherwise no bound.",
    "rate": "Sampling rate of the rule uniform, between 0 and 1. Default: the rate that the default rule would have.",
    "floor": "Lower bound on the sampling probability: a number, auto for 1/sqrt(n), where n is the number of examples "
    "seen, or none. Default: auto.",
    "select": "Number of examples to select: a rate below 1, a total, or a limit that grows, such as '50*n**0.5'. auto "
    "keeps the time to learn nearly linear, none sets no limit. Default: auto.",
    "cap": "Upper bound on the weight of an example. It biases the model. Default: none.",
    "set_aside": "Do not learn examples that are misclassified by more than this margin. Default: 0.3 for the SVM "
    "with --guard, otherwise none.",
}
"""Help where the default on the command line differs from the default in Python."""
_FINISH = "Optimize the SVM once more at the end of the run, on all examples that it learned."
_RESUME_TEXTS = {
    "updates": "Engines processes and ray: how nodes get new models: every node learns (replicated), the driver "
    "learns and sends the model (central), or whichever sends fewer bytes (auto). Default: as before.",
    "durability": "Which crash the last commit to the run file survives: the program is killed (process), or the "
    "machine loses power (power, which waits for the disk at each commit). Default: as before.",
}


@app.command(epilog="Example: [bold]paraactive demo[/bold]")
def demo(
    examples: Annotated[int, typer.Option(help="Number of examples to read.")] = 40_960,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Run file to write. Default: paraactive-demo.db, which is replaced if it exists."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train an SVM on the bundled handwritten digits, and compare with learning every example.

    The task is to distinguish the digits 3 and 1 from 5 and 7. The rule is signed.
    """
    from paraactive.cli.commands import train_run

    train_run(
        "digits-31v57", as_json, out=out or Path("paraactive-demo.db"), overwrite=out is None, passive=True,
        examples=examples, seed=seed, heading="Handwritten digits, 3 and 1 against 5 and 7, learned with sifting:",
    )  # fmt: skip


@app.command(
    epilog="Examples: [bold]paraactive train digits-31v57 --examples 100000 --nodes 8 --out run.db[/bold]; "
    "[bold]paraactive train data.parquet --label y --out run.db[/bold]",
)
@with_options(
    options_from(_TRAIN, ("examples", "batch", "warmstart", "schedule", "delay"), "Run", _TEXTS),
    [option_of(Parameter("finish", "bool"), "Run", f"{_FINISH} Default: if that is cheap.")],
    options_from(_TRAIN, ("nodes", "engine", "address", "updates"), "Nodes", _TEXTS),
    part_options(LEARNERS, "Learner", _TEXTS),
    part_options(RULES, "Rule", _TEXTS),
    options_from(_TRAIN, ("floor", "select"), "Rule", _TEXTS),
    options_from("paraactive.sifting.guard:Guard", ("cap", "set_aside"), "Guard", _TEXTS),
    options_from(_TRAIN, ("out", "durability"), "Result", _TEXTS),
)
def train(
    data: DataArgument,
    learner: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Learner",
            help=f"The model to train: {' or '.join(LEARNERS.names)}, or package.module:Class of your own. Default: "
            "network for digits-3v5, otherwise svm.",
        ),
    ] = None,
    set_: SetOption = None,
    rule: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Rule",
            help=f"Rule that sets the sampling probability p of each example: {', '.join(RULES.names)}, or "
            "package.module:Class of your own. Default: signed for the SVM (least with more than two classes), "
            "gradient for the network.",
        ),
    ] = None,
    passes: Annotated[int, typer.Option(rich_help_panel="Data", help="Number of passes over the file.")] = 1,
    label: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Data",
            help="Name of the label column in a Parquet or CSV file. Default: label, target, class or y.",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Data",
            help="Names of the feature columns, separated by commas. Default: all other columns.",
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(rich_help_panel="Data", help="Name of a column with sample weights. Default: all weights are 1."),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Data",
            help="Class weights: balanced, or a weight for each class, such as ham=1,spam=5. Default: all 1.",
        ),
    ] = None,
    standardize: StandardizeOption = None,
    missing: MissingOption = None,
    encode: EncodeOption = None,
    test: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel="Data",
            help="File with labeled test examples. Default: the task's own test set, or none for a file.",
        ),
    ] = None,
    seed: SeedOption = 0,
    latency: LatencyOption = None,
    jitter: JitterOption = None,
    slowdown: SlowdownOption = None,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            rich_help_panel="Learner",
            help="Choose C and gamma of the SVM first, on at most 6000 examples of the warmstart, of which each "
            "candidate learns at most 2000. Without --learner and --rule, a network may be chosen, too.",
        ),
    ] = False,
    guard: Annotated[
        bool,
        typer.Option(
            "--guard",
            rich_help_panel="Guard",
            help="Limit the effect of wrong labels: leave out examples that stay confidently misclassified.",
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel="Result", help="Replace the run file if it exists.")
    ] = False,
    passive: PassiveOption = False,
    speedups: SpeedupsOption = False,
    verbose: VerboseOption = False,
    tensorboard: TensorBoardOption = None,
    mlflow: MLflowOption = None,
    as_json: JsonOption = False,
    **options: Any,
) -> None:
    """Train a learner on a task or a file."""
    own = {name: value for name, value in locals().items() if name not in ("data", "as_json", "set_", "options")}
    from paraactive.cli.commands import train_run

    train_run(data, as_json, settings=set_ or (), **own, **options)


@app.command(epilog="Example: [bold]paraactive resume run.db[/bold]")
@with_options(
    options_from(_RESUME, ("examples",), "Run", {}),
    [option_of(Parameter("finish", "bool"), "Run", f"{_FINISH} Default: as before.")],
    options_from(_RESUME, ("nodes", "engine", "address", "updates"), "Nodes", _RESUME_TEXTS),
    options_from(_RESUME, ("durability",), "Result", _RESUME_TEXTS),
)
def resume(
    run_file: RunArgument,
    passes: Annotated[
        int | None,
        typer.Option(rich_help_panel="Run", help="New total number of passes over the file. Default: as before."),
    ] = None,
    learner: LearnerOption = None,
    set_: SetOption = None,
    rule: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Parts of your own",
            help="Your own rule as package.module:Class, if the file cannot build it. Default: the rule in the file.",
        ),
    ] = None,
    latency: LatencyOption = None,
    jitter: JitterOption = None,
    slowdown: SlowdownOption = None,
    speedups: SpeedupsOption = False,
    verbose: VerboseOption = False,
    tensorboard: TensorBoardOption = None,
    mlflow: MLflowOption = None,
    as_json: JsonOption = False,
    **options: Any,
) -> None:
    """Continue a run that was stopped, or extend it. The model is the same as without the interruption.

    The number of nodes and the engine may differ from before. The model of an asynchronous run depends on the speed of
    its nodes, also without an interruption.
    """
    from paraactive.cli.commands import resume_run

    resume_run(
        run_file, as_json, passes=passes, learner=learner, settings=set_ or (), rule=rule, latency=latency,
        jitter=jitter, slowdown=slowdown, speedups=speedups, verbose=verbose, tensorboard=tensorboard, mlflow=mlflow,
        **options,
    )  # fmt: skip


@app.command(epilog="Example: [bold]paraactive replay run.db[/bold]")
def replay(
    run_file: RunArgument, learner: LearnerOption = None, set_: SetOption = None, as_json: JsonOption = False
) -> None:
    """Rebuild the model of a run from its log, and check that it is identical, bit for bit."""
    from paraactive.cli.commands import replay_run

    replay_run(run_file, learner, set_ or (), as_json)


@app.command(epilog="Example: [bold]paraactive resize run.db --nodes 4[/bold]")
def resize(
    run_file: RunArgument,
    nodes: Annotated[int, typer.Option(help="Number of nodes from the next round on.")],
    as_json: JsonOption = False,
) -> None:
    """Change the number of nodes of an asynchronous run that another process is running."""
    from paraactive.cli.commands import resize_run

    resize_run(run_file, nodes, as_json)
