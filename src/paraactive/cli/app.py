"""The commands. Each has an example in its help, --json for machines, and a progress bar for people."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from paraactive._version import __version__
from paraactive.cli import report_app
from paraactive.cli.base import (
    AddressOption,
    DataArgument,
    EngineOption,
    JitterOption,
    JsonOption,
    LatencyOption,
    MLflowOption,
    ModelArgument,
    PassiveOption,
    RunArgument,
    SeedOption,
    SlowdownOption,
    SpeedupsOption,
    TensorBoardOption,
    UpdatesOption,
    VerboseOption,
    app,
)
from paraactive.cli.wording import in_options
from paraactive.errors import NodeWarning, ParaActiveError, ReplicaWarning, RunFileWarning, SlowScoresWarning


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        with _warnings_in_one_line():
            code: object = app(arguments, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except ParaActiveError as error:
        return _complain(in_options(error, _options_of(arguments)))
    except (KeyboardInterrupt, typer.Abort):
        print("paraactive: stopped", file=sys.stderr)
        return 130
    except Exception as error:
        message = getattr(error, "format_message", None)  # what typer raises for a wrong command line
        if message is None:
            raise
        said = str(message()).rstrip(".")  # nothing where the help has been shown instead
        return _complain(f"{said} (see '{_help_for(arguments)}')") if said else 2


@contextmanager
def _warnings_in_one_line() -> Generator[None]:
    """Ours, for people: without the place in our code that they come from."""
    shown = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **how: Any) -> None:
        if issubclass(category, NodeWarning | ReplicaWarning | RunFileWarning | SlowScoresWarning):
            print(f"paraactive: warning: {message}", file=sys.stderr)
        else:
            shown(message, category, *where, **how)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown


def _options_of(arguments: list[str]) -> dict[str, str]:
    """What the parameters of the command are called on the command line."""
    commands: dict[str, Any] = getattr(typer.main.get_command(app), "commands", {})
    command = next((commands[word] for word in arguments[:1] if word in commands), None)
    own = () if command is None else command.params
    return {each.name: each.opts[0] for each in own if each.name and each.opts[0].startswith("--")}


def _help_for(arguments: list[str]) -> str:
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    return " ".join(["paraactive", *[word for word in arguments[:1] if word in known], "--help"])


def _complain(message: str) -> int:
    print(f"paraactive: error: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _show_version(asked: bool) -> None:
    if asked:
        print(f"paraactive {__version__}")
        raise typer.Exit


@app.callback()
def _options(  # pyright: ignore[reportUnusedFunction]
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(epilog="Example: [bold]paraactive demo[/bold]")
def demo(
    examples: Annotated[int, typer.Option(help="Examples to see.")] = 40_960,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None, typer.Option(help="The run file. Default: paraactive-demo.db, and an older one is replaced.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """The main job on the bundled digits: {3,1} v {5,7}, signed margin, beside passive learning."""
    where = out or Path("paraactive-demo.db")
    _train(
        "digits-31v57", as_json, out=where, overwrite=out is None, passive=True, examples=examples, seed=seed,
        heading="Handwritten 3 and 1 told from 5 and 7, by sifting:",
    )  # fmt: skip


@app.command(
    epilog="Examples: [bold]paraactive train digits-31v57 --examples 100000 --nodes 8 --out run.db[/bold]; "
    "[bold]paraactive train data.parquet --label y --out run.db[/bold]",
)
def train(
    data: DataArgument,
    learner: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Learner",
            help="The model to train: svm or network. Default: network for digits-3v5, otherwise svm.",
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Rule",
            help="Rule that sets the sampling probability p of each example: margin, signed, least, gradient, iwal, "
            "uniform or passive. Default: signed for the SVM (least with more than two classes), gradient for the "
            "network.",
        ),
    ] = None,
    eta: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Rule",
            help="Aggressiveness of the rules margin, signed and least: a larger eta selects fewer examples. "
            "Default: depends on the learner.",
        ),
    ] = None,
    c0: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Rule",
            help="Constant C0 of the rule iwal: a larger value selects more examples. Default: 2.",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Rule",
            help="Sampling rate of the rule uniform, between 0 and 1. Default: the rate that the default rule would "
            "have.",
        ),
    ] = None,
    C: Annotated[
        float | None,
        typer.Option("--C", rich_help_panel="Learner", help="Regularization parameter C of the SVM. Default: 1."),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Learner",
            help="Kernel coefficient gamma of the SVM. Default: 0.012 for the digits, otherwise 1 / (features x "
            "variance).",
        ),
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Learner",
            help="Optimize the SVM after each round until its duality gap is at most this; 0 turns it off. Default: "
            "0.2, or 0 with the rules uniform and passive.",
        ),
    ] = None,
    cache_size: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Learner", help="Memory for cached kernel values of the SVM, in MB. Default: 1000."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            rich_help_panel="Learner", help="Largest number of support vectors of the SVM. Default: no limit."
        ),
    ] = None,
    no_cascade: Annotated[
        bool,
        typer.Option(
            "--no-cascade",
            rich_help_panel="Learner",
            help="Compute the exact SVM score of every example, and do not filter examples by a cheap score first.",
        ),
    ] = False,
    hidden: Annotated[
        int | None, typer.Option(rich_help_panel="Learner", help="Number of hidden units of the network. Default: 100.")
    ] = None,
    minibatch: Annotated[
        int | None,
        typer.Option(
            rich_help_panel="Learner", help="Number of examples in each gradient step of the network. Default: 1."
        ),
    ] = None,
    step: Annotated[
        float | None, typer.Option(rich_help_panel="Learner", help="Learning rate of the network. Default: 0.07.")
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            rich_help_panel="Run",
            help="Number of examples that all nodes together sift in one round. Default: 4096, or an eighth of a "
            "smaller file.",
        ),
    ] = None,
    warmstart: Annotated[
        int | None,
        typer.Option(
            rich_help_panel="Run",
            help="Number of examples to learn before sifting begins. Default: 4096, or a fifth of a smaller file.",
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            rich_help_panel="Nodes", help="Number of nodes that sift in parallel. Default: one for each CPU core."
        ),
    ] = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    updates: UpdatesOption = None,
    latency: LatencyOption = None,
    jitter: JitterOption = None,
    slowdown: SlowdownOption = None,
    schedule: Annotated[
        str,
        typer.Option(
            rich_help_panel="Run",
            help="Order of sifting and learning: synchronous (in rounds), asynchronous (nodes do not wait for each "
            "other) or sequential (learn after each selected example).",
        ),
    ] = "synchronous",
    delay: Annotated[
        int | None,
        typer.Option(
            rich_help_panel="Run",
            help="Schedule asynchronous: largest number of examples by which a sifting model may lag behind. "
            "Default: two batches.",
        ),
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(
            rich_help_panel="Run",
            help="Number of examples to read from the stream. Default: 102400 for a task, the whole file otherwise.",
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
        str | None, typer.Option(rich_help_panel="Data", help="Name of a column with sample weights.")
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Data", help="Class weights: balanced, or a weight for each class, such as ham=1,spam=5."
        ),
    ] = None,
    guard: Annotated[
        bool,
        typer.Option(
            "--guard",
            rich_help_panel="Guard",
            help="Limit the effect of wrong labels: set a lower bound on the sampling probability, and leave out "
            "examples that stay confidently misclassified.",
        ),
    ] = False,
    floor: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Guard",
            help="Lower bound on the sampling probability. Default: 0.01 with --guard, otherwise none.",
        ),
    ] = None,
    cap: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Guard",
            help="Upper bound on the weight 1/p of an example. It biases the model. Default: none.",
        ),
    ] = None,
    set_aside: Annotated[
        float | None,
        typer.Option(
            rich_help_panel="Guard",
            help="Do not learn examples that are misclassified by more than this margin. Default: 0.3 for the SVM "
            "with --guard, otherwise none.",
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel="Data",
            help="File with labeled test examples. Default: the task's own test set, or none for a file.",
        ),
    ] = None,
    seed: SeedOption = 0,
    out: Annotated[
        Path | None,
        typer.Option(rich_help_panel="Result", help="Run file to write. It is needed for resume, replay and report."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel="Result", help="Replace the run file if it exists.")
    ] = False,
    durability: Annotated[
        str,
        typer.Option(
            rich_help_panel="Result",
            help="Which crash the last commit to the run file survives: process (the program is killed) or power (the "
            "machine loses power; each commit waits for the disk). In both cases the file stays whole.",
        ),
    ] = "process",
    passive: PassiveOption = False,
    speedups: SpeedupsOption = False,
    verbose: VerboseOption = False,
    tensorboard: TensorBoardOption = None,
    mlflow: MLflowOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a learner on a task or a file."""
    options = {name: value for name, value in locals().items() if name not in ("data", "as_json")}
    _train(data, as_json, **options)


@app.command(epilog="Example: [bold]paraactive resume run.db[/bold]")
def resume(
    run_file: RunArgument,
    examples: Annotated[
        int | None, typer.Option(help="New total number of examples to read. It must not be smaller than before.")
    ] = None,
    passes: Annotated[int | None, typer.Option(help="New total number of passes over the file.")] = None,
    nodes: Annotated[
        int | None, typer.Option(rich_help_panel="Nodes", help="Continue with this number of nodes.")
    ] = None,
    engine: Annotated[str | None, typer.Option(rich_help_panel="Nodes", help="Continue on this engine.")] = None,
    address: AddressOption = None,
    updates: UpdatesOption = None,
    latency: LatencyOption = None,
    jitter: JitterOption = None,
    slowdown: SlowdownOption = None,
    speedups: SpeedupsOption = False,
    verbose: VerboseOption = False,
    tensorboard: TensorBoardOption = None,
    mlflow: MLflowOption = None,
    as_json: JsonOption = False,
) -> None:
    """Go on with a run that was stopped, or extend one; it ends as if it had never stopped.

    Also with other nodes than before. Only an asynchronous run depends on who is fast, stopped or not.
    """
    from paraactive.cli.commands import resume_run

    resume_run(
        run_file, as_json, examples=examples, passes=passes, nodes=nodes, engine=engine, address=address,
        updates=updates, latency=latency, jitter=jitter, slowdown=slowdown, speedups=speedups, verbose=verbose,
        tensorboard=tensorboard, mlflow=mlflow,
    )  # fmt: skip


@app.command(epilog="Example: [bold]paraactive replay run.db[/bold]")
def replay(run_file: RunArgument, as_json: JsonOption = False) -> None:
    """Rebuild the model from the log alone and check that it is the same, bit for bit."""
    from paraactive.cli.commands import replay_run

    replay_run(run_file, as_json)


@app.command(epilog="Example: [bold]paraactive resize run.db --nodes 4[/bold]")
def resize(
    run_file: RunArgument,
    nodes: Annotated[int, typer.Option(help="Nodes from the next round on.")],
    as_json: JsonOption = False,
) -> None:
    """Give a run that goes on, elsewhere, more nodes or fewer; it must be asynchronous."""
    from paraactive.cli.commands import resize_run

    resize_run(run_file, nodes, as_json)


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
    out: Annotated[Path | None, typer.Option(help="A CSV file for them. Default: the terminal.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Write text as it is. Default: put ' before text that a spreadsheet would run as a formula.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the label and the score of each row, as CSV."""
    from paraactive.cli.models import predict_file

    predict_file(model, data, identifier, out, overwrite, raw, as_json)


@app.command(epilog="Example: [bold]paraactive evaluate run.db test.npz[/bold]")
def evaluate(
    model: ModelArgument,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="Examples with labels, a file or - for CSV on standard input. Default: the run's own test examples.",
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Column of the labels. Default: the one that the model was trained on.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """How many of the labels a model gets wrong, and which."""
    from paraactive.cli.models import evaluate_file

    evaluate_file(model, data, label, as_json)


@app.command(epilog="Example: [bold]paraactive heaviest run.db[/bold]")
def heaviest(
    run_file: RunArgument,
    count: Annotated[int, typer.Option(help="How many.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """The examples that were learnt with the largest weights: outliers and wrong labels are found among them."""
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
            help="To go on: change a label that was told before, or label a row that was skipped. The run goes back to "
            "before that row, and learns again from there. May be given several times.",
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
    out: Annotated[Path, typer.Option(help="The file to write: numbers and JSON, no pickle.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """The model of a run as one small file, for predict, evaluate and Model.load."""
    from paraactive.cli.models import save_model

    save_model(run_file, out, overwrite, as_json)


@app.command(epilog="Example: [bold]paraactive plan run.db --latency 0.001 --bandwidth 125[/bold]")
def plan(
    run_file: RunArgument,
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="A second run file, to try the prediction on.")
    ] = None,
    latency: Annotated[float, typer.Option(help="Seconds that a message takes between machines.")] = 0.0,
    bandwidth: Annotated[
        float | None, typer.Option(help="Megabytes a second between machines. Default: no limit.")
    ] = None,
    examples: Annotated[int | None, typer.Option(help="Predict for so many. Default: as many as the run saw.")] = None,
    as_json: JsonOption = False,
) -> None:
    """How many nodes pay: fit the cost model to a recorded run, and predict the time of 1 to 1024 nodes."""
    from paraactive.cli.theory import plan_nodes

    plan_nodes(run_file, other, latency, bandwidth, examples, as_json)


def _train(data: str, as_json: bool, **options: Any) -> None:
    from paraactive.cli.commands import train_run

    train_run(data, as_json, **options)


report_app.add_to(app)
