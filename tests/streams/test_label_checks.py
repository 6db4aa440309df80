"""Checks of labels, and their names."""

from __future__ import annotations

import numpy as np

from paraactive.streams import Arrays


def test_labels_that_are_bytes_have_the_names_that_text_has():
    assert Arrays([[1], [2]], np.array([b"ham", b"spam"])).classes == ("ham", "spam")
    assert Arrays([[1], [2]], [b"\xff", b"\xfe"]).classes == (r"\xfe", r"\xff")
