from __future__ import annotations

import numpy as np
import pytest

from paraactive.learners.lasvm.machine_loops import padded, sums_of_machines


@pytest.mark.parametrize("machines", [2, 3, 8, 16, 17, 26, 40])
@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_each_sum_has_the_bits_of_a_plain_loop_over_the_slots(machines: int, count: int) -> None:
    rng = np.random.default_rng(machines)
    alphas = np.zeros((128, padded(machines)))
    alphas[:, :machines] = rng.normal(size=(128, machines))
    row = rng.random(128).astype(np.float32)
    sums = sums_of_machines(count, row, alphas)
    for m in range(machines):
        plain = 0.0
        for s in range(count):
            plain += float(alphas[s, m]) * float(row[s])
        assert sums[m] == plain
    assert not sums[machines:].any()


def test_room_is_made_for_whole_passes() -> None:
    assert [padded(machines) for machines in (2, 16, 17, 33)] == [16, 16, 32, 48]
