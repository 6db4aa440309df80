"""The private names of Ray that we depend on, all in one place. No public setting of Ray does what they do.

`pyproject.toml` bounds the version of Ray. `tests/engines/remote/test_ray_private.py` fails if a name has changed.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module

LOOPBACK_SWITCH = ("ray._private.ray_constants", "ENABLE_RAY_CLUSTER")
"""False: a cluster that is started listens on 127.0.0.1 only. Otherwise Ray replaces 127.0.0.1 by an outer address.

The environment variable RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER sets it, but only before ray is first imported.
"""
ERROR_PRINTER = ("ray._private.worker", "listen_error_messages")
"""Prints to standard output when an actor dies, in its own thread. `log_to_driver=False` does not stop it."""
TOKEN_LOADER = ("ray._raylet", "AuthenticationTokenLoader")
"""It remembers RAY_AUTH_MODE and the token, although a process may join clusters of different modes one by one."""
SETTINGS = ("ray._raylet", "Config")
"""The settings that Ray reads from the environment once."""


@contextmanager
def on_loopback_and_quiet() -> Generator[None]:
    """Let a `ray.init` inside of it listen on 127.0.0.1 only, and print nothing to standard output."""
    with _replaced(*LOOPBACK_SWITCH, False), _replaced(*ERROR_PRINTER, _print_nothing):
        yield


def read_authentication_mode_again() -> None:
    """Let Ray read RAY_AUTH_MODE and the token from the environment again."""
    import_module(SETTINGS[0]).Config.initialize("")
    import_module(TOKEN_LOADER[0]).AuthenticationTokenLoader.instance().reset_cache()


def _print_nothing(*_: object) -> None:
    pass


@contextmanager
def _replaced(module: str, name: str, value: object) -> Generator[None]:
    found = import_module(module)
    before = getattr(found, name)
    setattr(found, name, value)
    try:
        yield
    finally:
        setattr(found, name, before)
