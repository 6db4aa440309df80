"""Start-up: importing, first use in a new process with compiled loops on disk, and compiling them.

python -m benchmarks.bench_startup --repeats 5 --json startup.json
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.measuring import between, finish, parse, seconds, spread, table

_DATA = "import numpy as np; x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32); y = x[:, 0] > 0"
_FIRST_USE = """
from paraactive import {learner}
from paraactive.data.examples import Selected
learner = {learner}()
learner.update(Selected.weighted(x, np.where(y, 1, -1)))
learner.score(x)
"""
_TRAIN = "from paraactive import Arrays, {learner}, train; train({learner}(), Arrays(x, y), nodes=1)"

STATEMENTS = {
    "python -c pass": "",
    "import numpy": "import numpy",
    "import numba": "import numba",
    "import paraactive": "import paraactive",
    "from paraactive import LaSVM": "from paraactive import LaSVM",
    "from paraactive import Network": "from paraactive import Network",
    "from paraactive import train": "from paraactive import train",
    "from sklearn.svm import SVC": "from sklearn.svm import SVC",
    "from paraactive import ParaActiveClassifier": "from paraactive import ParaActiveClassifier",
    "LaSVM: import, update, score": _DATA + _FIRST_USE.format(learner="LaSVM"),
    "Network: import, update, score": _DATA + _FIRST_USE.format(learner="Network"),
    "train(LaSVM(), Arrays(x, y))": f"{_DATA}\n{_TRAIN.format(learner='LaSVM')}",
    "train(Network(), Arrays(x, y))": f"{_DATA}\n{_TRAIN.format(learner='Network')}",
}
"""What a new process is to do, compiled loops being on disk."""
HELP = "paraactive --help"
COMPILED = ("LaSVM", "Network")


def _process(*arguments: str, **environment: str) -> float:
    """The time that a Python process takes from its start to its end."""
    command = [sys.executable, *arguments]
    return seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | environment))


def _compiling(learner: str) -> float:
    """The same, of a run that finds no compiled loops."""
    with tempfile.TemporaryDirectory() as nothing:
        return _process("-c", STATEMENTS[f"train({learner}(), Arrays(x, y))"], NUMBA_CACHE_DIR=nothing)


def measure(repeats: int) -> list[Any]:
    """Seconds of whole processes."""
    cached = {name: ("-c", code) for name, code in STATEMENTS.items()} | {HELP: ("-m", "paraactive", "--help")}
    results: list[Any] = []
    for name, arguments in cached.items():
        _process(*arguments)  # So that its loops are on disk, and its files in memory.
        results.append({"what": name, "seconds": spread([_process(*arguments) for _ in range(repeats)])})
    for learner in COMPILED:
        times = spread([_compiling(learner) for _ in range(repeats)])
        results.append({"what": f"train({learner}(), …), nothing compiled yet", "seconds": times})
    return results


def render(results: list[Any]) -> str:
    """The table."""
    nothing = results[0]["seconds"]["median"]
    rows = [[r["what"], between(r["seconds"]), f"{r['seconds']['median'] - nothing:.2f}"] for r in results]
    return table(["a new process", "seconds, from its start to its end", "without Python's own"], rows)


if __name__ == "__main__":
    options = parse(__doc__ or "")
    figures = measure(options.repeats)
    finish(options, render(figures), {"startup": figures})
