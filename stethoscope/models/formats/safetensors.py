"""Safetensors: a JSON header with name, dtype, shape and place of each tensor, then their bytes.

Source: https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage, wire
from stethoscope.models.hugging_face import AS_ONNX, AS_SAVED_MODEL
from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.weight_statistics import buffer_pieces, no_pieces
from stethoscope.models.weights_only import SAVE_WHOLE, Holding, Variable, WeightsOnly
from stethoscope.types import ModelFile

_DTYPES = {
    **{"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool", "C64": "complex64"},
    **{f"{kind}{bits}": f"{name}{bits}" for kind, name in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)},
}
_BITS = {"bfloat16": 16, "bool": 8}
_WHOLE = {"tf": AS_SAVED_MODEL, "pt": AS_ONNX}
_LENGTH_BYTES = 8


class Safetensors(WeightsOnly):
    """`.safetensors` files."""

    id = "safetensors"
    title = "Safetensors weights (.safetensors)"
    extensions = (".safetensors",)
    hint = ".safetensors"

    def sniff(self, file: ModelFile) -> bool:
        """A length that fits the file, then JSON with a tensor or metadata in it."""
        if not file.path.is_file():
            return False
        size = file.path.stat().st_size
        with file.path.open("rb") as stream:
            head = stream.read(4096)
        if len(head) < _LENGTH_BYTES + 2 or head[_LENGTH_BYTES : _LENGTH_BYTES + 1] != b"{":
            return False
        length = struct.unpack_from("<Q", head)[0]
        return 2 <= length <= size - _LENGTH_BYTES and (b'"dtype"' in head or b"__metadata__" in head)

    def held(self, file: ModelFile) -> AbstractContextManager[Holding]:
        """See `WeightsOnly.held`."""
        return _held(file)


@contextmanager
def _held(file: ModelFile) -> Iterator[Holding]:
    with wire.mapped(file) as view:
        length = int.from_bytes(view[:_LENGTH_BYTES], "little")
        if length > damage.MAX_CONFIG_BYTES:
            raise TooLarge(f"{file.name}: its header declares {length:,} bytes. Save it again.")
        start = _LENGTH_BYTES + length
        try:
            header = json.loads(bytes(view[_LENGTH_BYTES:start]))
        except damage.JSON as error:
            raise _damaged(file, f"no readable header ({str(error)[:80]})") from error
        if not isinstance(header, dict) or start > len(view):
            raise _damaged(file, "a header that describes no tensors")
        meta = header.pop("__metadata__", None)
        said = meta if isinstance(meta, dict) else {}
        yield Holding(
            [_variable(file, view, start, str(name), about) for name, about in header.items()],
            "Safetensors",
            {"tf": "TensorFlow", "pt": "PyTorch"}.get(str(said.get("format")), ""),
            whole=_WHOLE.get(str(said.get("format")), f"Load them into a model. {SAVE_WHOLE}."),
        )


def _damaged(file: ModelFile, found: str) -> UnreadableFile:
    return UnreadableFile(f"{file.name}: expected safetensors, got {found}. Copy or save it again.")


def _variable(file: ModelFile, view: memoryview, start: int, name: str, about: Any) -> Variable:
    shape, dtype, (begin, end) = _declared(file, name, about)
    known = _DTYPES.get(dtype)
    count = math.prod(shape)
    why, pieces = "", no_pieces
    if known is None:
        why = f"values of type {dtype[:20]} are not read"
    elif start + end > len(view) or begin > end or 8 * (end - begin) != count * _bits(known):
        why = "its bytes do not fit its shape, or are not in the file"
    else:
        pieces = buffer_pieces(view, start + begin, known, count)
    layer, _, own = name.removesuffix(":0").rpartition("/" if "/" in name else ".")
    return Variable(name, StoredWeight(own, shape, known or dtype[:20].lower(), None, pieces, unreadable=why), layer)


def _declared(file: ModelFile, name: str, about: Any) -> tuple[tuple[int, ...], str, tuple[int, int]]:
    if isinstance(about, Mapping):
        shape, places = about.get("shape"), about.get("data_offsets")
        if isinstance(shape, list) and isinstance(places, list) and len(places) == 2 and len(shape) <= 64:
            whole = all(type(one) is int and one >= 0 for one in (*shape, *places))
            if whole and math.prod(shape) <= damage.MAX_WEIGHT_BYTES:
                return tuple(shape), str(about.get("dtype")), (places[0], places[1])
    raise _damaged(file, f"no shape and place of tensor {name[:60]!r}")


def _bits(dtype: str) -> int:
    return _BITS.get(dtype) or int("".join(character for character in dtype if character.isdigit()))


FORMAT = Safetensors()
