"""The commands that show runs: report, watch, reproduce and plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraactive.cli.base import JsonOption, RunArgument, app

RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUN", help="Run files, as train --out wrote them; several are compared.")
]
ImageOption = Annotated[
    str | None,
    typer.Option("--image", metavar="HEIGHTxWIDTH", help="Show examples as images of that size. Digits are, unasked."),
]


def report(
    runs: RunsArgument,
    out: Annotated[Path | None, typer.Option(help="The page. Default: the name of the first run, as .html.")] = None,
    image: ImageOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the page if it is there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """One page with all that run files tell: error, sampling rate, nodes, delays, weights. Works without network."""
    from paraactive.cli.reports import write_runs

    write_runs(runs, out, image, overwrite, as_json)


def watch(
    runs: RunsArgument,
    port: Annotated[int, typer.Option(help="Of this machine, on which the page is. Default: one that is free.")] = 0,
    image: ImageOption = None,
    as_json: JsonOption = False,
) -> None:
    """The same page live, in a browser on this machine, while the run goes on. Ctrl-C ends it, not the run."""
    from paraactive.cli.reports import watch_runs

    watch_runs(runs, port, image, as_json)


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="svm or network: the paper's comparisons; stragglers: one slow node; delays: stale models in IWAL.",
        ),
    ],
    scale: Annotated[
        str, typer.Option(help="small: a few minutes. paper: to where passive learning levels off.")
    ] = "small",
    seeds: Annotated[int | None, typer.Option(help="Runs of each kind. Default: by experiment and scale.")] = None,
    steps: Annotated[int, typer.Option(help="Of delays: examples of each run.")] = 100_000,
    c0: Annotated[float, typer.Option(help="Of delays: C0 of IWAL, at least 2.")] = 2.0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for run files, figures, points and page. Default: reproduce-EXPERIMENT."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run an experiment of the paper or of ours, and show it: figures, a page, and the paper's claims one by one."""
    from paraactive.cli.reproducing import reproduce_experiment

    reproduce_experiment(experiment, scale, seeds, steps, c0, out, as_json)


def plan(
    run_file: RunArgument,
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="A second run file, to try the prediction on.")
    ] = None,
    latency: Annotated[float, typer.Option(help="Seconds that a message takes between machines.")] = 0.0,
    bandwidth: Annotated[
        float | None, typer.Option(help="Megabytes a second between machines. Default: no limit.")
    ] = None,
    examples: Annotated[
        int | None, typer.Option(help="Number of examples to predict for. Default: as many as the run saw.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """How many nodes pay: fit the cost model to a recorded run, and predict the time of 1 to 1024 nodes."""
    from paraactive.cli.theory import plan_nodes

    plan_nodes(run_file, other, latency, bandwidth, examples, as_json)


_EXAMPLES = {
    report: "[bold]paraactive report run.db[/bold]; [bold]paraactive report a.db b.db --out ab.html[/bold]",
    watch: "[bold]paraactive watch run.db[/bold]",
    reproduce: "[bold]paraactive reproduce svm --scale small[/bold]; run it again to go on where it was stopped.",
    plan: "[bold]paraactive plan run.db --latency 0.001 --bandwidth 125[/bold]",
}


for _command, _example in _EXAMPLES.items():
    app.command(epilog=f"Example: {_example}")(_command)
