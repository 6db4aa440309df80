"""Descriptions of parts: read from earlier versions, and compared."""

from __future__ import annotations

import pytest

from paraactive.basics.part_spec import PartSpec, differences
from paraactive.errors import InputError


def test_a_description_is_flat_and_nested_parts_keep_their_kind() -> None:
    spec = PartSpec("guarded", {"learner": PartSpec("svm", {"C": 2.0}), "cap": 3.0})
    assert spec.to_dict() == {"kind": "guarded", "learner": {"kind": "svm", "C": 2.0}, "cap": 3.0}
    assert PartSpec.from_dict(spec.to_dict()) == spec
    assert (spec.inner.kind, spec.inner.inner.kind, spec.number("cap"), spec.number("learner")) == (
        "svm",
        "svm",
        3.0,
        None,
    )
    assert spec.changed(cap=None).get("cap") is None


def test_descriptions_of_version_0_1_are_read_with_the_names_of_today() -> None:
    old = PartSpec.from_dict({"kind": "svm", "C": 1.0, "budget": 50})
    assert (old.get("max_vectors"), old.get("budget")) == (50, None)
    assert PartSpec.from_dict({"kind": "network", "hidden": 5, "importance_aware": False}).get("hidden") == 5
    with pytest.raises(InputError, match=r"network has importance_aware True: .*since version 0\.2"):
        PartSpec.from_dict({"kind": "network", "importance_aware": True})
    nested = PartSpec.from_dict({"kind": "guarded", "learner": {"kind": "svm", "budget": 9}})
    assert nested.inner.get("max_vectors") == 9


def test_the_differences_of_two_parts_are_named() -> None:
    one, other = PartSpec("svm", {"C": 1.0, "gamma": 2.0}), PartSpec("svm", {"C": 1.0, "gamma": 3.0})
    assert differences(one, other) == ["gamma"]
    assert differences(one, other, ignored=("gamma",)) == []
    assert differences(one, PartSpec("network", {}))[0] == "kind"
