"""Registers may be narrower elsewhere: the code is another then, and the bits are the same."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from paraactive.learners.lasvm import kernels
from paraactive.learners.lasvm.projection_loops import cheap_sums, shorten
from paraactive.learners.simd.blocks import WIDE_LANES, packed_rows


def digest() -> str:
    """Of exact and of cheap sums over some vectors."""
    rng = np.random.default_rng(0)
    x, s = (rng.normal(size=(n, 200)).astype(np.float32) / np.float32(10) for n in (16, 2 * WIDE_LANES))
    xx, ss = ((v**2).sum(axis=1, dtype=np.float64).astype(np.float32) for v in (x, s))
    alpha, exact, cheap = rng.normal(size=(1, len(s))), np.empty((16, 1)), np.empty((16, 1))
    one = np.float32(1)
    kernels.kernel_sums(x, xx, packed_rows(s, WIDE_LANES), ss, alpha, len(s), kernels.RBF, one, one, 1, exact)
    short, vectors = np.empty((16, 96), np.int16), np.empty((len(s), 96), np.int16)
    for rows, out in ((x, short), (s, vectors)):
        shorten(np.ascontiguousarray(rows[:, :96]), np.float32(1e-3), out)
    panels = np.ascontiguousarray(vectors.reshape(2, WIDE_LANES, 48, 2).transpose(0, 2, 1, 3)).reshape(2, 48, -1)
    cheap_sums(short, xx, 16, panels, ss, alpha.astype(np.float32), one, np.float32(1e-6), cheap)
    return hashlib.sha256(exact.tobytes() + cheap.tobytes()).hexdigest()


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="of the x86 family only")
def test_a_processor_without_avx512_computes_the_same_bits(tmp_path: Path) -> None:
    # Without that name, numba compiles for the processor that is there. Haswell is the oldest with fused multiply-adds.
    old = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma", "NUMBA_CACHE_DIR": str(tmp_path)}
    code = "import sys; sys.path.insert(0, sys.argv[1]); import test_older_processors as test; print(test.digest())"
    there = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], env={**os.environ, **old}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert there.stdout.split() == [digest()]
