"""The commands that show runs: report, watch, reproduce and plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraactive.cli.base import JsonOption, RunArgument, app

RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUN", help="Run files, written by train --out. Several runs are compared.")
]
ImageOption = Annotated[
    str | None,
    typer.Option(
        "--image",
        metavar="HEIGHTxWIDTH",
        help="Show examples as images of this size in pixels, such as 28x28. Default: images for the digits only.",
    ),
]


def report(
    runs: RunsArgument,
    out: Annotated[
        Path | None,
        typer.Option(help="HTML page to write. Default: the name of the first run file, with the ending .html."),
    ] = None,
    image: ImageOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the page if it exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write an HTML page about runs: error, sampling rate, nodes, delays, weights. It needs no network access."""
    from paraactive.cli.reports import write_runs

    write_runs(runs, out, image, overwrite, as_json)


def watch(
    runs: RunsArgument,
    port: Annotated[
        int, typer.Option(help="Port of this machine that serves the page. 0 chooses a port that is free.")
    ] = 0,
    image: ImageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Serve the page of report to a browser on this machine, and update it while the run goes on.

    Ctrl-C stops the server. The run continues.
    """
    from paraactive.cli.reports import watch_runs

    watch_runs(runs, port, image, as_json)


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="svm or network (the paper's comparisons), stragglers (one slow node) or delays (stale models in "
            "IWAL).",
        ),
    ],
    scale: Annotated[
        str,
        typer.Option(
            help="Size of the experiment: small (a few minutes), or paper (until passive learning no longer improves)."
        ),
    ] = "small",
    seeds: Annotated[
        int | None,
        typer.Option(
            help="Number of runs of each kind, with different seeds. Default: depends on experiment and scale."
        ),
    ] = None,
    steps: Annotated[int, typer.Option(help="Experiment delays: number of examples in each run.")] = 100_000,
    c0: Annotated[float, typer.Option(help="Experiment delays: the constant C0 of IWAL, at least 2.")] = 2.0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for run files, figures, data and the page. Default: reproduce-EXPERIMENT."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run an experiment, write its figures and a page, and check each claim of the paper."""
    from paraactive.cli.reproducing import reproduce_experiment

    reproduce_experiment(experiment, scale, seeds, steps, c0, out, as_json)


def plan(
    run_file: RunArgument,
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="A second run file, to test the prediction. Default: none.")
    ] = None,
    latency: Annotated[float, typer.Option(help="Latency of a message between machines, in seconds.")] = 0.0,
    bandwidth: Annotated[
        float | None, typer.Option(help="Bandwidth between machines, in megabytes per second. Default: no limit.")
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(help="Number of examples of the planned run. Default: as many as the recorded run saw."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate how many nodes are worth using.

    Fits the cost model to a recorded run, and predicts the time in seconds with 1 to 1024 nodes.
    """
    from paraactive.cli.theory import plan_nodes

    plan_nodes(run_file, other, latency, bandwidth, examples, as_json)


_EXAMPLES = {
    report: "[bold]paraactive report run.db[/bold]; [bold]paraactive report a.db b.db --out ab.html[/bold]",
    watch: "[bold]paraactive watch run.db[/bold]",
    reproduce: "[bold]paraactive reproduce svm --scale small[/bold]; run it again to continue if it was stopped.",
    plan: "[bold]paraactive plan run.db --latency 0.001 --bandwidth 125[/bold]",
}


for _command, _example in _EXAMPLES.items():
    app.command(epilog=f"Example: {_example}")(_command)
