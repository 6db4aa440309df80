"""The command line. `app` runs a command, `options` makes learners, rules and streams, `tables` prints results."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an error of the user prints one line and ends with exit code 2."""
    # Typer and rich are imported here, not above: `import paraactive.cli` stays cheap.
    from paraactive.cli.app import run

    code = run(sys.argv[1:])
    if "ray" in sys.modules:
        from paraactive.engines.remote.ray_head import end_process_if_abandoned

        end_process_if_abandoned(code)
    sys.exit(code)
