"""Build the bundled MNIST: `src/paraactive/streams/digits/data/mnist.npz`, from the four published idx files.

Four pixels in five are blank. Each split and digit class is therefore stored as two arrays, where the ink is and how
dark it is there; that is smaller than the published files, and a two-class task opens only its own classes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY.parent / "shared" / "data" / "mnist"
TARGET = REPOSITORY / "src" / "paraactive" / "streams" / "digits" / "data"
LIMIT = 11_000_000
SPLITS = {"train": "train", "test": "t10k"}

README = """\
# The bundled digits

`mnist.npz` holds all 70 000 digits of the MNIST database of handwritten digits by Yann LeCun, Corinna Cortes and
Christopher J.C. Burges (http://yann.lecun.com/exdb/mnist/), bit for bit. MNIST is derived from NIST Special
Databases 1 and 3. The licence usually stated for it is Creative Commons Attribution-ShareAlike 3.0
(https://creativecommons.org/licenses/by-sa/3.0/); this file is a repacking of it under the same licence, and not
under the licence of the code around it.

`scripts/bundle_digits.py` wrote both files from the four published idx files. The same input gives the same bytes
(with one version of zlib). Members, all plain numpy arrays, for each split `train` and `test` and each digit `d`:

- `{split}_labels`: the digit at each position of the published file, uint8. It restores the published order.
- `{split}_{d}_mask`: the pixels of the images of `d`, in the published order, that are not 0; one bit a pixel, packed.
- `{split}_{d}_ink`: the values of those pixels, one after the other, uint8.

Sizes: {sizes}.
"""


def read_idx(path: Path, header: int) -> Bytes:
    """The payload of an idx file, after its header."""
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)


def members(source: Path) -> dict[str, Bytes]:
    """Every array of the bundle, by name."""
    arrays: dict[str, Bytes] = {}
    for split, prefix in SPLITS.items():
        labels = read_idx(source / f"{prefix}-labels-idx1-ubyte.gz", header=8)
        pixels = read_idx(source / f"{prefix}-images-idx3-ubyte.gz", header=16).reshape(len(labels), 784)
        arrays[f"{split}_labels"] = labels
        for digit in range(10):
            own = pixels[labels == digit]
            arrays[f"{split}_{digit}_mask"] = np.packbits(own != 0)
            arrays[f"{split}_{digit}_ink"] = own[own != 0]
    return arrays


def write_npz(path: Path, arrays: dict[str, Bytes]) -> None:
    """Like `numpy.savez_compressed`, but smaller, and without today's date in it."""
    with zipfile.ZipFile(path, "w") as bundle:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1998, 11, 1, 0, 0, 0))
            member.create_system = 3  # or the bytes would depend on the system that wrote them
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            bundle.writestr(member, buffer.getvalue(), compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)


def main() -> None:
    """Build the bundle and report its size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path, default=SOURCE, help="folder of the idx .gz files")
    parser.add_argument("--target", type=Path, default=TARGET, help="folder to write to")
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    bundle: Path = options.target / "mnist.npz"
    write_npz(bundle, members(options.source))
    size = bundle.stat().st_size
    readme = README.replace("{sizes}", f"`mnist.npz` {size:,} bytes; the published files 11,369,320")
    (options.target / "README.md").write_text(readme, encoding="utf-8")
    if size + len(readme.encode()) > LIMIT:
        raise SystemExit(f"{bundle} is {size:,} bytes, over the limit of {LIMIT:,}")
    print(f"{bundle}: {size:,} bytes")


if __name__ == "__main__":
    main()
