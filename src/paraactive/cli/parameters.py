"""Parameters of a class or function with their help texts, from its signature and its numpydoc docstring.

Parts of paraactive are read from their source, so that `paraactive train --help` does not wait for numba. A new
parameter of a learner or a rule is an option of the command line as soon as the class has it and documents it.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import paraactive

_PACKAGE = "paraactive"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a class or function.

    Parameters
    ----------
    name : str
        Its name in Python.
    annotation : str
        Its type as written in the source.
    type : str
        Its type as documented, for example "float, default=1.0".
    help : str
        Its documentation, in one line.
    """

    name: str
    annotation: str
    type: str = ""
    help: str = ""

    @property
    def choices(self) -> list[str]:
        """The values that it may have, if the documentation lists them."""
        listed = re.match(r"\{([^}]*)\}", self.type)
        return [each.strip(" \"'") for each in listed[1].split(",")] if listed else []

    @property
    def default(self) -> str | None:
        """The documented default, as text."""
        found = re.search(r"default=(.+)$", self.type)
        return found[1].strip(" \"'") if found else None


@cache
def parameters_at(place: str) -> tuple[Parameter, ...]:
    """The parameters of the class or function at a place.

    Parameters
    ----------
    place : str
        "package.module:name". A part of paraactive is read from its source and not imported.

    Returns
    -------
    tuple of Parameter
        In the order of the signature.
    """
    module, _, name = place.partition(":")
    tree = ast.parse(_source_of(module).read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name)
    documented = documented_parameters(ast.get_docstring(found) or "")
    return tuple(Parameter(name, annotation, *documented.get(name, ("", ""))) for name, annotation in _annotated(found))


def parameters_of(part: type) -> tuple[Parameter, ...]:
    """The parameters of a class that is imported, for parts of the user's own.

    Parameters
    ----------
    part : type
        The class.

    Returns
    -------
    tuple of Parameter
        In the order of the signature.
    """
    documented = documented_parameters(inspect.getdoc(part) or "")
    names = [name for name in inspect.signature(part).parameters if name != "self"]
    return tuple(Parameter(name, "", *documented.get(name, ("", ""))) for name in names)


def _source_of(module: str) -> Path:
    inside = module.removeprefix(f"{_PACKAGE}.").replace(".", "/")
    return Path(paraactive.__path__[0], f"{inside}.py")


def _annotated(node: ast.ClassDef | ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Names and types: of a function, of the constructor of a class, or of the fields of a dataclass."""
    if isinstance(node, ast.FunctionDef):
        arguments = [*node.args.args, *node.args.kwonlyargs]
        yield from ((each.arg, ast.unparse(each.annotation)) for each in arguments if each.annotation)
        return
    constructor = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
    if constructor:
        yield from _annotated(constructor[0])
        return
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            annotation = ast.unparse(each.annotation)
            if not annotation.startswith("ClassVar"):
                yield each.target.id, annotation


def documented_parameters(docstring: str) -> dict[str, tuple[str, str]]:
    r"""The parameters that a numpydoc docstring describes.

    Parameters
    ----------
    docstring : str
        The docstring, without indentation.

    Returns
    -------
    dict of str to (str, str)
        Type and description of each, the description in one line.

    Examples
    --------
    >>> documented_parameters("Sum.\n\nParameters\n----------\na, b : int, default=1\n    Numbers\n    to add.")
    {'a': ('int, default=1', 'Numbers to add.'), 'b': ('int, default=1', 'Numbers to add.')}
    """
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", docstring, re.DOTALL | re.MULTILINE)
    found: dict[str, tuple[str, str]] = {}
    for entry in re.split(r"\n(?=\S)", section[1].strip()) if section else ():
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        text = " ".join(body.split("\n\n")[0].split()).replace("`", "")
        found |= {name.strip().lstrip("*"): (kind.strip(), text) for name in names.split(",")}
    return found
