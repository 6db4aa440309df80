"""Parameters of parts, read from signatures and numpydoc docstrings."""

from __future__ import annotations

import inspect

import pytest

from paraactive.basics.registry import LEARNERS, RULES
from paraactive.cli.parameters import documented_parameters, parameters_at, parameters_of


@pytest.mark.parametrize("registry", [LEARNERS, RULES], ids=lambda registry: registry.sort)
def test_what_is_read_from_the_source_is_what_the_class_has(registry: type) -> None:
    for name in registry.names:  # pyright: ignore[reportAttributeAccessIssue]
        read = parameters_at(registry.kinds[name].place)  # pyright: ignore[reportAttributeAccessIssue]
        part = registry.find(name)  # pyright: ignore[reportAttributeAccessIssue]
        assert [each.name for each in read] == list(inspect.signature(part).parameters)
        assert [each.name for each in parameters_of(part)] == [each.name for each in read]


@pytest.mark.parametrize(
    "place", ["paraactive.runs.train:train", "paraactive.runs.resume:resume", "paraactive.sifting.guard:Guard"]
)
def test_every_parameter_is_documented_with_its_type(place: str) -> None:
    for parameter in parameters_at(place):
        assert parameter.type, parameter.name
        assert parameter.help.endswith("."), parameter.name


def test_choices_and_defaults_are_read_from_the_type() -> None:
    known = {each.name: each for each in parameters_at("paraactive.runs.train:train")}
    assert known["durability"].choices == ["process", "power"]
    assert (known["durability"].default, known["examples"].default) == ("process", None)


def test_only_the_first_paragraph_is_help_and_other_sections_end_the_list() -> None:
    text = "Do.\n\nParameters\n----------\nrate : float\n    How fast.\n\n    More.\n\nReturns\n-------\nint\n    It."
    assert documented_parameters(text) == {"rate": ("float", "How fast.")}
    assert documented_parameters("Nothing here.") == {}
