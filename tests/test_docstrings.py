"""Docstrings follow numpydoc: what the `Parameters` section names is what the signature has."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from docstrings import (
    Documented,
    documented_in,
    documented_of,
    missing_in_all,
    problem,
    problems_of_public_api,
    section,
    undocumented,
)
from paraactive.cli import model_app, report_app, reports, training_app

GOOD = """Return a number.

    Parameters
    ----------
    x, y : float
        Two numbers.
    *more : float, optional
        Others.

    Returns
    -------
    float
        The sum.
    """


def test_every_public_function_class_and_method_has_a_docstring() -> None:
    missing = missing_in_all()
    assert not missing, f"{len(missing)} have none:\n" + "\n".join(missing)


def test_the_names_that_users_import_document_exactly_their_parameters() -> None:
    problems = problems_of_public_api()
    assert not problems, f"{len(problems)} do not:\n" + "\n".join(problems)


def test_a_section_ends_where_the_next_begins() -> None:
    assert section(GOOD, "Parameters") == [("x", "float"), ("y", "float"), ("more", "float, optional")]
    assert section(GOOD, "Returns") == [("float", "")]
    assert section(GOOD, "Raises") is None


def test_a_docstring_that_agrees_with_its_signature_has_no_problem() -> None:
    assert problem(Documented("f", GOOD, ("x", "y", "more"))) is None
    assert problem(Documented("f", "Return 1.", ())) is None
    assert problem(Documented("f", "See `Engine.apply`.", ("x",))) is None


@pytest.mark.parametrize(
    ("doc", "parameters", "expected"),
    [
        ("Return a number.", ("x",), "no section Parameters"),
        (GOOD, ("x", "y"), "documents x, y, more; the signature has x, y"),
        (GOOD, ("y", "x", "more"), "the signature has y, x, more"),
        ("Do it.\n\nParameters\n----------\nx\n    A number.", ("x",), "no type for x"),
    ],
)
def test_a_docstring_that_differs_from_its_signature_is_named(
    doc: str, parameters: tuple[str, ...], expected: str
) -> None:
    found = problem(Documented("f", doc, parameters))
    assert found is not None
    assert found.startswith("f: ")
    assert expected in found


def test_classes_and_methods_are_read_without_self_and_private_names() -> None:
    @dataclass
    class Pair:
        """Two numbers."""

        x: int
        y: int = 0

        def moved(self, by: int, _cache: object = None) -> int:
            """Return x, moved."""
            return self.x + by

        @staticmethod
        def origin(scale: int) -> Pair:
            """Return the first pair."""
            return Pair(scale)

        @classmethod
        def at(cls, x: int) -> Pair:
            """Return a pair."""
            return cls(x)

    read = {each.name.rpartition(".")[2]: each.parameters for each in documented_of(Pair)}
    assert read == {"Pair": ("x", "y"), "moved": ("by",), "origin": ("scale",), "at": ("x",)}


def test_commands_are_exempt_and_other_functions_of_the_command_line_are_not() -> None:
    assert [list(documented_in(module)) for module in (training_app, model_app, report_app)] == [[], [], []]
    assert {each.name for each in documented_in(reports)} == {
        f"paraactive.cli.reports.{name}" for name in ("write_runs", "watch_runs", "shape_in")
    }


def test_what_has_no_docstring_is_found_in_the_source() -> None:
    source = (
        "def _private(): ...\ndef public(): ...\nclass A:\n  'Doc.'\n  def method(self): ...\n  def _own(self): ..."
    )
    assert undocumented(source) == ["public", "A.method"]
