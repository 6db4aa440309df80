"""The commands that use a trained model: predict, evaluate, heaviest, save; and query, which asks for labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraactive.cli.base import (
    EncodeOption,
    JsonOption,
    LearnerOption,
    MissingOption,
    ModelArgument,
    RunArgument,
    SetOption,
    StandardizeOption,
    app,
)


@app.command(
    epilog="Examples: [bold]paraactive predict run.db new.npz --out labels.csv[/bold]; "
    "[bold]zcat new.csv.gz | paraactive predict run.db - --id user[/bold]"
)
def predict(
    model: ModelArgument,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="File with rows to label, in any format that train reads, or - for CSV on standard input.",
        ),
    ],
    identifier: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="Column of the data to copy to the output, such as a key. Default: none."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file to write. Default: print to the terminal.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Write text unchanged. Default: write ' before text that a spreadsheet would run as a formula.",
        ),
    ] = False,
    learner: LearnerOption = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Predict the label and the score of each row, and write them as CSV."""
    from paraactive.cli.models import load_model, predict_file

    predict_file(lambda: load_model(model, learner, set_ or ()), data, identifier, out, overwrite, raw, as_json)


@app.command(epilog="Example: [bold]paraactive evaluate run.db test.npz[/bold]")
def evaluate(
    model: ModelArgument,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="File with labeled examples, or - for CSV on standard input. Default: the test examples of the run.",
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Name of the label column. Default: the column that the model was trained on.")
    ] = None,
    learner: LearnerOption = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the mistakes of a model on labeled data, for each class."""
    from paraactive.cli.models import evaluate_file, load_model

    evaluate_file(load_model(model, learner, set_ or ()), model, data, label, as_json)


@app.command(epilog="Example: [bold]paraactive heaviest run.db[/bold]")
def heaviest(
    run_file: RunArgument,
    count: Annotated[int, typer.Option(help="Number of examples to show.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Show the learned examples with the largest weights. Outliers and wrong labels are often among them."""
    from paraactive.cli.models import show_heaviest

    show_heaviest(run_file, count, as_json)


@app.command(
    epilog="Example: [bold]paraactive query rows.csv --classes ham,spam --out run.db[/bold] starts a run. Fill in the "
    "column label of run.db.ask.csv, run [bold]paraactive query run.db[/bold], and repeat until it prints Done."
)
def query(
    data: Annotated[
        str,
        typer.Argument(
            metavar="FILE_OR_RUN", help="To start a new run: file with unlabeled rows. To continue a run: its run file."
        ),
    ],
    classes: Annotated[
        str | None,
        typer.Option(help="New run, required: names of the classes, separated by commas, such as ham,spam."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="New run: names of the feature columns, separated by commas. Default: all numeric columns except "
            "identifiers."
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="New run: a numeric column that identifies rows and is not a feature. Numeric columns with names such "
            "as id, index or user_id are never features by default. The CSV file shows all columns of the data.",
        ),
    ] = None,
    standardize: StandardizeOption = None,
    missing: MissingOption = None,
    encode: EncodeOption = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="New run: rule that sets the probability of asking for the label of a row: margin, iwal or uniform. "
            "Default: margin."
        ),
    ] = None,
    eta: Annotated[
        float | None,
        typer.Option(
            help="New run: aggressiveness of the rule margin; with a larger eta fewer labels are asked for. "
            "Default: 0.3."
        ),
    ] = None,
    c0: Annotated[
        float | None,
        typer.Option(
            help="New run: the constant C0 of the rule iwal, at least 2; with a larger c0 more labels are asked for. "
            "Default: 2."
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="New run: sampling rate of the rule uniform, between 0 and 1. Default: 0.02."),
    ] = None,
    warmstart: Annotated[
        int | None, typer.Option(help="New run: number of labels to ask for in the first round. Default: 50.")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="New run: number of rows to sift in each round. Default: 500.")
    ] = None,
    per_round: Annotated[
        int | None,
        typer.Option(help="New run: maximum number of labels to ask for in each later round. Default: 25."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of labels to ask for in the whole run. Default: no limit for a new run, as before "
            "otherwise."
        ),
    ] = None,
    correct: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW=LABEL",
            help="Existing run: correct the label of a row, or label a row that was skipped. The run goes back to the "
            "place before that row and learns again from there. May be given several times.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="New run: seed of the order of the rows and of their selection. Default: 0.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="New run, required: the run file to write.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Learn from unlabeled rows: ask for the labels of the most informative rows.

    Each call reads the labels that you filled in, learns them, and writes a CSV file with the next rows to label.
    """
    options = {name: value for name, value in locals().items() if name not in ("data", "as_json")}
    from paraactive.cli.asking import query_labels

    query_labels(data, as_json, **options)


@app.command(epilog="Example: [bold]paraactive save run.db --out my.model[/bold]")
def save(
    run_file: RunArgument,
    out: Annotated[Path, typer.Option(help="Model file to write. It contains arrays and JSON, and no pickle.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    learner: LearnerOption = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the model of a run to a file that predict, evaluate and Model.load can read."""
    from paraactive.cli.models import load_model, save_model

    save_model(load_model(run_file, learner, set_ or ()), out, overwrite, as_json)
