"""A page as one HTML file, which needs no network and no other file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from string import Template
from typing import cast

from paraactive._version import __version__
from paraactive.report.sections import Page

# The command line overwrites a file without asking only if this line says that paraactive wrote it.
GENERATOR = '<meta name="generator" content="paraactive">'


def to_html(page: Page) -> str:
    """Return a page as HTML.

    Strings of a run (labels, file names) cannot become markup: they are in a JSON block that no character can end, and
    the script inserts them as text. The content security policy of the page allows no script but its own.

    Parameters
    ----------
    page : Page
        The page.

    Returns
    -------
    str
        The HTML document, with its style, script and data.
    """
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    )
    return Template(_asset("page.html")).substitute(
        title=html.escape(page.title), policy=policy, style=_asset("page.css"), script=script,
        data=to_json(page.data()), footer=html.escape(f"Made by paraactive {__version__}."),
    )  # fmt: skip


def to_json(data: object) -> str:
    r"""Return data as JSON that may stand inside a script element.

    Parameters
    ----------
    data : object
        Dictionaries, lists, strings, numbers, booleans and None. NaN and infinite numbers become null.

    Returns
    -------
    str
        The JSON text, without the characters <, > and &.

    Examples
    --------
    >>> to_json({"label": "</script>", "p": float("nan")})
    '{"label": "\\u003c/script\\u003e", "p": null}'
    """
    text = json.dumps(_finite(data), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(data: object) -> object:
    if isinstance(data, float):
        return data if abs(data) < float("inf") else None
    if isinstance(data, dict):
        return {str(name): _finite(value) for name, value in cast(Mapping[object, object], data).items()}
    return [_finite(value) for value in cast(Sequence[object], data)] if isinstance(data, list | tuple) else data


@cache
def _asset(name: str) -> str:
    return resources.files("paraactive.report").joinpath("assets", name).read_text("utf-8").strip()
