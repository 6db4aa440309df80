"""The programs that make what the README shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from paraactive import Digits, LaSVM, train
from paraactive.rules import Passive, SignedMargin

SCRIPTS = Path(__file__).parent.parent / "scripts"


def test_the_picture_has_a_curve_for_passive_learning_and_one_for_each_number_of_nodes(tmp_path: Path) -> None:
    for rule in (Passive(), SignedMargin()):
        for seed in (0, 1):
            out = tmp_path / f"{type(rule).__name__}-{seed}.db"
            train(
                LaSVM(gamma=0.012), Digits(seed=seed), rule=rule, seed=seed, examples=1200, batch=200, warmstart=400,
                test=True, out=out,
            )  # fmt: skip
    picture = tmp_path / "picture.svg"
    runs = sorted(str(path) for path in tmp_path.glob("*.db"))
    subprocess.run([sys.executable, str(SCRIPTS / "draw_error.py"), *runs, "--out", str(picture)], check=True)
    tree = ElementTree.parse(picture)
    curves = tree.findall(".//{http://www.w3.org/2000/svg}polyline")
    assert [len(curve.attrib["points"].split()) for curve in curves] == [5, 5, 5, 5]
    words = [text.text for text in tree.findall(".//{http://www.w3.org/2000/svg}text")]
    assert {"passive", "sifted, k = 1", "sifted, k = 8", "sifted, k = 64", "seconds"} <= set(words)
