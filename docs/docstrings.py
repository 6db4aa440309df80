"""Convert numpydoc docstrings to Markdown for the API page: parameters become lists, examples become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)$")
_LISTS_OF_TYPES = ("Returns", "Yields", "Raises", "Warns")
"""Sections whose items are types without a name."""


class Plain(griffe.Extension):
    """Extension of griffe that converts each docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Convert the docstring of one object. griffe calls this method for each object that it reads."""
        if obj.docstring:
            obj.docstring.value = to_markdown(obj.docstring.value)


def to_markdown(text: str) -> str:
    """Convert one docstring: headings, `name : type` items and `>>>` examples change; other lines stay."""
    lines: list[str] = []
    in_code = in_list = False
    heading = ""
    every = text.splitlines()
    for line, following in zip(every, [*every[1:], ""], strict=True):
        starts_code = line.startswith(">>>")
        if in_code and not line.strip():
            lines += ["```", ""]
            in_code = False
            continue
        if starts_code and not in_code:
            lines += ["", "```pycon"]
            in_code, in_list = True, False
        if in_code:
            lines.append(line)
            continue
        if re.fullmatch(r"-{3,}", line):
            heading = lines.pop()
            lines += [f"**{heading}**", ""]
            in_list = False
            continue
        item = _list_item(line, following, heading)
        if item:
            # Two spaces at the end of a line are a line break in Markdown.
            lines += ([] if in_list else [""]) + [f"{item}  "]
            in_list = True
            continue
        in_list = in_list and (line.startswith("    ") or not line)
        lines.append(line)
    return "\n".join([*lines, "```"] if in_code else lines)


def _list_item(line: str, following: str, heading: str) -> str | None:
    """Return the list item for a parameter or a returned type; None for any other line."""
    found = _PARAMETER.match(line)
    if found:
        return f"- `{found[1]}`: {found[2]}"
    is_type = heading in _LISTS_OF_TYPES and line[:1].strip() and following.startswith("    ")
    return f"- {line}" if is_type else None
