"""Large data files for benchmarks: a table of 100,000 rows, an archive of 20,000 pictures, arrays of 1 GB."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

ROWS, PICTURES = 100_000, 20_000
NPZ_BYTES = 1 << 30
_CLASSES = ("cat", "dog", "horse", "ship")


def write_csv(path: Path) -> None:
    """Twenty columns of numbers, two of texts, a class."""
    generator = np.random.default_rng(0)
    values = generator.normal(size=(ROWS, 20))
    classes = generator.integers(0, len(_CLASSES), ROWS)
    with path.open("w") as out:
        out.write(",".join([*(f"feature_{number}" for number in range(20)), "city", "comment", "label"]) + "\n")
        for row in range(ROWS):
            numbers = ",".join(f"{value:.6g}" for value in values[row])
            out.write(f'{numbers},city {row % 97},"says, row {row}",{_CLASSES[classes[row]]}\n')


def write_pictures(path: Path) -> None:
    """JPEG files of 64 to 128 pixels a side in folders by class, as a camera's archive: stored, not compressed again."""
    from PIL import Image

    generator = np.random.default_rng(0)
    encoded = []
    for _ in range(200):
        height, width = generator.integers(64, 129, 2)
        coarse = generator.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        out = io.BytesIO()
        Image.fromarray(coarse).resize((int(width), int(height))).save(out, "JPEG", quality=88)
        encoded.append(out.getvalue())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number in range(PICTURES):
            kind = _CLASSES[number % len(_CLASSES)]
            # The number at the end makes every file one of its own.
            archive.writestr(f"pictures/{kind}/{number:06d}.jpg", encoded[number % 200] + number.to_bytes(4, "big"))


def write_npz(path: Path) -> None:
    """Colour pictures of 128 × 128 pixels as uint8, and their classes; deflated as numpy.savez_compressed does."""
    rows = NPZ_BYTES // (128 * 128 * 3)
    block = np.random.default_rng(0).integers(0, 256, (256, 128, 128, 3), dtype=np.uint8)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1, allowZip64=True) as archive:
        with archive.open("x.npy", "w", force_zip64=True) as out:
            header = {"descr": "|u1", "fortran_order": False, "shape": (rows, 128, 128, 3)}
            np.lib.format.write_array_header_2_0(out, header)
            for start in range(0, rows, 256):
                out.write(block[: min(256, rows - start)].tobytes())
        with archive.open("y.npy", "w") as out:
            np.lib.format.write_array(out, np.arange(rows) % len(_CLASSES))
