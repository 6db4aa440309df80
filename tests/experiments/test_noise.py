"""`FlippedLabels`: a stream with some wrong labels."""

from __future__ import annotations

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays
from paraactive.checks import check_stream
from paraactive.errors import InputError
from paraactive.experiments.noise import FlippedLabels

X, Y = two_moons(400, noise=0.3, seed=0)


def test_flipped_labels_keep_the_contract_of_streams() -> None:
    check_stream(FlippedLabels(Arrays(X, Y, passes=2), 0.2))


def test_a_label_is_wrong_in_every_pass_or_in_none() -> None:
    noisy, clean = FlippedLabels(Arrays(X, Y, passes=2), 0.2, seed=3), Arrays(X, Y, passes=2)
    first, second = (noisy.read(400 * part, 400 * part + 400) for part in range(2))
    wrong = [set(each.key[each.y != clean.at(each.index).y].tolist()) for each in (first, second)]
    assert wrong[0] == wrong[1] == set(np.flatnonzero(noisy.flipped(np.arange(400))).tolist())
    assert 50 < len(wrong[0]) < 110


def test_a_rate_that_is_no_share_is_refused() -> None:
    with pytest.raises(InputError, match=r"rate is 1\.5"):
        FlippedLabels(Arrays(X, Y), 1.5)
