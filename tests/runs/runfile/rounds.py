"""Selected examples and rounds to write into run files."""

from __future__ import annotations

import numpy as np

from paraactive.data.events import Round
from paraactive.data.examples import Entries, Examples, Selected
from paraactive.runs.runfile import RunFile

WIDTH = 3


def some_selected(count: int, seed: int = 0, width: int = WIDTH) -> Selected:
    """Selected examples with numbers that no rounding leaves alone."""
    rng = np.random.default_rng(seed)
    index = np.cumsum(rng.integers(1, 9, count))
    x = rng.normal(size=(count, width)).astype(np.float32)
    examples = Examples(x, rng.choice([-1, 1], count).astype(np.int8), index, index // 2)
    seen, version = rng.integers(0, 2**40, count), rng.integers(0, 99, count)
    return Selected(examples, 1 - rng.random(count), seen, version)


def a_round(file: RunFile, selected: Selected) -> Round:
    """One round of 100 fresh examples that selects these."""
    entries = file.writer.append(selected)
    ended = Round(file.rounds, file.seen + 100, entries.last, len(entries), 0.1, 1 / 3, 2e-9, {1: 0.5, 128: 1e-17})
    file.writer.end_round(ended)
    return ended


def bits(entries: Entries) -> list[tuple[str, bytes]]:
    """All columns of entries, with their types."""
    some, examples = entries.selected, entries.selected.examples
    columns = (examples.x, examples.y, examples.index, examples.key, some.p, some.seen, some.version)
    return [(column.dtype.str, column.tobytes()) for column in columns]
