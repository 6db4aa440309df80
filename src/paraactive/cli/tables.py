"""The tables that are printed after a run, unless --json is given."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from paraactive.errors import counted
from paraactive.experiments import Comparison
from paraactive.runs.run import Run


def show_run(console: Console, run: Run) -> None:
    """Print how many examples were seen and selected, the mistakes, and the times.

    Parameters
    ----------
    console : Console
        Where to print.
    run : Run
        The finished run.
    """
    figures = run.summary()
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_row("seen", f"{run.seen:,}")
    table.add_row("learned in the warmstart", f"{run.warmstart:,}")
    table.add_row("selected", f"{run.selected:,} of {run.sifted:,} sifted")
    table.add_row("sampling rate", f"{run.sampling_rate:.2%}" if run.sifted else "no examples were sifted")
    if run.scored < run.sifted and run.scored:
        table.add_row("exact scores", f"{run.scored:,} ({run.scored / run.sifted:.1%}; the proxy ruled out the others)")
        table.add_row("p lowered by the cascade", f"{run.lowered:,} of {run.selected:,} selected")
    if "vectors" in figures:
        table.add_row("support vectors", f"{figures['vectors']:,}")
    if run.mistakes is not None:
        of = figures["test_examples"]
        table.add_row("test mistakes", f"{run.mistakes} of {of:,} ({run.mistakes / of:.2%})")
    if run.estimates is not None:
        table.add_row("estimated error", run.estimates.recent_error.percent())
    table.add_row("warmstart time", f"{run.warmstart_seconds:.2f} s")
    table.add_row("sift time", f"{run.sift_seconds:.2f} s")
    table.add_row("update time", f"{run.update_seconds:.2f} s")
    table.add_row("fetch time", f"{run.fetch_seconds:.2f} s")
    if run.wall_seconds:
        table.add_row("wall time", f"{run.wall_seconds:.2f} s on {run.plan.nodes} {_nodes(run)}")
    table.add_row("digest", figures["digest"][:16])
    console.print(table)
    show_verdict(console, run)
    if run.schedule in ("pipelined", "asynchronous"):
        show_delays(console, run)
    if run.engine in ("processes", "ray") and run.updates[0]:
        console.print(f"Updates were {run.updates[0]}: {run.updates[1]}.")


def show_verdict(console: Console, run: Run) -> None:
    """Print the verdict on a run, and its warnings.

    Parameters
    ----------
    console : Console
        Where to print.
    run : Run
        The finished run.
    """
    verdict = run.verdict
    console.print(f"\n{verdict.sentence}", highlight=False, markup=False)
    for warning in verdict.warnings:
        console.print(f"Warning: {warning}.", highlight=False, markup=False)


def show_delays(console: Console, run: Run) -> None:
    """Print a histogram of the lag in entries; nothing if no example was selected.

    Parameters
    ----------
    console : Console
        Where to print.
    run : Run
        The finished run.
    """
    figures = run.delay_figures()
    if figures is None:
        return
    console.print(
        f"\nLag in entries (entries between the model that sifted an example and the example's own entry): "
        f"mean {figures['mean']:.1f}, median {figures['p50']}, 99% {figures['p99']}, largest {figures['max']}"
    )
    bins = run.delay_histogram()
    most = max(count for _, _, count in bins)
    for first, last, count in bins:
        name = str(first) if first == last else f"{first}-{last}"
        console.print(f"{name:>13}  {'█' * round(30 * count / most)} {count:,}", highlight=False)


def _nodes(run: Run) -> str:
    name = {"threads": "thread", "processes": "process", "ray": "Ray node"}.get(run.engine, "simulated node")
    if run.plan.nodes == 1:
        return name
    return name + ("es" if name.endswith("s") else "s")


def show_times(console: Console, run: Run, comparison: Comparison | None) -> None:
    """Print the time on the paper's clock for each number of nodes, and the speedup over passive learning.

    Parameters
    ----------
    console : Console
        Where to print.
    run : Run
        The finished run.
    comparison : Comparison or None
        The passive run; None if there was none.
    """
    if not run.simulated:
        return
    if run.schedule == "asynchronous":
        how = "on a virtual clock" if run.engine == "simulated" else f"as measured on {run.engine}"
    elif run.engine == "simulated":
        how = "simulated as in the paper (without fetching and communication)"
    else:
        how = f"on the paper's clock, from the times measured on {run.engine} (without fetching and communication)"
    console.print(f"\nTime with k nodes, in seconds, {how}:")
    table = Table(padding=(0, 2))
    table.add_column("k", justify="right")
    table.add_column("seconds", justify="right")
    speedups = comparison.speedups(run) if comparison else {}
    if comparison:
        table.add_column("speedup over passive", justify="right")
    at_least = "" if comparison is None or comparison.reached else "> "
    for k, seconds in run.simulated.items():
        table.add_row(str(k), f"{seconds:.2f}", *([f"{at_least}{speedups[k]:.1f}"] if comparison else []))
    console.print(table)
    if comparison:
        console.print(passive_sentence(run, comparison))


def passive_sentence(run: Run, comparison: Comparison) -> str:
    """Compare the passive run with the sifted run, in words.

    Parameters
    ----------
    run : Run
        The sifted run.
    comparison : Comparison
        The passive run, and whether it reached the mistakes of the sifted run.

    Returns
    -------
    str
        One sentence.
    """
    passive = comparison.passive
    mistakes = counted(passive.mistakes or 0, "mistake")
    if comparison.reached:
        return (
            f"Passive learning needed {comparison.seconds:.1f} s and {passive.seen:,} examples to reach "
            f"{mistakes} (the sifted run: {run.mistakes})."
        )
    return (
        f"Passive learning still made {mistakes} after {comparison.seconds:.1f} s and all "
        f"{passive.seen:,} examples (the sifted run: {run.mistakes}), so the speedups are lower bounds."
    )
