"""A Ray cluster of three machines, as far as Ray knows, for all tests of this folder: it takes ten seconds to start."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paraactive

MACHINE = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Three machines with one core each; nobody outside can reach them."""
    import ray.cluster_utils

    cluster_utils: Any = ray.cluster_utils
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.delenv("RAY_ADDRESS", raising=False)
        # The package under test, and what the tests define, are on every machine.
        folders = Path(paraactive.__file__).parent.parent, Path(__file__).parent.parent
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))
        found = cluster_utils.Cluster(initialize_head=True, head_node_args=MACHINE | {"include_dashboard": False})
        for _ in range(2):
            found.add_node(wait=False, **MACHINE)
        found.wait_for_nodes()
        yield found
        found.shutdown()
