"""The compiled deformation against a slow, obvious one made of scipy's filters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage, stats

from paraactive.basics import philox
from paraactive.streams import Digits
from paraactive.streams.digits.deformations import FIELDS, fields, gaussian, laid_out, render

Image = NDArray[np.float64]

GREY = np.arange(256, dtype=np.float32)
"""Levels that leave the grey values as they are."""


def field(number: int) -> Image:
    return fields()[number].reshape(28, 33)[:, :28].astype(np.float64)


def choice(draw: NDArray[np.uint32]) -> tuple[int, int, int]:
    return (int(draw[0]) * FIELDS) >> 32, (int(draw[1]) * FIELDS) >> 32, (int(draw[2]) * 9) >> 32


def shifted(image: Image, shift: int) -> Image:
    down, right = shift // 3 - 1, shift % 3 - 1
    return np.pad(image, 1)[1 - down : 29 - down, 1 - right : 29 - right]


def reference(image: Image, draw: NDArray[np.uint32]) -> Image:
    """The formula of the module's docstring, on paper that is blank far around the digit."""
    across, down, shift = choice(draw)
    smooth: Image = ndimage.gaussian_filter(np.pad(image, 12), 0.9)
    ty, tx = (np.gradient(smooth, axis=axis)[12:40, 12:40] for axis in (0, 1))
    value = image + field(across) * tx + field(down) * ty
    return shifted(np.floor(np.clip(value, 0, 255)), shift)


def deform(images: NDArray[np.uint8], draws: NDArray[np.uint32], plain: bool = False) -> NDArray[np.float32]:
    out = np.full((len(images), 784), np.nan, np.float32)
    weights = gaussian(0.9).astype(np.float32)
    rows = np.arange(len(images))
    render(laid_out(images), rows, np.full(len(images), plain), draws, fields(), weights, GREY, out)
    return out


def originals(count: int) -> NDArray[np.uint8]:
    return Digits(low=0, high=255).read(0, count).x.astype(np.uint8)


@pytest.mark.parametrize("content", ["digits", "noise up to the border"])
def test_deformed_digits_are_those_of_the_reference(content: str):
    noise = philox.words(1, 99, np.arange(300 * 196)).reshape(300, 784).astype(np.uint8)
    images = originals(300) if content == "digits" else noise
    draws = philox.words(2, philox.DEFORMATION, np.arange(300))
    ours = deform(images, draws).reshape(-1, 28, 28)
    theirs = np.array([reference(i.reshape(28, 28).astype(float), d) for i, d in zip(images, draws, strict=True)])
    # float32 against float64 may fall on the two sides of a whole number, at 1e-5 px of 255 rarely; never by more.
    assert np.abs(ours - theirs).max() <= 1
    assert (ours != theirs).mean() < 2e-4


def test_every_shift_moves_the_digit_by_one_pixel_and_fills_with_blank():
    image = np.full((1, 784), 200, np.uint8)
    for shift in range(9):
        draw = np.array([[0, 0, (shift * 2**32 + 8) // 9 + 1, 0]], np.uint32)
        assert choice(draw[0])[2] == shift
        expected = reference(image[0].reshape(28, 28).astype(float), draw[0])
        ours = deform(image, draw).reshape(28, 28)
        assert np.abs(ours - expected).max() <= 1
        assert ((ours == 0) == (expected == 0)).all()


def test_blank_paper_stays_blank():
    draws = philox.words(3, philox.DEFORMATION, np.arange(50))
    assert not deform(np.zeros((50, 784), np.uint8), draws).any()


def test_a_plain_digit_is_copied_whatever_its_draw():
    images = originals(20)
    draws = philox.words(3, philox.DEFORMATION, np.arange(20))
    assert (deform(images, draws, plain=True) == images).all()
    assert not (deform(images, draws) == images).all()


def test_a_digit_is_the_same_after_any_other_digit():
    images = originals(30)
    draws = philox.words(4, philox.DEFORMATION, np.arange(30))
    alone = [deform(images[i : i + 1], draws[i : i + 1])[0] for i in range(30)]
    assert (deform(images, draws) == np.array(alone)).all()


@pytest.mark.parametrize("number", [0, 7, FIELDS - 1])
def test_a_field_is_smoothed_white_noise_of_standard_deviation_one(number: int):
    words = philox.words(0, philox.FIELDS, np.arange(196 * number, 196 * (number + 1)))
    smooth: Image = ndimage.gaussian_filter(words.reshape(28, 28) * 2.0**-32 - 0.5, 4)
    assert np.abs(field(number) - smooth / smooth.std()).max() < 1e-4


def test_fields_are_blank_in_the_margin_and_not_two_alike():
    table = fields().reshape(FIELDS, 28, 33)
    assert not table[:, :, 28:].any()
    assert len(np.unique(table.round(3).reshape(FIELDS, -1), axis=0)) == FIELDS


@pytest.mark.parametrize("sigma", [0.9, 4.0])
def test_gaussian_weights_are_those_of_scipy(sigma: float):
    impulse = np.zeros(101)
    impulse[50] = 1
    weights = gaussian(sigma)
    assert np.abs(ndimage.gaussian_filter1d(impulse, sigma)[50 : 50 + len(weights)] - weights).max() < 2.0**-24
    assert (weights * 2**24 == np.rint(weights * 2**24)).all()


def test_fields_and_shifts_are_drawn_equally_often():
    draws = philox.words(0, philox.DEFORMATION, np.arange(30_000))
    for column, kinds in ((0, FIELDS), (1, FIELDS), (2, 9)):
        chosen = (draws[:, column].astype(np.uint64) * np.uint64(kinds)) >> np.uint64(32)
        counts = np.bincount(chosen.astype(np.int64), minlength=kinds)
        assert len(counts) == kinds
        assert stats.chisquare(counts).pvalue > 1e-4
