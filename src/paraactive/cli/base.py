"""The command line itself, and the arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="paraactive",
    help="Train classifiers on streams too big to learn from example by example: sift, and learn the informative few.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="TASK_OR_FILE",
        help="digits-31v57, digits-3v5, digits-10, or a file: .parquet, .csv, .npz (x, y), .npy, .svm, also .csv.gz; "
        "or an address.",
    ),
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run file, as train --out wrote it.")]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A run file, or a model file, as save wrote it.")]
JsonOption = Annotated[
    bool, typer.Option("--json", rich_help_panel="Result", help="Print one JSON object, and nothing else.")
]
SeedOption = Annotated[
    int,
    typer.Option("--seed", rich_help_panel="Run", help="Of the order, the deformations, the coins and the weights."),
]
PassiveOption = Annotated[
    bool,
    typer.Option(
        "--passive", rich_help_panel="Result", help="Also learn passively, to the same mistakes, and show the speedups."
    ),
]
SpeedupsOption = Annotated[
    bool,
    typer.Option(
        "--speedups", rich_help_panel="Result", help="Also show the time that 1 to k nodes take, on the paper's clock."
    ),
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel="Nodes", help="Where nodes live: threads, processes, ray or simulated. Default: threads."
    ),
]
AddressOption = Annotated[
    str | None,
    typer.Option(rich_help_panel="Nodes", help="Of a Ray cluster, as 10.0.0.1:6379. Default: one on this machine."),
]
UpdatesOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel="Nodes",
        help="On processes and ray: replicated (every node learns), central (nodes get the model). Default: auto.",
    ),
]
LatencyOption = Annotated[
    float | None, typer.Option(rich_help_panel="Nodes", help="Simulated: seconds of a message. Default: 0.")
]
JitterOption = Annotated[
    float | None, typer.Option(rich_help_panel="Nodes", help="Simulated: up to so many seconds more. Default: 0.")
]
SlowdownOption = Annotated[
    float | None,
    typer.Option(rich_help_panel="Nodes", help="Simulated: the first node is so many times slower. Default: 1."),
]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose", rich_help_panel="Result", help="Show more while it runs: curves, the model, what each node does."
    ),
]
TensorBoardOption = Annotated[
    Path | None,
    typer.Option("--tensorboard", metavar="FOLDER", rich_help_panel="Result", help="Also write for TensorBoard there."),
]
MLflowOption = Annotated[
    str | None,
    typer.Option(
        "--mlflow", metavar="URI", rich_help_panel="Result", help="Also log to MLflow, as sqlite:///mlflow.db there."
    ),
]
