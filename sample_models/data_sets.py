"""Real data to try, as it comes with scikit-learn: `python -m sample_models.data_sets` writes it beside the sample models.

Sources: UCI Machine Learning Repository (digits, iris, wine; CC BY 4.0), Efron et al. 2004 (diabetes), photographs by
danielbuechele and vultilion (CC BY 2.0; their attribution is in the archive).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sample_models.drifting_data import digits_before, digits_brighter, predictions_log
from sample_models.recipe import SEED

_WHEN = (2024, 1, 1, 0, 0, 0)
"""The same bytes whenever they are written."""
_SCENE_PX, _SCENES = 96, 40


@dataclass(frozen=True)
class DataSet:
    """One file of data and what to say of it."""

    id: str
    file: str
    title: str
    behaviour: str
    """One sentence: what it is for."""
    description: str
    build: Callable[[Path], None]

    def entry(self, folder: Path) -> dict[str, Any]:
        """Its line in the manifest."""
        return {
            "id": self.id,
            "kind": "data",
            "file": self.file,
            "title": self.title,
            "behaviour": self.behaviour,
            "description": self.description,
            "size_bytes": (folder / self.file).stat().st_size,
        }


def build_data(folder: Path) -> list[dict[str, Any]]:
    """Writes every data set into `folder` and records it in the manifest there; returns the entries."""
    for one in DATA_SETS:
        one.build(folder / one.file)
    entries = [one.entry(folder) for one in DATA_SETS]
    manifest = folder / "manifest.json"
    rows = json.loads(manifest.read_text()) if manifest.exists() else []
    models = [row for row in rows if row.get("kind") != "data"]
    manifest.write_text(json.dumps([*models, *entries], indent=1, ensure_ascii=False) + "\n")
    return entries


def _digits(path: Path) -> None:
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    np.savez_compressed(path, x=images.astype(np.uint8).reshape(-1, 8, 8, 1), y=labels.astype(np.uint8))


def _table(name: str, target: str, **options: Any) -> Callable[[Path], None]:
    def build(path: Path) -> None:
        from sklearn import datasets

        found = getattr(datasets, f"load_{name}")(**options)
        names = [
            str(column).replace(" (cm)", "_cm").replace(" ", "_").replace("/", "_") for column in found.feature_names
        ]
        classes = [str(word) for word in found.get("target_names", ())]
        lines = [",".join([*names, target])]
        for row, value in zip(found.data, found.target, strict=True):
            lines.append(
                ",".join([*(f"{number:g}" for number in row), classes[int(value)] if classes else f"{value:g}"])
            )
        path.write_text("\n".join(lines) + "\n")

    return build


def _photographs(path: Path) -> None:
    import sklearn.datasets

    folder = Path(sklearn.datasets.__file__).parent / "images"
    _write_zip(path, {name: (folder / name).read_bytes() for name in ("china.jpg", "flower.jpg", "README.txt")})


def _scenes(path: Path) -> None:
    """Real digits, enlarged three times, put on canvases where they do not touch; the boxes are where they were put."""
    from PIL import Image
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    generator = np.random.default_rng(SEED)
    files: dict[str, bytes] = {}
    documents: dict[str, dict[str, Any]] = {}
    for number in range(_SCENES):
        split = "train" if number < _SCENES * 3 // 4 else "val"
        document = documents.setdefault(split, {"images": [], "annotations": [], "categories": _categories()})
        canvas = np.zeros((_SCENE_PX, _SCENE_PX), np.uint8)
        name = f"{number + 1:03}.png"
        document["images"].append({"id": number, "file_name": name, "width": _SCENE_PX, "height": _SCENE_PX})
        for cell in generator.permutation(9)[: generator.integers(2, 7)]:
            pick = int(generator.integers(len(images)))
            glyph = np.kron(images[pick].reshape(8, 8), np.ones((3, 3))) * 255 / 16
            left, top = (int(side) * 32 + int(generator.integers(0, 8)) for side in (cell % 3, cell // 3))
            canvas[top : top + 24, left : left + 24] = glyph.astype(np.uint8)
            document["annotations"].append(_annotation(document, number, int(labels[pick]), left, top, glyph))
        stream = io.BytesIO()
        Image.fromarray(canvas).save(stream, "PNG")
        files[f"{split}/{name}"] = stream.getvalue()
    for split, document in documents.items():
        files[f"annotations/instances_{split}.json"] = json.dumps(document).encode()
    _write_zip(path, files)


def _annotation(
    document: Mapping[str, Any], image: int, label: int, left: int, top: int, glyph: npt.NDArray[Any]
) -> dict[str, Any]:
    """A box around the ink, not around the square it was put in."""
    rows, columns = np.flatnonzero(glyph.any(axis=1)), np.flatnonzero(glyph.any(axis=0))
    x, y = int(left + columns[0]), int(top + rows[0])
    width, height = int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1)
    return {
        "id": len(document["annotations"]) + 1,
        "image_id": image,
        "category_id": label + 1,
        "bbox": [x, y, width, height],
        "area": width * height,
        "iscrowd": 0,
    }


def _categories() -> list[dict[str, Any]]:
    return [{"id": digit + 1, "name": str(digit)} for digit in range(10)]


def _write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _WHEN), content)


DATA_SETS = (
    DataSet(
        "digit_images",
        "digit_images.npz",
        "Handwritten digits",
        "1,797 small grey images of ten classes, as arrays.",
        "Images x of 8×8 pixels from 0 to 16 and their digits y, in one .npz. The digits classifiers among the sample "
        "models were trained on three quarters of them, divided by 16.",
        _digits,
    ),
    DataSet(
        "digit_scenes",
        "digit_scenes.data.zip",
        "Digits to be found (COCO boxes)",
        "40 images with two to six digits each, and a box around every one.",
        "Real handwritten digits from the same collection, put on canvases of 96×96 pixels, with COCO annotations for "
        "training and validation.",
        _scenes,
    ),
    DataSet(
        "iris",
        "iris.csv",
        "Iris flowers (table)",
        "150 rows: four lengths in centimetres, and which of three species it is.",
        "Fisher's table of 1936 as CSV. The target is the column species.",
        _table("iris", "species"),
    ),
    DataSet(
        "wine",
        "wine.csv",
        "Wine cultivars (table)",
        "178 rows: thirteen chemical measurements of very different scale, and which of three cultivars it is.",
        "Columns run from 0.1 to 1,700, which a network does not like unscaled. The target is the column class.",
        _table("wine", "class"),
    ),
    DataSet(
        "diabetes",
        "diabetes.csv",
        "Diabetes progression (table)",
        "442 rows: ten measurements of a patient, and how far the disease had come a year later.",
        "A regression in the patients' own units, from the study by Efron and others. The target is the column target.",
        _table("diabetes", "target", scaled=False),
    ),
    DataSet(
        "photographs",
        "photographs.data.zip",
        "Two photographs",
        "Two colour photographs of 640×427 pixels, without labels.",
        "A temple and a flower, to look at what an image classifier sees. Licence: CC BY 2.0, attribution in the archive.",
        _photographs,
    ),
    DataSet(
        "digits_before",
        "digits_before.npz",
        "Digits, as they were",
        "898 handwritten digits: the reference that the brighter ones are compared with.",
        "One half of the handwritten digits, from 0 to 1, as the digits classifiers take them.",
        digits_before,
    ),
    DataSet(
        "digits_brighter",
        "digits_brighter.npz",
        "Digits, half of them brighter",
        "899 handwritten digits, every second one brightened: data that has drifted.",
        "The other half of the handwritten digits; every second image was multiplied by 1.5, as if a lamp had been exchanged.",
        digits_brighter,
    ),
    DataSet(
        "predictions_log",
        "predictions_log.csv",
        "A log of predictions",
        "2,400 made-up predictions of four weeks, with their moments, confidence and labels.",
        "In the third week the scanner at one of three sites writes fainter, and its digits are misread more often.",
        predictions_log,
    ),
)


def main() -> int:
    """The command line."""
    from sample_models.build import BUILT, refresh_readme

    build_data(BUILT)
    refresh_readme()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
