"""Gray pictures in PNG."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paraactive.report.pictures import gray, to_png


def test_a_picture_has_the_grey_values_that_it_was_given(tmp_path: Path) -> None:
    from matplotlib.image import imread

    pixels = np.arange(6, dtype=np.uint8).reshape(2, 3) * 50
    (tmp_path / "picture.png").write_bytes(to_png(pixels))
    assert (np.rint(imread(tmp_path / "picture.png") * 255) == pixels).all()
    assert gray([3.0, 3.0], (1, 2)) == gray([0.0, 0.0], (1, 2)), "equal values are black"
