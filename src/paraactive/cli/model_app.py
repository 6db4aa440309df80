"""The commands that use a trained model: predict, evaluate, heaviest, save; and query, which asks for labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraactive.cli.base import JsonOption, LearnerOption, ModelArgument, RunArgument, SetOption, app


@app.command(
    epilog="Examples: [bold]paraactive predict run.db new.npz --out labels.csv[/bold]; "
    "[bold]zcat new.csv.gz | paraactive predict run.db - --id user[/bold]"
)
def predict(
    model: ModelArgument,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Rows to label: a file of any kind that train takes, or - for CSV on standard input."
        ),
    ],
    identifier: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column of the data to copy to the output, such as a key."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file to write. Default: print to the terminal.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Write text as it is. Default: put ' before text that a spreadsheet would run as a formula.",
        ),
    ] = False,
    learner: LearnerOption = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the label and the score of each row, as CSV."""
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
    """Count the mistakes of a model on labeled data, by class."""
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
    epilog="Example: [bold]paraactive query rows.csv --classes ham,spam --out run.db[/bold]; fill in the column label "
    "of run.db.ask.csv; then [bold]paraactive query run.db[/bold], until nothing is asked for."
)
def query(
    data: Annotated[
        str, typer.Argument(metavar="FILE_OR_RUN", help="Rows without labels, to begin; then the run file.")
    ],
    classes: Annotated[str | None, typer.Option(help="To begin: the labels that there are, as ham,spam.")] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="To begin: columns of the features, as a,b,c. Default: all columns of numbers but identifiers."
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="To begin: a column that identifies rows and is not a feature. Default: columns of numbers named "
            "like id, index or user_id. All columns that are not features are shown beside the question.",
        ),
    ] = None,
    rule: Annotated[
        str | None, typer.Option(help="To begin: the rule, margin, iwal or uniform. Default: margin.")
    ] = None,
    eta: Annotated[float | None, typer.Option(help="To begin: eta of the rule margin. Default: 0.3.")] = None,
    c0: Annotated[float | None, typer.Option(help="To begin: c0 of the rule iwal. Default: 2.")] = None,
    rate: Annotated[
        float | None, typer.Option(help="To begin: sampling rate of the rule uniform. Default: 0.02.")
    ] = None,
    warmstart: Annotated[int | None, typer.Option(help="To begin: labels to ask for first. Default: 50.")] = None,
    batch: Annotated[int | None, typer.Option(help="To begin: rows to sift in each round. Default: 500.")] = None,
    per_round: Annotated[
        int | None,
        typer.Option(help="To begin: labels to ask for in each later round, at most. Default: 25."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Labels to ask for in all, at most. Default: as before, or no limit.")
    ] = None,
    correct: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW=LABEL",
            help="To go on: change a label that was given before, or label a row that was skipped. The run goes back "
            "to before that row, and learns again from there. May be given several times.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="To begin: seed of the order of the rows and of the coins. Default: 0.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="To begin: the run file to write.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask for the labels of the most informative rows in a CSV file, learn what was filled in, and ask for more."""
    options = {name: value for name, value in locals().items() if name not in ("data", "as_json")}
    from paraactive.cli.asking import query_labels

    query_labels(data, as_json, **options)


@app.command(epilog="Example: [bold]paraactive save run.db --out my.model[/bold]")
def save(
    run_file: RunArgument,
    out: Annotated[Path, typer.Option(help="File to write. It holds numbers and JSON, no pickle.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if it exists.")] = False,
    learner: LearnerOption = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the model of a run to one small file, for predict, evaluate and Model.load."""
    from paraactive.cli.models import load_model, save_model

    save_model(load_model(run_file, learner, set_ or ()), out, overwrite, as_json)
