"""What holds for all tests."""

from __future__ import annotations

import signal

# A shell that starts the tests in the background tells them to ignore Ctrl-C, and their children would too.
signal.signal(signal.SIGINT, signal.default_int_handler)
