"""Parts and events have readable names."""

from __future__ import annotations

import pytest

from paraactive.basics.registry import RULES
from paraactive.report.names import rule_name
from paraactive.rules import floored
from paraactive.sifting.parts import describe_rule


@pytest.mark.parametrize("kind", sorted(RULES.names))
def test_every_rule_has_a_name_that_people_know_also_with_a_floor(kind: str) -> None:
    description = describe_rule(RULES.find(kind)())
    plain, with_floor = rule_name(description), rule_name(describe_rule(floored(RULES.find(kind)(), 0.5)))
    assert plain.split(",")[0] in (
        "margin", "margin of the paper", "signed margin", "least margin", "gradient", "IWAL margin", "uniform",
        "passive (learn everything)",
    )  # fmt: skip
    assert with_floor.startswith(plain.removesuffix(", p at least 0.01"))
    assert with_floor.endswith(", p at least 0.5")
