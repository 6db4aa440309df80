"""Reads signatures and numpydoc sections, for the test that compares them.

`python tests/docstrings.py` counts what is missing in the whole package, public names and all others.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import ModuleType

from paraactive.cli.app import app

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "paraactive"
_UNDERLINE = re.compile(r"-{3,}")
_ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?:\s*:\s*(?P<type>\S.*))?")
_REFERENCE = re.compile(r"See `[\w.]+`")


@dataclass(frozen=True)
class Documented:
    """A function, class or method with its docstring and the names of its parameters."""

    name: str
    doc: str
    parameters: tuple[str, ...]
    is_dataclass: bool = False


def module_names() -> list[str]:
    """All modules of the package but `__main__`, which runs the command line."""
    files = sorted(PACKAGE.rglob("*.py"))
    dotted = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in dotted if not name.endswith("__main__")]


def undocumented(source: str) -> list[str]:
    """Public functions, classes and methods of a module that have no docstring."""

    def walk(body: list[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name[0] == "_":
                continue
            if ast.get_docstring(node) is None and not _is_variant(node):
                yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{prefix}{node.name}.")

    return list(walk(ast.parse(source).body, ""))


def _is_variant(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether this is an overload or a setter: the docstring belongs to the function or the getter."""
    names = [ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list]
    return bool({"overload", "setter", "deleter"} & set(names))


def section(doc: str, title: str) -> list[tuple[str, str]] | None:
    """Names and types in one section of a numpydoc docstring; None if the section is missing."""
    lines = inspect.cleandoc(doc).splitlines()
    heads = [place for place, line in enumerate(lines[1:]) if _UNDERLINE.fullmatch(line)]
    starts = [place for place in heads if lines[place] == title]
    if not starts:
        return None
    last = min((place for place in heads if place > starts[0]), default=len(lines))
    entries = list[tuple[str, str]]()
    for line in lines[starts[0] + 2 : last]:
        if line and not line[0].isspace():
            found = _ENTRY.fullmatch(line.rstrip())
            names = [line] if found is None else found["names"].split(", ")
            entries += [(name.lstrip("*"), (found and found["type"]) or "") for name in names]
    return entries


def problem(documented: Documented) -> str | None:
    """What is wrong with the `Parameters` section, or None if it agrees with the signature."""
    if not documented.parameters or _REFERENCE.match(documented.doc):
        return None
    entries = section(documented.doc, "Parameters")
    if entries is None and documented.is_dataclass:
        entries = section(documented.doc, "Attributes")
    if entries is None:
        return f"{documented.name}: no section Parameters"
    names, expected = [name for name, _ in entries], list(documented.parameters)
    if names != expected:
        return f"{documented.name}: documents {', '.join(names)}; the signature has {', '.join(expected)}"
    untyped = [name for name, kind in entries if not kind]
    return f"{documented.name}: no type for {', '.join(untyped)}" if untyped else None


def documented_in(module: ModuleType) -> Iterator[Documented]:
    """Public functions, classes and methods that this module defines.

    Commands of the command line are left out: their docstring is the text of --help, and each option has its own.
    """
    commands = {each.callback for each in app.registered_commands}
    for name, value in vars(module).items():
        own = name[0] != "_" and getattr(value, "__module__", None) == module.__name__
        if own and not (inspect.isfunction(value) and value in commands):
            yield from documented_of(value)


def documented_of(value: object) -> Iterator[Documented]:
    """A function, or a class with its public methods; nothing for other values."""
    function = getattr(value, "py_func", value)  # A compiled loop has the function that it was made of.
    if inspect.isfunction(function):
        if not _takes_private_type(function):
            yield _of_function(function, function.__qualname__)
    elif inspect.isclass(value):
        yield Documented(_name(value), value.__doc__ or "", _of_constructor(value), dataclasses.is_dataclass(value))
        for name, member in vars(value).items():
            plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if name[0] != "_" and inspect.isfunction(plain):
                yield _of_function(plain, plain.__qualname__, bound=not isinstance(member, staticmethod))


def _of_function(function: object, qualname: str, *, bound: bool = False) -> Documented:
    assert callable(function)
    parameters = _public(inspect.signature(function))[1 if bound else 0 :]
    return Documented(f"{function.__module__}.{qualname}", function.__doc__ or "", tuple(parameters))


def _takes_private_type(function: Callable[..., object]) -> bool:
    """Whether a parameter has a private type: then users cannot call the function, as the properties in `checks`."""
    kinds = [parameter.annotation for parameter in inspect.signature(function).parameters.values()]
    return any(isinstance(kind, str) and kind.startswith("_") for kind in kinds)


def _of_constructor(value: type) -> tuple[str, ...]:
    """Parameters of a class that has a constructor of its own; protocols and enumerations have none."""
    own = {"__init__", "_fields"} & set(vars(value))
    if not own or getattr(value, "_is_protocol", False) or issubclass(value, Enum):
        return ()
    return tuple(_public(inspect.signature(value)))


def _public(signature: inspect.Signature) -> list[str]:
    return [name for name in signature.parameters if name == "self" or name[0] != "_"]


def _name(value: type) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def public_api() -> list[object]:
    """What users import: each `__all__` of the package and its rooms, and each name in docs/api.md."""
    found = dict[str, object]()
    rooms = [name for name in module_names() if name.count(".") <= 1]
    for module in map(importlib.import_module, rooms):
        for name in getattr(module, "__all__", ()):
            found[_key(getattr(module, name))] = getattr(module, name)
    for name in re.findall(r"^::: ([\w.]+)", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE):
        for value in _named(name):
            found[_key(value)] = value
    return list(found.values())


def _named(name: str) -> list[object]:
    """One public object, or all public objects that a module defines."""
    if name in module_names():
        module = importlib.import_module(name)
        values = [value for key, value in vars(module).items() if key[0] != "_"]
        return [value for value in values if getattr(value, "__module__", None) == name]
    place, _, last = name.rpartition(".")
    return [getattr(importlib.import_module(place), last)]


def _key(value: object) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', id(value))}"


def problems_of_public_api() -> list[str]:
    """What `problem` finds in the names that users import."""
    everything = [each for value in public_api() for each in documented_of(value)]
    return [found for found in map(problem, everything) if found]


def problems_of_all() -> list[str]:
    """What `problem` finds in all public names of all modules."""
    modules = map(importlib.import_module, module_names())
    everything = [each for module in modules for each in documented_in(module)]
    return [found for found in map(problem, everything) if found]


def missing_in_all() -> list[str]:
    """Public names of all modules that have no docstring."""
    return [
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.stem != "__main__"
        for name in undocumented(path.read_text())
    ]


if __name__ == "__main__":
    print(*problems_of_all(), *missing_in_all(), sep="\n")
    print(f"{len(missing_in_all())} public names have no docstring")
    print(f"{len(problems_of_public_api())} names that users import do not document their parameters")
    print(f"{len(problems_of_all())} public names in all modules do not document their parameters")
