"""Rewrites messages of the library for the command line: names of parameters become names of options."""

from __future__ import annotations

import re
from collections.abc import Mapping

from paraactive.errors import ParaActiveError

_VALUE = r"""('[^']*'|"[^"]*"|\[[^]]*\]|\([^)]*\)|\.\.\.|[\w.+-]+(?<!\.))"""
_EXAMPLES = {"label": "COLUMN", "features": "a,b,c"}
"""Placeholders for values that a message leaves open."""
_CHOICES = "engine|schedule|rule|learner"
"""Parameters that messages name with their value, as in: engine 'ray'."""


def in_options(error: ParaActiveError, options: Mapping[str, str]) -> str:
    """Return the message of an error, with options in place of parameters.

    Parameters
    ----------
    error : ParaActiveError
        The error.
    options : mapping of str to str
        The option of the command for each parameter.

    Returns
    -------
    str
        The message in one line.

    Examples
    --------
    >>> error = ParaActiveError("eta is 0", why="it is too small", remedy="give eta > 0, label='a', or rule 'iwal'")
    >>> in_options(error, {"eta": "--eta", "label": "--label", "rule": "--rule"})
    '--eta is 0: it is too small; give --eta > 0, --label a, or --rule iwal.'
    """
    if not options:
        return str(error)
    fact = re.sub(rf"^({_any(options)})(?= (is|has) )", lambda found: options[found[1]], error.fact)
    return str(ParaActiveError(fact, why=_renamed(error.why, options), remedy=_renamed(error.remedy, options)))


def _renamed(text: str, options: Mapping[str, str]) -> str:
    names = _any(options)
    text = re.sub(rf"(?<![\w-])({_CHOICES}) '([\w-]+)'", lambda found: _chosen(options, *found.groups()), text)
    text = re.sub(rf" \((?:{names})={_VALUE}\)", "", text)  # The option itself is named before it.
    text = re.sub(rf"(?<![\w-])({names})={_VALUE}", lambda found: _typed(options[found[1]], *found.groups()), text)
    return re.sub(rf"(?<![\w-])({names})(?= [<>]=? )|(?<=[<>] )({names})\b", lambda found: options[found[0]], text)


def _any(options: Mapping[str, str]) -> str:
    return "|".join(map(re.escape, options))


def _chosen(options: Mapping[str, str], name: str, value: str) -> str:
    return f"{options[name]} {value}" if name in options else f"{name} {value!r}"


def _typed(option: str, name: str, value: str) -> str:
    """Return name=value as a user types it.

    >>> _typed("--features", "features", "['a', 'b']"), _typed("--examples", "examples", "100_000")
    ('--features a,b', '--examples 100000')
    >>> _typed("--overwrite", "overwrite", "True"), _typed("--guard", "guard", "False")
    ('--overwrite', 'no --guard')
    """
    if value in ("True", "False"):
        return option if value == "True" else f"no {option}"
    plain = value.strip("[]()")
    if plain in ("...", ""):
        return f"{option} {_EXAMPLES.get(name, 'VALUE')}"
    parts = [part.strip().strip("'\"") for part in plain.split(",")]
    typed = ",".join(part for part in parts if part not in ("", "..."))
    typed = typed.replace("_", "") if re.fullmatch(r"[\d_]+", typed) else typed
    return f"{option} {_quoted(typed)}"


def _quoted(text: str) -> str:
    return f"'{text}'" if re.search(r"\s", text) else text
