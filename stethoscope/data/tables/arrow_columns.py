"""Columns of Arrow as arrays: numbers, text, lists of any depth, and media kept as bytes.

Images that are kept as encoded bytes inside a row of a table or record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import FieldKind
from stethoscope.data.images.image_decoding import decode
from stethoscope.data.tables.field_rows import Column, stacked, text_array
from stethoscope.errors import StethoscopeError

if TYPE_CHECKING:
    import pyarrow


def column_of(
    values: pyarrow.ChunkedArray, details: Mapping[str, Any], where: str, budget_bytes: int
) -> tuple[Column, dict[int, str]]:
    """One column's rows, and what is wrong with single ones.

    Args:
        values: the rows.
        details: {"kind"} of bytes, from `details_of`.
        where: for error texts.
        budget_bytes: for decoding one row.

    Returns:
        As in `Dataset.columns`; sentences by row.
    """
    import pyarrow
    from pyarrow import types

    kind = values.type
    if types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    payload = _bytes_field(kind)
    if payload is not None or types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        rows = [row.get(payload) if payload and isinstance(row, dict) else row for row in values.to_pylist()]
        made = [
            value_of(row, details.get("kind", "array"), f"{where}, row {at + 1:,}", budget_bytes)
            for at, row in enumerate(rows)
        ]
        if details.get("kind") in ("text", "category"):
            return text_array(["" if row is None else str(row[()]) for row, _ in made]), {}
        return stacked([row for row, _ in made]), {at: said for at, (_, said) in enumerate(made) if said}
    if types.is_boolean(kind) and values.null_count == 0:
        return np.asarray(values.to_numpy(), dtype=bool), {}
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        whole = values if values.null_count == 0 else values.cast(pyarrow.float64(), safe=False)
        return np.asarray(whole.to_numpy()), {}
    if types.is_decimal(kind):
        return np.asarray(values.cast(pyarrow.float64(), safe=False).to_numpy()), {}
    if types.is_nested(kind):
        dtype = _element_dtype(kind)
        return stacked([_nested(row, dtype) for row in values.to_pylist()]), {}
    return text_array(["" if row is None else str(row) for row in values.to_pylist()]), {}


def details_of(values: pyarrow.ChunkedArray) -> dict[str, Any]:
    """What is known of a column of bytes from its first rows: {"kind"}; {} for others."""
    from pyarrow import types

    kind, payload = values.type, _bytes_field(values.type)
    if payload is None and not (
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    ):
        return {}
    rows = [row.get(payload) if payload and isinstance(row, dict) else row for row in values.slice(0, 20).to_pylist()]
    return {"kind": kind_of_bytes([row for row in rows if isinstance(row, bytes)])}


def class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, tuple[str, ...]]:
    """Names of classes by column, as the datasets library keeps them in a table's metadata."""
    try:
        info = json.loads((metadata or {}).get(b"huggingface", b"{}"))
        features = info.get("info", {}).get("features", {})
        return {
            str(name): tuple(str(word) for word in feature["names"])
            for name, feature in features.items()
            if isinstance(feature, dict) and isinstance(feature.get("names"), list)
        }
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}


def _bytes_field(kind: pyarrow.DataType) -> str | None:
    """The field of a struct that holds an image's or sound's bytes, as the datasets library stores them."""
    from pyarrow import types

    if not types.is_struct(kind):
        return None
    names = [kind.field(place).name for place in range(kind.num_fields)]
    return "bytes" if "bytes" in names and types.is_binary(kind.field(names.index("bytes")).type) else None


def _element_dtype(kind: pyarrow.DataType) -> np.dtype[Any] | None:
    """numpy's dtype of what lists of lists hold in the end; None for what is no number."""
    from pyarrow import types

    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        found: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
        return found
    return None


def _nested(row: Any, dtype: np.dtype[Any] | None) -> npt.NDArray[Any] | None:
    if row is None:
        return None
    if isinstance(row, list) and _regular(row) and (dtype is not None or all(isinstance(item, str) for item in row)):
        return np.asarray(row, dtype=str if dtype is None else dtype)
    return np.array(json.dumps(row, default=str)[:10_000])


def _regular(row: list[Any]) -> bool:
    if not row or not isinstance(row[0], list):
        return not any(isinstance(item, list | dict) or item is None for item in row)
    return len({len(item) if isinstance(item, list) else -1 for item in row}) == 1 and all(
        _regular(item) for item in row
    )


_IMAGE_MAGIC = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", b"II*\x00", b"MM\x00*", b"\x00\x00\x00\x0cjP  ")
_WAV_MAGIC = b"RIFF"


def is_encoded_image(payload: bytes) -> bool:
    """Whether bytes begin like an image file."""
    return payload.startswith(_IMAGE_MAGIC) or (payload[:4] == b"RIFF" and payload[8:12] == b"WEBP")


def is_encoded_wav(payload: bytes) -> bool:
    """Whether bytes begin like a WAV file."""
    return payload[:4] == _WAV_MAGIC and payload[8:12] == b"WAVE"


def kind_of_bytes(payloads: Sequence[bytes]) -> FieldKind:
    """What a column of bytes holds, by its first rows: images, sound, text, or numbers as they are."""
    given = [payload for payload in payloads if payload]
    if given and all(is_encoded_image(payload) for payload in given):
        return "image"
    if given and all(is_encoded_wav(payload) for payload in given):
        return "audio"
    return "text" if all(_is_text(payload) for payload in given) else "array"


def value_of(
    payload: bytes | None, kind: FieldKind, where: str, budget_bytes: int
) -> tuple[npt.NDArray[Any] | None, str]:
    """One row's bytes as an array, and what is wrong with it ("" when nothing is)."""
    if payload is None:
        return None, ""
    try:
        if kind == "image":
            return decode(payload, where, budget_bytes).pixels, ""
        if kind == "audio":
            from stethoscope.data.streams.wav_sound import read_wav

            return read_wav(payload, where).samples, ""
    except StethoscopeError as error:
        return None, str(error)
    if kind in ("text", "category"):
        return np.array(payload.decode("utf-8", "replace")), ""
    return np.frombuffer(payload, np.uint8), ""


def _is_text(payload: bytes) -> bool:
    try:
        text = payload[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(payload[:4096]) - 4:
            return False
        text = payload[: error.start].decode("utf-8")
    return not any(ord(character) < 9 for character in text)
