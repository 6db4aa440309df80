"""Programs that measure. Each prints a table and writes JSON; all figures are ratios of both sides in one run."""

import os

# Here, because it must come before numpy is imported: all figures are for one core.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"
