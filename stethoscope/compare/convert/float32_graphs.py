"""Graphs in half or double precision written in float32, for runtimes that have no kernels for anything else."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy.typing as npt

_FLOAT32 = 1
_NUMBERS = {"float64": 2, "bfloat16": 14, "float16": 19}
"""TensorFlow's numbers of the other dtypes."""
FOR_ONNX = ("bfloat16",)
"""ONNX Runtime has kernels for the others."""
FOR_TFLITE = ("bfloat16", "float16", "float64")


def other_floats(definition: Any, dtypes: Collection[str]) -> list[str]:
    """Which of some dtypes a GraphDef computes in, function bodies too.

    Args:
        definition: the graph.
        dtypes: "bfloat16", "float16", "float64".
    """
    used: set[int] = set()
    for one in _attributes(definition):
        used |= {one.type, one.tensor.dtype, *one.list.type}
    return [name for name in dtypes if _NUMBERS[name] in used]


def in_float32(definition: Any, dtypes: Collection[str]) -> None:
    """Changes a GraphDef in place, function bodies too: what was in these dtypes is in float32."""
    numbers = {_NUMBERS[name] for name in dtypes}
    for body in definition.library.function:
        for argument in (*body.signature.input_arg, *body.signature.output_arg):
            if argument.type in numbers:
                argument.type = _FLOAT32
    for attribute in _attributes(definition):
        kind = attribute.WhichOneof("value")
        if kind == "type" and attribute.type in numbers:
            attribute.type = _FLOAT32
        elif kind == "tensor" and attribute.tensor.dtype in numbers:
            _in_float32(attribute.tensor)
        elif kind == "list" and numbers & set(attribute.list.type):
            attribute.list.type[:] = [_FLOAT32 if one in numbers else one for one in attribute.list.type]


def values(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array as the changed graph takes it."""
    return array.astype("float32") if array.dtype.name in _NUMBERS else array


def note(dtypes: Collection[str]) -> str:
    """What the user must know of it; "" for none."""
    if not dtypes:
        return ""
    return (
        f"The model computes in {' and '.join(dtypes)}, which the target does not: this copy computes in float32. Where they differ by "
        "more than float32 explains, that is the reason."
    )


def _attributes(definition: Any) -> Iterator[Any]:
    for nodes in (definition.node, *(body.node_def for body in definition.library.function)):
        for node in nodes:
            yield from node.attr.values()


def _in_float32(tensor: Any) -> None:
    import numpy as np
    import tensorflow as tf

    tensor.CopyFrom(tf.make_tensor_proto(tf.make_ndarray(tensor).astype(np.float32)))
