"""A page as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib import resources
from string import Template
from typing import Any

from paraactive._version import __version__
from paraactive.report.sections import Page

GENERATOR = '<meta name="generator" content="paraactive">'
"""By which a page of ours is known."""


def to_html(page: Page) -> str:
    """The whole page.

    Strings of a run (labels, file names) are data: they stand in JSON, in which no character can end the script, and
    the page puts them in as text. A policy lets no other script than its own run.
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


def to_json(data: Any) -> str:
    r"""JSON that may stand inside a script element; numbers that JSON does not have are null.

    >>> to_json({"label": "</script>", "p": float("nan")})
    '{"label": "\\u003c/script\\u003e", "p": null}'
    """
    text = json.dumps(_finite(data), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if abs(data) < float("inf") else None
    if isinstance(data, dict):
        return {str(name): _finite(value) for name, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, list | tuple) else data


@cache
def _asset(name: str) -> str:
    return resources.files("paraactive.report").joinpath("assets", name).read_text("utf-8").strip()
