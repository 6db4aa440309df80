"""The registry: parts by name, their descriptions, and nothing built from a file that is not in it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from paraactive.basics.part_spec import OWN, PartSpec
from paraactive.basics.registry import LEARNERS, RULES, STREAMS, PartKind, Registry
from paraactive.errors import InputError
from paraactive.learners import Guarded, LaSVM, Network
from paraactive.rules import Margin, SignedMargin, floored


@dataclass(frozen=True)
class Part:
    """A part from outside the package."""

    size: int = 3

    def describe(self) -> dict[str, int]:
        return {"size": self.size}


@pytest.mark.parametrize("registry", [LEARNERS, RULES, STREAMS], ids=lambda registry: registry.sort)
def test_every_line_names_a_class_that_exists(registry: Registry) -> None:
    for kind in registry.kinds.values():
        module, _, name = kind.place.partition(":")
        assert module.startswith("paraactive.")
        assert isinstance(Registry("part", {"it": PartKind(kind.place, "")}).find("it"), type)
        assert name.partition(".")[0].isidentifier()


@pytest.mark.parametrize(
    ("registry", "part"),
    [
        (LEARNERS, LaSVM(C=3.0, gamma="scale")),
        (LEARNERS, Guarded(Network(hidden=7), cap=4.0)),
        (RULES, SignedMargin(0.07)),
        (RULES, floored(Margin(0.2), 0.05)),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_description_builds_the_part_again(registry: Registry, part: object) -> None:
    spec = registry.describe(part)
    assert PartSpec.from_dict(spec.to_dict()) == spec
    assert repr(registry.build(spec)) == repr(part)


def test_a_part_of_the_users_own_is_named_and_never_built() -> None:
    spec = RULES.describe(Part())
    assert (spec.kind, spec.class_name) == (OWN, f"{__name__}.Part")
    with pytest.raises(InputError, match=r"cannot be built from the file: .* a file never names code to load"):
        RULES.build(spec)
    with pytest.raises(InputError, match=r"the rule os\.system cannot be built"):
        RULES.build(PartSpec("os.system", {}))


def test_a_part_from_outside_can_be_registered_and_is_then_described_by_its_name() -> None:
    registry = Registry("rule", RULES.kinds)
    registry.register("mine", f"{__name__}:Part", "my own rule")
    spec = registry.describe(Part(5))
    assert spec == PartSpec("mine", {"size": 5})
    assert registry.title(spec) == "my own rule"
    assert "mine" in registry.names
    with pytest.raises(InputError, match="'mine' is registered already"):
        registry.register("mine", f"{__name__}:Part")


def test_names_are_found_and_slips_get_a_suggestion() -> None:
    assert RULES.find("margin") is Margin
    assert RULES.find("paraactive.rules.margin:Margin") is Margin
    assert RULES.find("paraactive.rules.margin.Margin") is Margin
    for name, error in {
        "margn": "no rule 'margn'.*did you mean 'margin'",
        "floored": "no rule 'floored'",
        "no.such.module:Rule": "cannot be imported",
        "paraactive.rules.margin:Nothing": "cannot be imported",
    }.items():
        with pytest.raises(InputError, match=error):
            RULES.find(name)
