"""Rows with pictures, written so that another tool shows the same: PNG files, and what is marked on them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from stethoscope.codec import plain
from stethoscope.data import open_data
from stethoscope.data.dataset import Box, DataAbout, DataField, Mark, Points, Polygon, Sample
from stethoscope.data.view.marks import Scale, channels_last, full_picture, is_drawable
from stethoscope.errors import BadInput, BadSetting
from stethoscope.task import TaskContext

ROWS, MOST_ROWS = 1_000, 100_000
_AT_ONCE = 16
_TEXT = 2_000


@dataclass(frozen=True)
class ExportedSamples:
    """What was written: samples.json and a PNG file for each row.

    samples.json is a list of {"file", "width", "height", "place", "name", "label", "split", "marks", "values", "mask"}.
    Marks are in pixels: {"type": "box", "label", "box": [x, y, width, height, degrees]}, {"type": "polygon", "label",
    "rings"}, {"type": "points", "label", "points", "joined"}, {"type": "region", "label", "box", "bits": base64 of packed
    rows}, each with "details".
    """

    about: DataAbout
    rows: int
    """That were written,"""
    of: int
    """of those in the data."""
    left_out: int
    """Rows without a picture."""


class ExportSamples:
    """Files: "data". params, all optional: {"rows" (from the start, 1,000), "data_options"}."""

    kind = "export_samples"
    answer = ExportedSamples

    def run(self, context: TaskContext) -> ExportedSamples:
        """Writes the rows.

        Raises:
            BadInput: the rows have no pictures.
            BadSetting: a number of rows that makes no sense.
        """
        most = context.params.get("rows", ROWS)
        if not isinstance(most, int) or not 1 <= most <= MOST_ROWS:
            raise BadSetting(f"rows: expected a whole number from 1 to {MOST_ROWS:,}, got {most!r}.")
        file = context.files["data"]
        with open_data(file, context.budget.memory_bytes, context.params.get("data_options") or {}) as data:
            pictures = [one for one in data.about.fields if one.kind in ("image", "mask")]
            if not pictures:
                raise BadInput(
                    f"{file.name}: expected rows with pictures, got {data.about.title}. FiftyOne shows pictures; look at tables, "
                    "texts and sounds here."
                )
            out = context.folder / "out"
            out.mkdir(exist_ok=True)
            rows, told, left_out = min(most, data.about.rows), [], 0
            scale: Scale | None = None
            for start in range(0, rows, _AT_ONCE):
                for sample in data.samples(range(start, min(start + _AT_ONCE, rows))):
                    field = next((one for one in pictures if _is_there(sample, one)), None)
                    if field is None:
                        left_out += 1
                        continue
                    value = channels_last(sample.values[field.name])
                    scale = scale or Scale.of([value])
                    made = full_picture(value, scale)
                    name = f"row-{sample.place:07d}.png"
                    (out / name).write_bytes(made.png)
                    told.append(_told(sample, name, (made.width, made.height), pictures, field))
                context.report("draw", (start + _AT_ONCE) / rows, f"row {start:,} of {rows:,}")
            (out / "samples.json").write_text(json.dumps(told))
            return ExportedSamples(data.about, len(told), data.about.rows, left_out)


def _is_there(sample: Sample, field: DataField) -> bool:
    value = sample.values.get(field.name)
    return value is not None and is_drawable(value)


def _told(
    sample: Sample, file: str, size: tuple[int, int], pictures: list[DataField], shown: DataField
) -> dict[str, Any]:
    values = {
        name: plain(value.reshape(-1)[0].item()) if value.dtype.kind not in "US" else str(value.reshape(-1)[0])[:_TEXT]
        for name, value in sample.values.items()
        if value.size == 1 and value.dtype.kind in "biufUS"
    }
    mask = next((one for one in pictures if one.kind == "mask" and one is not shown and _is_there(sample, one)), None)
    return {
        "file": file,
        "width": size[0],
        "height": size[1],
        "place": sample.place,
        "name": sample.name,
        "label": sample.label,
        "split": sample.split,
        "marks": [_mark(mark) for mark in sample.marks],
        "values": values,
        "mask": None if mask is None else _mask(sample.values[mask.name]),
    }


def _mark(mark: Mark) -> dict[str, Any]:
    told: dict[str, Any] = {"label": mark.label, "details": plain(getattr(mark, "details", {}))}
    if isinstance(mark, Box):
        return told | {"type": "box", "box": [mark.x, mark.y, mark.width, mark.height, mark.angle_degrees]}
    if isinstance(mark, Polygon):
        return told | {"type": "polygon", "rings": [[list(point) for point in ring] for ring in mark.rings]}
    if isinstance(mark, Points):
        return told | {"type": "points", "points": [list(point) for point in mark.points], "joined": mark.joined}
    rows, columns = np.flatnonzero(mark.bits.any(axis=1)), np.flatnonzero(mark.bits.any(axis=0))
    if not rows.size:
        return told | {"type": "region", "box": [0, 0, 0, 0, 0], "bits": ""}
    top, left = int(rows[0]), int(columns[0])
    part = mark.bits[top : rows[-1] + 1, left : columns[-1] + 1]
    packed = base64.b64encode(np.packbits(part, axis=1).tobytes()).decode()
    return told | {"type": "region", "box": [left, top, part.shape[1], part.shape[0], 0], "bits": packed}


def _mask(value: Any) -> dict[str, Any]:
    """Class numbers of each pixel: as many bytes as pixels, base64; None for numbers beyond a byte."""
    flat = value[..., 0] if value.ndim == 3 else value
    numbers = np.clip(flat, 0, 255).astype(np.uint8)
    return {"height": flat.shape[0], "width": flat.shape[1], "numbers": base64.b64encode(numbers.tobytes()).decode()}


TASK = ExportSamples()
