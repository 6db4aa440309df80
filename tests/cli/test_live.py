"""The live view of --verbose."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from making import two_moons
from paraactive import Arrays, LaSVM, train
from paraactive.cli.live import LiveView, sparkline


def test_verbose_shows_curves_and_nodes() -> None:
    said = StringIO()
    console = Console(file=said, width=120, force_terminal=True)
    x, y = two_moons(1200, noise=0.3, seed=0)
    with LiveView("sifting", console) as view:
        run = train(
            LaSVM(gamma=1.0), Arrays(x, y), test=(x[:200], y[:200]), warmstart=200, batch=100, nodes=2, observers=[view]
        )
        console.print(view.drawn())
    shown = said.getvalue()
    assert f"{run.mistakes} of 200" in shown
    assert "sampling rate" in shown
    assert "support vectors" in shown
    assert "transfer, s" in shown
    assert any(block in shown for block in "▂▃▄▅▆▇")


def test_sparkline_of_equal_numbers_is_flat() -> None:
    assert sparkline([3, 3, 3]) == "▁▁▁"
    assert sparkline([]) == ""
