"""Our docstrings as Markdown, for the API page: parameters become a list, examples become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_PARAMETER = re.compile(r"^(\w+(?:, \w+)*) : (.*)$")


class Plain(griffe.Extension):
    """Asked by griffe for each object that it reads."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change what is shown of it."""
        if obj.docstring:
            obj.docstring.value = to_markdown(obj.docstring.value)


def to_markdown(text: str) -> str:
    """Parameters as `name : what` become a list, `>>>` a block of code; the rest stays."""
    lines: list[str] = []
    in_code = in_list = False
    for line in text.splitlines():
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
            continue
        found = _PARAMETER.match(line)
        if found:
            lines += ([] if in_list else [""]) + [f"- `{found[1]}`: {found[2]}"]
            in_list = True
            continue
        in_list = in_list and (line.startswith("    ") or not line)
        lines.append(line)
    return "\n".join([*lines, "```"] if in_code else lines)
