"""Features of tf.train.Example as fields: images decoded, raw pixels shaped by the sizes beside them, text, numbers.

Objects marked on the images of tf.train.Example records: boxes and masks, as the object-detection tools write them.

Source: tensorflow/models, research/object_detection/data_decoders/tf_example_decoder.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.dataset import Box, DataField, FieldKind, Mark
from stethoscope.data.streams.tf_records import Feature, names_of
from stethoscope.data.tables.arrow_columns import kind_of_bytes, value_of
from stethoscope.data.tables.field_rows import stacked, text_array
from stethoscope.data.tables.table_fields import table_fields

_FEW = 20
_SIZES = ("height", "width")
_DEPTHS = ("depth", "channels", "channel")
_LABELS = ("label", "class/label", "class", "target", "y", "labels", "class/text", "label/text", "category")
"""Last parts of names, the likelier ones first."""


@dataclass(frozen=True)
class ExampleFields:
    """What the records' features are."""

    fields: tuple[DataField, ...]
    classes: tuple[str, ...]
    notes: tuple[str, ...]
    kinds: Mapping[str, FieldKind]
    """Of the features of byte strings."""
    single: frozenset[str]
    """Features with one value in every record."""
    texts: frozenset[str]
    """Those of them that are text."""
    raw: frozenset[str]
    """Images as plain pixels, without a header."""

    def values(
        self, example: Mapping[str, Feature], where: str, budget_bytes: int, names: Sequence[str] | None
    ) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
        """One record's values by field, and what is wrong with those left out."""
        found: dict[str, npt.NDArray[Any]] = {}
        said: list[str] = []
        for field in self.fields:
            if names is not None and field.name not in names:
                continue
            value, wrong = self._value(example, field.name, where, budget_bytes)
            if wrong:
                said.append(wrong)
            if value is not None:
                found[field.name] = value
        return found, said

    def _value(
        self, example: Mapping[str, Feature], name: str, where: str, budget_bytes: int
    ) -> tuple[npt.NDArray[Any] | None, str]:
        feature = example.get(name)
        if feature is None:
            return (None, f"It has no {name!r}.") if name in self.single else (np.zeros(0, np.float32), "")
        if isinstance(feature, list):
            kind = self.kinds.get(name, "array")
            if name not in self.single:
                return text_array([item.decode("utf-8", "replace") for item in feature]), ""
            if not feature:
                return None, f"{name!r} is empty."
            if not feature[0] and kind == "image":
                return _canvas(example, name)
            if name in self.raw:
                return _raw_image(feature[0], example, name)
            return value_of(feature[0], kind, f"{where}, {name!r}", budget_bytes)
        if name in self.single:
            return (feature[0], "") if len(feature) else (None, f"{name!r} is empty.")
        return np.asarray(feature), ""


def fields_of(subject: str, examples: Sequence[Mapping[str, Feature]], options: Mapping[str, Any]) -> ExampleFields:
    """Decides what each feature is, by the first records.

    Raises:
        BadSetting: options["target"] names no feature.
    """
    names = names_of(list(examples))
    single = frozenset(
        name
        for name in names
        if all(np.ndim(example[name]) == 1 and len(example[name]) == 1 for example in examples if name in example)
    )
    kinds: dict[str, FieldKind] = {}
    for name in names:
        payloads = [
            feature[0] for example in examples[:_FEW] if isinstance(feature := example.get(name), list) and feature
        ]
        if payloads:
            empty = not any(payloads) and name.lower().endswith("encoded")
            kinds[name] = "image" if empty else kind_of_bytes(payloads) if name in single else "array"
    raw = frozenset(name for name in single if kinds.get(name) in ("array", "text") and _is_raw(name, examples[:_FEW]))
    kinds |= dict.fromkeys(raw, "image")
    texts = frozenset(name for name in single if kinds.get(name) == "text")
    half = ExampleFields((), (), (), kinds, single, texts, raw)
    columns, details = {}, {}
    for name in names:
        media = kinds.get(name) in ("image", "audio")
        some = examples[:4] if media else examples
        rows = [half._value(example, name, subject, 1 << 30)[0] for example in some]
        if name in texts:
            columns[name] = text_array(["" if row is None else str(row[()]) for row in rows])
        else:
            columns[name] = stacked([np.zeros(0) if row is None else row for row in rows])
        if media:
            details[name] = {"kind": kinds[name]}
    made = table_fields(subject, columns, {"target": options.get("target") or _target(names, single)}, details)
    pictured = any(kind in ("image", "audio") for kind in kinds.values())
    fields = tuple(_settled(field, kinds, pictured) for field in made.fields)
    notes = tuple(note for note in made.notes if not (pictured and note.startswith("Columns of text")))
    target = next((field.name for field in fields if field.role == "target"), "")
    if target and not options.get("target"):
        notes = (f"{target!r} is taken as the target, by its name; another one can be chosen.", *notes)
    return ExampleFields(fields, made.classes, notes, kinds, single, texts, raw)


def picture_of(values: Mapping[str, Any], fields: ExampleFields) -> tuple[float, float]:
    """(height, width) in pixels of a record's image: of the pixels, else as it says beside them; 0 where unknown."""
    for field in fields.fields:
        array = values.get(field.name)
        if field.kind == "image" and array is not None and np.ndim(array) >= 2:
            return float(array.shape[0]), float(array.shape[1])
    sizes = [_beside(values, "", (side,)) for side in _SIZES]
    return (float(sizes[0]), float(sizes[1])) if sizes[0] and sizes[1] else (0.0, 0.0)


def _settled(field: DataField, kinds: Mapping[str, FieldKind], pictured: bool) -> DataField:
    """Beside images and sounds, numbers such as their height are no input of a model."""
    of_objects = "object/" in field.name and field.role == "input"
    if of_objects or (pictured and field.role == "input" and kinds.get(field.name) not in ("image", "audio")):
        return DataField(field.name, field.kind, field.dtype, field.shape, "other", field.unit, field.details)
    return field


def _target(names: Sequence[str], single: frozenset[str]) -> str:
    for word in _LABELS:
        for name in names:
            if name in single and (name.lower() == word or name.lower().endswith(f"/{word}")) and "object/" not in name:
                return name
    return "none" if any("object/" in name for name in names) else ""


def _canvas(example: Mapping[str, Feature], name: str) -> tuple[npt.NDArray[Any] | None, str]:
    """An empty image of the size the record declares, for its boxes to be drawn on."""
    height, width = (_beside(example, name, (side,)) for side in _SIZES)
    if not (height > 0 and width > 0 and height * width <= dataset.MAX_PIXELS):
        return None, f"{name!r} is empty."
    return np.full((height, width, 3), 255, np.uint8), f"{name!r} is empty: an empty canvas of its size is shown."


def _is_raw(name: str, examples: Sequence[Mapping[str, Feature]]) -> bool:
    return bool(examples) and all(
        isinstance(feature := example.get(name), list) and feature and _raw_shape(feature[0], example, name) is not None
        for example in examples
    )


def _raw_image(payload: bytes, example: Mapping[str, Feature], name: str) -> tuple[npt.NDArray[Any] | None, str]:
    shape = _raw_shape(payload, example, name)
    if shape is None:
        return None, f"{name!r}: its {len(payload):,} bytes do not fit the height and width beside them."
    return np.frombuffer(payload, np.uint8).reshape(shape), ""


def _raw_shape(payload: bytes, example: Mapping[str, Feature], name: str) -> tuple[int, int, int] | None:
    height, width = (_beside(example, name, (side,)) for side in _SIZES)
    if height < 1 or width < 1:
        return None
    depth = _beside(example, name, _DEPTHS) or len(payload) // (height * width)
    return (height, width, depth) if depth in (1, 3, 4) and height * width * depth == len(payload) else None


def _beside(example: Mapping[str, Any], name: str, words: Sequence[str]) -> int:
    """A whole number of the record whose name ends with one of `words`; 0 where there is none."""
    stem = name.rpartition("/")[0]
    for word in words:
        for candidate in (f"{stem}/{word}", word, f"image/{word}"):
            value = example.get(candidate)
            if value is not None and not isinstance(value, list) and np.size(value) == 1:
                return int(np.asarray(value).reshape(-1)[0])
    return 0


_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_ITEM = re.compile(r"item\s*\{([^}]*)\}")
_ID = re.compile(r"\bid\s*:\s*(\d+)")
_NAME = re.compile(r"\b(?:display_name|name)\s*:\s*(?:\"([^\"]*)\"|'([^']*)')")
_RELATIVE_UP_TO = 1.5
"""Corners up to this are shares of the image's sides (they may reach a little over its edge), larger ones are pixels."""


def box_prefix(names: Sequence[str]) -> str | None:
    """What the names of the boxes' corners begin with ("image/object/bbox/"); None where there are no boxes."""
    for name in names:
        if name.endswith("xmin") and all(name[:-4] + corner in names for corner in _CORNERS):
            return name[:-4]
    return None


def boxes(
    values: Mapping[str, Any], prefix: str, height: float, width: float, classes: Mapping[int, str]
) -> tuple[Mark, ...]:
    """The boxes of one record.

    Args:
        values: its features.
        prefix: see `box_prefix`.
        height: of the image in pixels.
        width: of the image in pixels.
        classes: names by number, where a label map is there.
    """
    corners = [np.asarray(values.get(prefix + corner, ()), np.float64).reshape(-1) for corner in _CORNERS]
    count = min(len(corner) for corner in corners)
    if count == 0:
        return ()
    left, top, right, bottom = (corner[:count] for corner in corners)
    relative = max(float(np.abs(corner).max()) for corner in (left, top, right, bottom)) <= _RELATIVE_UP_TO
    across, down = (width, height) if relative else (1.0, 1.0)
    stem = prefix.rstrip("/").rpartition("/")[0]
    labels = _labels(values, stem, count, classes)
    extra = {
        name: np.asarray(values[f"{stem}/{name}"]).reshape(-1)
        for name in ("difficult", "truncated", "is_crowd")
        if f"{stem}/{name}" in values
    }
    found = []
    for at in range(min(count, dataset.MAX_MARKS)):
        edges = left[at] * across, top[at] * down, right[at] * across, bottom[at] * down
        if not np.isfinite(edges).all():
            continue
        details = {
            ("crowd" if name == "is_crowd" else name): bool(flags[at])
            for name, flags in extra.items()
            if at < len(flags)
        }
        found.append(Box(labels[at], edges[0], edges[1], edges[2] - edges[0], edges[3] - edges[1], details=details))
    return tuple(found)


def box_problems(values: Mapping[str, Any], prefix: str) -> list[str]:
    """What is wrong with the boxes of one record, one sentence each."""
    lengths = {corner: len(np.asarray(values.get(prefix + corner, ())).reshape(-1)) for corner in _CORNERS}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{size} {corner}" for corner, size in lengths.items())
        return [f"The corners of its boxes differ in number ({said}); only whole boxes are drawn."]
    return []


def read_label_map(text: str) -> dict[int, str]:
    """Names of classes by number, of a label map in protobuf's text form ("item { id: 1 name: 'cat' }")."""
    found: dict[int, str] = {}
    for item in _ITEM.findall(text):
        number, name = _ID.search(item), _NAME.search(item)
        if number and name and len(found) < dataset.MAX_CLASSES:
            found[int(number[1])] = name[1] if name[1] is not None else name[2]
    return found


def _labels(values: Mapping[str, Any], stem: str, count: int, classes: Mapping[int, str]) -> list[str]:
    words = _flat(values.get(f"{stem}/class/text"))
    numbers = _flat(values.get(f"{stem}/class/label"))
    found = []
    for at in range(count):
        if at < len(words) and str(words[at]):
            found.append(str(words[at])[:200])
        elif at < len(numbers):
            number = int(numbers[at])
            found.append(classes.get(number, str(number)))
        else:
            found.append("")
    return found


def _flat(value: Any) -> npt.NDArray[Any]:
    return np.zeros(0) if value is None else np.asarray(value).reshape(-1)
