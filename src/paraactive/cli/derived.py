"""Options of the command line that are derived from the parameters of `train`, of learners and of rules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, ParamSpec, get_type_hints

import typer

from paraactive.basics.registry import LEARNERS, RULES, Registry
from paraactive.cli.parameters import Parameter, parameters_at

P = ParamSpec("P")
_PANELS = ("Data", "Learner", "Rule", "Run", "Nodes", "Guard", "Parts of your own", "Result")
"""Order of the groups in the help. A group of one learner follows the group of all learners."""
_NOT_OPTIONS = ("classes", "seed", "learner", "estimator")
"""Parameters that are set by the run, that other options set, or that are no plain values."""


def option_name(parameter: str) -> str:
    """How a parameter is typed on the command line.

    Parameters
    ----------
    parameter : str
        Its name in Python.

    Returns
    -------
    str
        The option.

    Examples
    --------
    >>> option_name("cache_size"), option_name("C")
    ('--cache-size', '--C')
    """
    return f"--{parameter.replace('_', '-')}"


def option_of(parameter: Parameter, panel: str, help_text: str | None = None) -> inspect.Parameter:
    """An option that is None unless it is given.

    Parameters
    ----------
    parameter : Parameter
        The parameter that the option sets.
    panel : str
        Heading of the group in the help.
    help_text : str, optional
        Text in place of the documentation of the parameter.

    Returns
    -------
    inspect.Parameter
        A parameter of a typer command.
    """
    name, text = option_name(parameter.name), help_text or _help(parameter)
    is_flag = parameter.annotation == "bool"
    typed = _type_of(parameter.annotation)
    option = typer.Option(
        f"{name}/--no-{name[2:]}" if is_flag else name,
        rich_help_panel=panel,
        help=text,
        parser=_number_or_text if typed is None else None,
        metavar="NUMBER|TEXT" if typed is None else None,
        show_default=False,
    )
    annotation = Annotated[(typed or str) | None, option]
    return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def options_from(place: str, names: Iterable[str], panel: str, texts: Mapping[str, str]) -> list[inspect.Parameter]:
    """Options for some parameters of a function or class.

    Parameters
    ----------
    place : str
        "package.module:name".
    names : iterable of str
        The parameters. A KeyError is raised for a name that the function does not have.
    panel : str
        Heading of the group in the help.
    texts : mapping of str to str
        Help texts in place of the documentation, by parameter.

    Returns
    -------
    list of inspect.Parameter
        In the order of the names.
    """
    known = {each.name: each for each in parameters_at(place)}
    return [option_of(known[name], panel, texts.get(name)) for name in names]


def part_options(registry: Registry, panel: str, texts: Mapping[str, str]) -> list[inspect.Parameter]:
    """Options for the parameters of all parts of a registry that users choose by name.

    Parameters
    ----------
    registry : Registry
        Learners or rules.
    panel : str
        Heading of the group in the help; the name of the part is added for learners.
    texts : mapping of str to str
        Help texts in place of the documentation, by parameter.

    Returns
    -------
    list of inspect.Parameter
        One option for each name, also if several parts have a parameter of that name.
    """
    options: dict[str, inspect.Parameter] = {}
    for name in registry.names:
        own_panel = f"{panel} {name}" if registry is LEARNERS else panel
        for parameter in part_parameters(registry, name):
            options.setdefault(parameter.name, option_of(parameter, own_panel, texts.get(parameter.name)))
    return list(options.values())


def part_parameters(registry: Registry, name: str) -> list[Parameter]:
    """The parameters of a registered part that are options of the command line.

    Parameters
    ----------
    registry : Registry
        Learners or rules.
    name : str
        Name of the part.

    Returns
    -------
    list of Parameter
        Those with plain values. Rules share the option --floor with the guard, so it is not among them.
    """
    left_out = {*_NOT_OPTIONS, *(("floor",) if registry is RULES else ())}
    place = registry.kinds[name].place
    if not place.startswith("paraactive."):  # The parameters of a part from outside are set by --set.
        return []
    return [each for each in parameters_at(place) if each.name not in left_out]


def with_options(*groups: list[inspect.Parameter]) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A decorator that gives a command, which takes `**options`, these options.

    Parameters
    ----------
    *groups : list of inspect.Parameter
        The options, in the order of the help.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(command: Callable[P, None]) -> Callable[P, None]:
        hints = get_type_hints(command, include_extras=True)
        own = [
            each.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, each in inspect.signature(command).parameters.items()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]

        @wraps(command)
        def run(*arguments: P.args, **options: P.kwargs) -> None:
            command(*arguments, **options)

        parameters = sorted([*own, *(option for group in groups for option in group)], key=_place_in_help)
        run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        del run.__wrapped__  # pyright: ignore[reportAttributeAccessIssue] (typer would read its signature)
        return run

    return decorate


def _place_in_help(parameter: inspect.Parameter) -> int:
    """Arguments first, then the options group by group; inside a group as they are."""
    option = parameter.annotation.__metadata__[0]
    panel = getattr(option, "rich_help_panel", None) or ""
    return next((place for place, name in enumerate(_PANELS, 1) if panel.startswith(name)), 0)


def _help(parameter: Parameter) -> str:
    choices = f" One of {', '.join(parameter.choices)}." if parameter.choices else ""
    text = f"{parameter.help}{choices}".replace('"', "")
    has_default = "Default:" in text or parameter.default is None
    return text if has_default else f"{text} Default: {parameter.default}."


def _type_of(annotation: str) -> type | None:
    """The type of an option; None where numbers and words are both allowed."""
    kinds = {each.strip() for each in annotation.split("|")} - {"None"}
    if "Path" in kinds:
        return Path
    plain = {"bool": bool, "int": int, "float": float, "str": str}
    return plain[kinds.pop()] if len(kinds) == 1 and kinds <= plain.keys() else None


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
