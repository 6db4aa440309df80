"""What a process that is forked for a measurement has imported already: all methods. It must not start any thread."""

import importlib

import benchmarks.peers

for _method in benchmarks.peers.METHODS:
    if _method.needs and _method.installed:
        importlib.import_module(_method.needs)
