"""What a stream may declare of its data, and the defaults."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from paraactive.streams import Arrays
from paraactive.streams.base import StreamDetails

DEFAULTS = {
    "labelled": True, "label_type": "str", "counts": None, "passes": 1, "fingerprint": None, "window": None,
    "feature_names": None, "label": None,
}  # fmt: skip


def test_a_stream_that_declares_nothing_has_the_defaults() -> None:
    details = StreamDetails(object())
    assert {name: getattr(details, name) for name in DEFAULTS} == DEFAULTS


def test_what_a_stream_declares_is_returned() -> None:
    declared = {
        "labelled": False, "label_type": "int64", "counts": (3, 4), "passes": None, "fingerprint": "abc", "window": 10,
        "feature_names": ("a", "b"), "label": "y",
    }  # fmt: skip
    details = StreamDetails(SimpleNamespace(**declared))
    assert {name: getattr(details, name) for name in DEFAULTS} == declared
    arrays = Arrays([[1], [2], [3]], [5, 7, 7], passes=4)
    assert (StreamDetails(arrays).counts, StreamDetails(arrays).passes) == ((1, 2), 4)


def test_a_fingerprint_is_computed_only_when_it_is_asked_for() -> None:
    class Slow:
        @property
        def fingerprint(self) -> str:
            raise TimeoutError

    details = StreamDetails(Slow())
    assert details.labelled
    with pytest.raises(TimeoutError):
        _ = details.fingerprint
