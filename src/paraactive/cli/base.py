"""The command line itself, and the arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="paraactive",
    help="Train classifiers on large streams: nodes score all examples in parallel, and the model learns only the "
    "informative ones.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="TASK_OR_FILE",
        help="Name of a task (digits-31v57, digits-3v5 or digits-10), or path or address of a file: .parquet, .csv, "
        ".npz with x and y, .npy or .svm, also compressed as .gz.",
    ),
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Run file, written by train --out.")]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="Run file, or model file written by save.")]
JsonOption = Annotated[
    bool,
    typer.Option("--json", rich_help_panel="Result", help="Print the result as JSON, and nothing else."),
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed",
        rich_help_panel="Run",
        help="Seed of all random numbers: order and deformation of examples, selection, initial weights.",
    ),
]
PassiveOption = Annotated[
    bool,
    typer.Option(
        "--passive",
        rich_help_panel="Result",
        help="Also train on every example until the same number of test mistakes is reached, and show the speedup.",
    ),
]
StandardizeOption = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        rich_help_panel="Data",
        help="Standardize the features: subtract the mean of each column and divide by its standard deviation, both "
        "over the warmstart. Default: standardize tables and arrays, and not images and sparse rows.",
        show_default=False,
    ),
]
MissingOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel="Data",
        help="Replace missing values of a Parquet or CSV file: mean, for the mean of the column over the warmstart. "
        "Default: missing values are an error.",
        show_default=False,
    ),
]
EncodeOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel="Data",
        help="Replace text columns of a Parquet or CSV file: onehot, for one feature for each value (at most 100). "
        "Default: text columns are an error.",
        show_default=False,
    ),
]
SpeedupsOption = Annotated[
    bool,
    typer.Option(
        "--speedups",
        rich_help_panel="Result",
        help="Also show the estimated time with 1 to 128 nodes, in seconds, without communication.",
    ),
]
LatencyOption = Annotated[
    float | None,
    typer.Option(rich_help_panel="Nodes", help="Engine simulated: latency of a message, in seconds. Default: 0."),
]
JitterOption = Annotated[
    float | None,
    typer.Option(
        rich_help_panel="Nodes", help="Engine simulated: maximum random extra latency, in seconds. Default: 0."
    ),
]
SlowdownOption = Annotated[
    float | None,
    typer.Option(
        rich_help_panel="Nodes", help="Engine simulated: factor by which the first node is slower. Default: 1."
    ),
]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose",
        rich_help_panel="Result",
        help="Show mistakes, sampling rate and the time that each node spent, while the run goes on.",
    ),
]
TensorBoardOption = Annotated[
    Path | None,
    typer.Option(
        "--tensorboard", metavar="FOLDER", rich_help_panel="Result", help="Write TensorBoard logs to this folder."
    ),
]
MLflowOption = Annotated[
    str | None,
    typer.Option(
        "--mlflow",
        metavar="URI",
        rich_help_panel="Result",
        help="Log to this MLflow tracking server, such as sqlite:///mlflow.db.",
    ),
]
LearnerOption = Annotated[
    str | None,
    typer.Option(
        "--learner",
        rich_help_panel="Parts of your own",
        help="Your own learner as package.module:Class, if the file cannot build it. Default: the learner in the file.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        rich_help_panel="Parts of your own",
        help="Set a parameter of your own learner or rule. May be given several times.",
    ),
]
