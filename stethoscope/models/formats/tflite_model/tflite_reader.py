"""A TFLite file as checked data: tensors, operators, subgraphs, signatures. Payloads of weights are never touched."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.models.containers import damage
from stethoscope.models.containers.flatbuffer import Buffer, Malformed, Table
from stethoscope.models.formats.tflite_model.tflite_schema import TYPE_BITS, dtype_name, operator_name, options
from stethoscope.types import Shape

IDENTIFIER = b"TFL3"
_MAX_RANK = 64


@dataclass(frozen=True)
class Stored:
    """Where a buffer's payload lies: inside the flatbuffer, or behind it (files above 2 GB)."""

    start: int
    size_bytes: int


@dataclass(frozen=True)
class Tensor:
    """One tensor of a subgraph. `quantization` is {} for a tensor without it."""

    name: str
    shape: Shape | None
    dtype: str
    buffer: int
    stored_bytes: int
    is_sparse: bool
    quantization: Mapping[str, Any]
    is_variable: bool = False
    """Whether an operator writes to it, so that the next call finds what the last one left."""
    misplaced_axis: int | None = None
    """The axis along which its scales lie, where it has none of that number."""

    @property
    def elements(self) -> int:
        """Number of elements; 0 when a dimension is dynamic."""
        return math.prod(size or 0 for size in self.shape) if self.shape is not None else 0

    @property
    def declared_bytes(self) -> int:
        """Bytes that shape and dtype ask for; 0 for strings, resources and dynamic shapes."""
        return (self.elements * TYPE_BITS.get(self.dtype, 0) + 7) // 8


@dataclass(frozen=True)
class Operator:
    """One operator. `calls` maps an option's name to the subgraphs it runs."""

    type: str
    version: int
    custom: bool
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    config: Mapping[str, Any]
    calls: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Subgraph:
    """One graph: indices in `inputs` and `outputs` refer to `tensors`."""

    name: str
    tensors: tuple[Tensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[Operator, ...]


@dataclass(frozen=True)
class Signature:
    """A named entry point: tensor index by argument name."""

    key: str
    subgraph: int
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


@dataclass(frozen=True)
class Model:
    """A whole file. `metadata` maps a name to its buffer."""

    version: int
    description: str
    subgraphs: tuple[Subgraph, ...]
    signatures: tuple[Signature, ...]
    buffers: tuple[Stored, ...]
    metadata: Mapping[str, int] = field(default_factory=dict)
    min_runtime: str = ""


def read_model(view: memoryview) -> Model:
    """Reads the model in `view`.

    Raises:
        Malformed: an offset, index or length does not fit.
    """
    root = Buffer(view).root()
    if not root.at(4):
        raise Malformed("it has no list of buffers")
    buffers = tuple(_buffer(table, len(view)) for table in root.tables(4))
    codes = [_operator_code(table) for table in root.tables(1)]
    budget = [damage.MAX_LAYERS]
    subgraphs = tuple(_subgraph(table, codes, buffers, budget) for table in root.tables(2))
    if not subgraphs:
        raise Malformed("it has no subgraph")
    for subgraph in subgraphs:
        for operator in subgraph.operators:
            _within(len(subgraphs), "subgraph", *(index for called in operator.calls.values() for index in called))
    signatures = tuple(filter(None, (_signature(table, subgraphs) for table in root.tables(7))))
    metadata = {table.text(0): table.scalar(1, "I") for table in root.tables(6)}
    metadata = {name: index for name, index in metadata.items() if index < len(buffers)}
    return Model(
        version=root.scalar(0, "I"),
        description=root.text(3),
        subgraphs=subgraphs,
        signatures=signatures,
        buffers=buffers,
        metadata=metadata,
        min_runtime=_min_runtime(view, buffers, metadata),
    )


def _buffer(table: Table, size: int) -> Stored:
    start, count = table.vector(0, 1)
    if count:
        return Stored(start, count)
    offset, length = table.scalar(1, "Q"), table.scalar(2, "Q")
    if offset <= 1 or length == 0:
        return Stored(0, 0)
    if offset + length > size:
        raise Malformed(f"a buffer of {length:,} bytes at byte {offset:,} lies behind the end of the file")
    return Stored(offset, length)


def _operator_code(table: Table) -> tuple[str, int, bool]:
    # Codes above 127 do not fit the old byte field, which then holds 127 (PLACEHOLDER_FOR_GREATER_OP_CODES).
    code = max(table.scalar(0, "b"), table.scalar(3, "i"))
    version = table.scalar(2, "i", 1)
    name = operator_name(code)
    if name == "CUSTOM":
        return table.text(1) or "unnamed custom operator", version, True
    return name, version, False


def _subgraph(
    table: Table, codes: list[tuple[str, int, bool]], buffers: tuple[Stored, ...], budget: list[int]
) -> Subgraph:
    tensors = []
    for item in table.tables(0):
        _count(budget)
        tensors.append(_tensor(item, buffers))
    operators = []
    for item in table.tables(3):
        _count(budget)
        operators.append(_operator(item, codes, len(tensors)))
    inputs, outputs = table.numbers(1, "i"), table.numbers(2, "i")
    _within(len(tensors), "tensor", *inputs, *outputs)
    return Subgraph(table.text(4), tuple(tensors), inputs, outputs, tuple(operators))


def _count(budget: list[int]) -> None:
    budget[0] -= 1
    if budget[0] < 0:
        raise Malformed(f"it has more than {damage.MAX_LAYERS:,} tensors and operators")


def _tensor(table: Table, buffers: tuple[Stored, ...]) -> Tensor:
    shape, signature = table.numbers(0, "i"), table.numbers(7, "i")
    if max(len(shape), len(signature)) > _MAX_RANK:
        raise Malformed(f"a tensor has {max(len(shape), len(signature)):,} dimensions")
    if any(size < 0 for size in shape) and not signature:
        signature = shape
    sizes = signature if len(signature) == len(shape) or not shape else shape
    # `has_rank` came late: without it an empty shape may be a scalar or an unknown rank; interpreters take a scalar.
    buffer = table.scalar(2, "I")
    if buffer:  # 0 is none, whether there is a buffer in its place or not
        _within(len(buffers), "buffer", buffer)
    return Tensor(
        name=table.text(3),
        shape=tuple(None if size < 0 else size for size in sizes),
        dtype=dtype_name(table.scalar(1, "b")),
        buffer=buffer,
        stored_bytes=buffers[buffer].size_bytes if buffer else 0,
        is_sparse=bool(table.at(6)),
        quantization=_quantization(table.table(4)),
        is_variable=bool(table.scalar(5, "B")),
        misplaced_axis=_misplaced_axis(table.table(4), len(shape)),
    )


def _misplaced_axis(quantization: Table | None, rank: int) -> int | None:
    """The axis along which its scales lie, where it has no such axis: LiteRT refuses that, as also of a single scale.

    Source: tflite/core/interpreter_builder.cc, ParseQuantization.
    """
    if quantization is None or not rank or quantization.scalar(4, "B") == 2 or not quantization.vector(2, 4)[1]:
        return None
    axis = quantization.scalar(6, "i")
    return None if 0 <= axis < rank else axis


def _quantization(table: Table | None) -> dict[str, Any]:
    if table is None:
        return {}
    scales, zeros = table.numbers(2, "f"), table.numbers(3, "q")
    details = table.scalar(4, "B")
    if details == 2:
        block = table.table(5)
        return {"kind": "blockwise", "block_size": block.scalar(2, "i") if block else None}
    if not scales:
        return {"kind": f"details {details}"} if details else {}
    if len(scales) == 1:
        return {"kind": "per tensor", "scale": scales[0], "zero_point": zeros[0] if zeros else 0}
    return {
        "kind": "per axis",
        "axis": table.scalar(6, "i"),
        "scales": len(scales),
        "scale_min": min(scales),
        "scale_max": max(scales),
    }


def _operator(table: Table, codes: list[tuple[str, int, bool]], tensors: int) -> Operator:
    index = table.scalar(0, "I")
    _within(len(codes), "operator code", index)
    name, version, custom = codes[index]
    inputs, outputs = table.numbers(1, "i"), table.numbers(2, "i")
    _within(tensors, "tensor", *(i for i in inputs + outputs if i != -1))
    config = options(table, 3, 4, "BuiltinOptions") | options(table, 11, 12, "BuiltinOptions2")
    calls: dict[str, tuple[int, ...]] = {}
    for key in [key for key in config if key == "subgraph" or key.endswith(("SubgraphIndex", "SubgraphIndices"))]:
        value = config.pop(key)
        role = key.removesuffix("Index").removesuffix("Indices").removesuffix("Subgraph") or key
        called = tuple(value) if isinstance(value, list) else (value,)
        # Some options have -1 or no body for "none".
        calls[role] = tuple(i for i in called if i != -1)
    return Operator(name, version, custom, inputs, outputs, config, calls)


def _signature(table: Table, subgraphs: tuple[Subgraph, ...]) -> Signature | None:
    """None where it speaks of what is not there: LiteRT runs the graph all the same, which needs no signature."""
    index = table.scalar(4, "I")
    inputs = {item.text(0): item.scalar(1, "I") for item in table.tables(0)}
    outputs = {item.text(0): item.scalar(1, "I") for item in table.tables(1)}
    if index >= len(subgraphs) or max([0, *inputs.values(), *outputs.values()]) >= len(subgraphs[index].tensors):
        return None
    return Signature(table.text(2), index, inputs, outputs)


def _min_runtime(view: memoryview, buffers: tuple[Stored, ...], metadata: Mapping[str, int]) -> str:
    stored = buffers[metadata["min_runtime_version"]] if "min_runtime_version" in metadata else Stored(0, 0)
    text = bytes(view[stored.start : stored.start + min(stored.size_bytes, 32)]).split(b"\0")[0]
    return text.decode("ascii", "replace")


def _within(count: int, what: str, *indices: int) -> None:
    for index in indices:
        if not 0 <= index < count:
            raise Malformed(f"it refers to {what} {index:,} of {count:,}")
