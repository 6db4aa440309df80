"""The command line. `app` has the commands, `options` makes parts of them, `progress` and `tables` what is shown."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; a mistake of the user's is one line and exit code 2, never a traceback."""
    # Typer and rich are imported here, not above: `import paraactive.cli` stays cheap.
    from paraactive.cli.app import run

    code = run(sys.argv[1:])
    if "ray" in sys.modules:
        from paraactive.engines.remote.ray_head import end_process_if_abandoned

        end_process_if_abandoned(code)
    sys.exit(code)
