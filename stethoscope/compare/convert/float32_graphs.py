"""Graphs for runtimes with fewer kernels: half and double precision in float32, recurrent layers step by step or of fixed rows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy.typing as npt

from stethoscope.compare.convert import graph_rewriting
from stethoscope.compare.convert.converter import Source
from stethoscope.compare.convert.traced import TracedModel
from stethoscope.compare.convert.ways_round import Origins
from stethoscope.models.capabilities import LiveModel
from stethoscope.types import Refusal, Runner

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


LISTS = {
    "TensorListReserve": 0,
    "EmptyTensorList": 0,
    "TensorListFromTensor": 1,
    "TensorListStack": 1,
    "TensorListGetItem": 2,
}
"""Operators on the lists that a loop reads and fills, and which of their inputs is the shape of an element."""


def rows_of(traced: TracedModel) -> int | None:
    """The number of rows that a model was traced for, the same in all inputs; None where one leaves it open."""
    sizes = {spec.shape[0] if spec.shape else None for _, spec in traced.inputs}
    return sizes.pop() if len(sizes) == 1 else None


def has_lists(definition: Any) -> bool:
    """Whether a GraphDef keeps lists of tensors, function bodies too."""
    bodies = (definition.node, *(body.node_def for body in definition.library.function))
    return any(node.op in LISTS for nodes in bodies for node in nodes)


def close_lists(definition: Any, rows: int) -> None:
    """Changes a GraphDef in place: the elements of its lists have this many rows where that was open.

    A SavedModel holds these shapes as they were when it was saved, so that a number of rows that is fixed later does not reach them.
    """
    graph_rewriting.rewrite(
        definition, {op: functools.partial(_closed, place=place, rows=rows) for op, place in LISTS.items()}
    )


def _closed(one: graph_rewriting.Writer, *, place: int, rows: int) -> graph_rewriting.Last | None:
    import tensorflow as tf

    inputs = one.inputs
    shape = one.behind(inputs[place])
    if shape is None or shape.op != "Const":
        return None
    sizes = tf.make_ndarray(shape.attr["value"].tensor)
    if sizes.ndim != 1 or not len(sizes) or sizes[0] != -1:
        return None
    inputs[place] = one.constant([rows, *sizes[1:]], shape.attr["dtype"].type)
    return one.node.op, inputs, {}


_LOOPS = ("While", "StatelessWhile")


@contextmanager
def unrolled(source: Source) -> Iterator[list[str]]:
    """While open, a trace of a Keras model has the steps of its recurrent layers one after another; yields their names.

    Layers whose number of steps is open stay as they are: Keras cannot write them out. Other formats have no layers to ask.
    """
    layers = [layer for layer in _layers(source.runner) if getattr(layer, "unroll", None) is False and _steps(layer)]
    # tf_keras has a second way, with a loop in it, that it prefers where this says that a GPU could take it.
    before = [
        {name: getattr(layer, name) for name in ("unroll", "_could_use_gpu_kernel") if hasattr(layer, name)}
        for layer in layers
    ]
    try:
        for layer, had in zip(layers, before, strict=True):
            for name in had:
                setattr(layer, name, name == "unroll")
        yield [layer.name for layer in layers]
    finally:
        for layer, had in zip(layers, before, strict=True):
            for name, value in had.items():
                setattr(layer, name, value)


def loop_of(traced: TracedModel, source: Source) -> tuple[str, str] | None:
    """(operator, layer) of a loop in the traced function; None where there is none."""
    definition = traced.function.graph.as_graph_def()
    for nodes in (definition.node, *(body.node_def for body in definition.library.function)):
        for node in nodes:
            if node.op in _LOOPS:
                return node.op, Origins(source.architecture).layer(node.name)
    return None


def _layers(runner: Runner) -> list[Any]:
    live = runner.can(LiveModel)
    return [] if isinstance(live, Refusal) else list(live.model._flatten_layers())


def _steps(layer: Any) -> int | None:
    """The number of steps that a recurrent layer was built for; None where it is open."""
    ways: tuple[Callable[[], Any], ...] = (
        lambda: layer.input.shape,
        lambda: layer._build_shapes_dict["sequences_shape"],
        lambda: layer._build_input_shape,
    )
    for way in ways:
        try:
            shape = tuple(way())
        except (AttributeError, ValueError, KeyError, TypeError, IndexError):
            continue
        if len(shape) > 1 and isinstance(shape[1], int):
            return shape[1]
    return None
