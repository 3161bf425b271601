"""Tells an out-of-memory error from any other, whichever framework raised it, and reads the tensor's shape from it.

Source: messages of TensorFlow 2.21 (ResourceExhaustedError), numpy 2 (_ArrayMemoryError), onnxruntime 1.31 (BFCArena,
"Failed to allocate memory for requested buffer"), oneDNN ("could not create a memory object"; status 1 is dnnl_out_of_memory), libstdc++ (bad_alloc).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SIGNS = re.compile(
    r"OOM when allocating|Out of memory|failed to allocate|unable to allocate|cannot allocate memory|bad_alloc|"
    r"could not create a memory|Status: 1, message: could not (?:execute|create) a primitive|Resource exhausted|RESOURCE_EXHAUSTED|memory allocation failed|std::length_error",
    re.IGNORECASE,
)
_SHAPE = re.compile(r"shape\s*[\[(]\s*([\d,\s]+?)\s*[\])]")
_OPERATOR = re.compile(r"Name:\s*'([^']+)'|\{\{node ([^}]+)\}\}|\[\[node ([^\s\]]+)")
_SIZE = re.compile(r"(?:buffer of size|allocate|allocating)\D{0,12}(\d{5,})")


@dataclass(frozen=True)
class Cause:
    """What could not be allocated, as far as the message says."""

    sentence: str
    tensor_shape: list[int] | None
    requested_bytes: int | None
    operator: str
    """The operator that asked for it, as the framework names it; "" when the message does not say."""


def explain(error: BaseException) -> Cause | None:
    """Returns the cause when `error` means that memory ran out, else None."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or type(seen).__name__ == "ResourceExhaustedError" or mentions(str(seen)):
            return _cause(str(seen))
        seen = seen.__cause__ or seen.__context__
    return None


def mentions(text: str) -> bool:
    """Whether a message or log says that memory ran out."""
    return _SIGNS.search(text) is not None


def _cause(text: str) -> Cause:
    shape, size, named = _SHAPE.search(text), _SIZE.search(text), _OPERATOR.search(text)
    operator = next((group for group in named.groups() if group), "") if named else ""
    where = f" in operator {operator}" if operator else ""
    dimensions = [int(part) for part in shape.group(1).replace(" ", "").split(",") if part] if shape else None
    if dimensions:
        sentence = f"memory ran out while allocating a tensor of shape {dimensions}{where}."
    elif size:
        sentence = f"memory ran out while allocating {int(size.group(1)):,} bytes{where}."
    else:
        sentence = f"memory ran out{where}."
    return Cause(sentence, dimensions, int(size.group(1)) if size else None, operator)
