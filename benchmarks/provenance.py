"""Where a figure comes from: commit, machine, date and command; and which parts may be shown together."""

from __future__ import annotations

import datetime
import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measuring import machine

ROOT = Path(__file__).parent.parent
_SOURCES = ("src", "benchmarks/*.py", "pyproject.toml")


def git(*arguments: str) -> str:
    """What git says, or nothing outside of a repository."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def commit() -> str:
    """The last commit that changed the sources, marked if they were changed since. Other commits change no figure."""
    changed = git("status", "--porcelain", "--", *_SOURCES) + git("diff", "HEAD", "--", *_SOURCES)
    mark = f"+changes-{hashlib.sha256(changed.encode()).hexdigest()[:6]}" if changed else ""
    return (git("log", "-1", "--format=%h", "--abbrev=10", "--", *_SOURCES) or "unknown") + mark


def stamp(command: str, minutes: float, busy: bool) -> dict[str, Any]:
    """What is kept beside the figures of a part."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {
        "commit": commit(), "machine": machine(), "date": today, "command": command, "minutes": round(minutes, 1),
        "busy": busy,
    }  # fmt: skip


def origin(part: Mapping[str, Any]) -> tuple[str, str]:
    """Parts of one origin may stand side by side."""
    return part["commit"], part["machine"]


def is_from_here(results: Mapping[str, Any], name: str) -> bool:
    """Whether a part was measured on this machine with the present sources."""
    return name in results and origin(results[name]) == (commit(), machine())


def sentence(part: Mapping[str, Any]) -> str:
    """One line under each table."""
    minutes = f", {part['minutes']:.0f} min" if part.get("minutes") is not None else ""
    busy = " Other programs used the machine meanwhile, so times are longer than alone." if part.get("busy") else ""
    return f"`{part['command']}`, commit {part['commit']}, {part['date']}{minutes}.{busy}"
