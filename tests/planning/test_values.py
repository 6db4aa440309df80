"""Values of the cost model."""

from __future__ import annotations

from typing import Any

import pytest

from paraactive.errors import InputError
from paraactive.planning import Link


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"latency": -1.0}, "latency is -1.0.*latency >= 0"),
        ({"latency": float("nan")}, "latency is nan"),
        ({"bandwidth": 0.0}, "bandwidth is 0.0"),
        ({"bandwidth": float("nan")}, "bandwidth is nan"),
    ],
)
def test_a_link_that_cannot_be(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Link(**options)
