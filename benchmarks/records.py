"""Records of a long measurement: written as they come, so that a stop loses nothing.

Records are of one state of the sources on one machine. If either changes, all of them are dropped: a table never
shows figures of two versions or of two machines together.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import paraactive
from benchmarks.measuring import machine
from paraactive.basics.atomic_files import atomic_write

CACHE = Path(__file__).parent.parent / ".venv" / "data"


class Records:
    """What was measured so far, by nested names."""

    def __init__(self, path: Path, keep: bool = False) -> None:
        self.path = path
        self.known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        state = {"code": sources(), "machine": machine()}
        if not keep and {name: self.known.get(name) for name in state} != state:
            self.known = {}
        self.known |= state

    def all(self) -> dict[str, Any]:
        """All records."""
        return self.known.setdefault("records", {})

    def of(self, *names: str) -> dict[str, Any]:
        """The records under these names."""
        place = self.all()
        for name in names:
            place = place.setdefault(name, {})
        return place

    def put(self, record: Any, *names: str) -> None:
        """Write one more to the file; the last name is its own."""
        *above, last = names
        self.of(*above)[last] = record
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.path) as file:
            file.write((json.dumps(self.known, indent=1) + "\n").encode())


def sources() -> str:
    """A digest of the library, without the modules that cannot change a figure, and of the benchmarks."""
    root, here = Path(paraactive.__file__).parent, Path(__file__).parent
    digest = hashlib.sha256()
    for path in [*sorted(root.rglob("*.py")), *sorted(here.glob("*.py"))]:
        if path.relative_to(root if root in path.parents else here).parts[0] not in {"report", "trackers", "theory"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
