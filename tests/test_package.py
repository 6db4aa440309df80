"""What `import paraactive` gives."""

from __future__ import annotations

import subprocess
import sys

import paraactive


def test_every_name_at_the_top_is_there() -> None:
    for name in paraactive.__all__:
        assert getattr(paraactive, name) is not None
    assert paraactive.Run.__name__ == "Run"


def test_rooms_are_found_after_one_import() -> None:
    code = """
import paraactive
print(paraactive.rules.Margin(0.1).eta, paraactive.checks.check_rule.__name__, paraactive.errors.InputError.__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.1", "check_rule", "InputError"]


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(paraactive, "nonsense")
    assert {"train", "rules"} <= set(dir(paraactive))
