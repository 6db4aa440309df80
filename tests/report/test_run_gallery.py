"""The examples with the largest weights, as pictures or as a table."""

from __future__ import annotations

import re

import numpy as np
import pytest

from paraactive import Digits
from paraactive.errors import InputError
from paraactive.report import TableSection, page_of, read_run_record, read_run_records
from paraactive.report.sections import Gallery
from report.conftest import Recorded, sections_of
from report.runs import NASTY


def test_the_gallery_shows_the_heaviest_digits_as_they_were(digits: Recorded) -> None:
    gallery: Gallery = sections_of(digits)["heaviest-0"]
    heaviest = digits.run.heaviest(24)
    weights = [float(re.findall(r"weight (\S+)", " ".join(item.lines))[0]) for item in gallery.items]
    assert weights == pytest.approx([each.weight for each in heaviest], rel=1e-3)
    assert all(item.image.startswith("data:image/png;base64,") for item in gallery.items)
    record = read_run_record(digits.path)
    heavy = record.heaviest[0]
    expected = Digits().at(np.array([heavy.position]))
    assert heavy.x is not None
    assert (heavy.x == expected.x[0]).all()
    assert record.label(heavy.y) == ("3,1" if expected.y[0] > 0 else "5,7")


def test_rows_that_are_no_images_are_a_table_unless_one_says_their_shape(nasty: Recorded) -> None:
    table: TableSection = sections_of(nasty)["heaviest-0"]
    assert list(table.head) == ["position", "label", "weight", "p", "x0", "x1"]
    assert {row[1] for row in table.rows} <= set(NASTY)
    (record,) = read_run_records([nasty.path], shape=(1, 2))
    assert any(isinstance(section, Gallery) for section in page_of([record]).sections)
    with pytest.raises(InputError, match="28 by 28 has 784"):
        read_run_records([nasty.path], shape=(28, 28))
