"""The examples with the largest weights, as pictures or as a table."""

from __future__ import annotations

from paraactive.data.examples import Floats
from paraactive.report.pictures import gray
from paraactive.report.run_record import HeavyExample, RunRecord
from paraactive.report.sections import Cell, Gallery, Picture, TableSection

_MAX_FEATURES = 12
_NOTE = "These examples were selected with the smallest p. Outliers and wrong labels are often among them."


def heaviest_section(number: int, record: RunRecord, ending: str) -> Gallery | TableSection | None:
    """Show the examples with the largest weights.

    Parameters
    ----------
    number : int
        Number of the run on the page.
    record : RunRecord
        The run.
    ending : str
        Text behind the title, which names the run if the page has several.

    Returns
    -------
    Gallery, TableSection or None
        Pictures if the examples are images, else a table; None if no weight is above 1.
    """
    if not record.heaviest or float(record.heaviest[0].weight) <= 1.0:
        return None
    name, title = f"heaviest-{number}", f"Examples with the largest weights{ending}"
    shape = record.shape
    if shape and all(heavy.x is not None for heavy in record.heaviest):
        pictures = [_picture(record, heavy, heavy.x, shape) for heavy in record.heaviest if heavy.x is not None]
        return Gallery(name, title, pictures, _NOTE)
    features = min(_MAX_FEATURES, max((len(heavy.x) for heavy in record.heaviest if heavy.x is not None), default=0))
    names = record.spec.data.feature_names or [f"x{feature}" for feature in range(features)]
    labeled = any(heavy.y is not None for heavy in record.heaviest)  # The log of a run in memory has no labels.
    rows = [_row(record, heavy, features, labeled) for heavy in record.heaviest]
    label = ["label"] if labeled else []
    head = ["position", *label, "weight", "p", *(str(each) for each in list(names)[:features])]
    return TableSection(name, title, head, rows, _NOTE, wide=True)


def _row(record: RunRecord, heavy: HeavyExample, features: int, labeled: bool) -> list[Cell]:
    label = [record.label(heavy.y)] if labeled else []
    x = [None] * features if heavy.x is None else [float(value) for value in heavy.x[:features]]
    return [heavy.position, *label, float(heavy.weight), float(heavy.p), *x]


def _picture(record: RunRecord, heavy: HeavyExample, x: Floats, shape: tuple[int, ...]) -> Picture:
    label = record.label(heavy.y)
    lines = [f"label {label}", f"weight {heavy.weight:.4g}", f"position {heavy.position}"]
    return Picture(gray(x, shape), f"Example {heavy.position}, label {label}", lines)
