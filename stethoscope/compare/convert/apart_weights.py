"""Large weights kept out of a conversion to ONNX, and put back into its file: each is in memory once, and none is copied.

tf2onnx copies every constant of a graph many times over (109 M parameters: 14.9 GB). Here constants that only go into matrix
products, convolutions and lookups become inputs of the graph, so that it is translated without them; afterwards these inputs become the
weights of the ONNX graph again, streamed into the file. Whatever the translation made of a weight's shape is done to it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from stethoscope.models.containers import wire

LARGE_BYTES = 100_000
"""A weight of that many bytes is worth keeping apart."""
TOGETHER_BYTES = 64 << 20
"""Below that, the plain way is quick, and tf2onnx may fold more."""
ONE_FILE_BYTES = (2 << 30) - (64 << 20)
"""A protocol buffer ends at 2 GiB; weights beyond that lie beside the file."""
_TAKES = frozenset(
    {
        "MatMul",
        "BatchMatMul",
        "BatchMatMulV2",
        "BatchMatMulV3",
        "Conv2D",
        "DepthwiseConv2dNative",
        "GatherV2",
        "Gather",
        "ResourceGather",
        "Einsum",
        "Conv3D",
        "BiasAdd",
        "AddV2",
        "Mul",
    }
)
_PASSES = frozenset({"Identity", "Reshape", "ExpandDims", "Squeeze", "Transpose", "Cast"})


@dataclass
class ApartWeights:
    """Weights by the name of the graph input that stands for them."""

    tensors: dict[str, Any] = field(default_factory=dict)
    """TensorProto messages of TensorFlow, whose bytes are not copied."""

    @property
    def names(self) -> list[str]:
        """Names of the tensors that stand for them: "name:0"."""
        return [f"{name}:0" for name in self.tensors]

    def array(self, name: str) -> npt.NDArray[Any]:
        """A weight's values."""
        from tensorflow.python.framework import tensor_util

        found: npt.NDArray[Any] = tensor_util.MakeNdarray(self.tensors[name])
        return found


def take_apart(definition: Any) -> ApartWeights:
    """Turns large constants of a GraphDef into placeholders, in place, where there are enough to be worth it."""
    from tensorflow.core.framework import tensor_pb2

    large = [node for node in definition.node if node.op == "Const" and _size(node) >= LARGE_BYTES]
    if sum(map(_size, large)) < TOGETHER_BYTES:
        return ApartWeights()
    readers: dict[str, list[Any]] = {}
    for node in definition.node:
        for source in node.input:
            if not source.startswith("^"):  # who only waits for it takes no values
                readers.setdefault(source.partition(":")[0], []).append(node)
    found = ApartWeights()
    for node in large:
        if not _only_taken(node.name, readers):
            continue
        kept = tensor_pb2.TensorProto()
        kept.CopyFrom(node.attr["value"].tensor)
        name, kind = node.name, node.attr["dtype"].type
        node.Clear()
        found.tensors[name] = kept
        node.name, node.op = name, "Placeholder"
        node.attr["dtype"].type = kind
        node.attr["shape"].shape.CopyFrom(kept.tensor_shape)
    return found


def put_back(model: Any, apart: ApartWeights) -> dict[str, list[Step]]:
    """Takes the weights out of the inputs of an ONNX model, in place, and folds what only changes their shape or order into them.

    Returns:
        By the name that each weight has in the graph now, what is to be done to its values.
    """
    graph = model.graph
    keep = [value for value in graph.input if value.name not in set(apart.names)]
    del graph.input[:]
    graph.input.extend(keep)
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for source in node.input:
            readers.setdefault(source, []).append(node)
        for attribute in node.attribute:
            for name in _captured(attribute):
                readers.setdefault(name, []).append(node)
    constants = {one.name: one for one in graph.initializer}
    outputs = {value.name for value in graph.output}
    gone: set[int] = set()
    found: dict[str, list[Step]] = {}
    for name in apart.names:
        steps, current = [Step(name.partition(":")[0])], name
        while len(users := readers.get(current, [])) == 1 and users[0].output[0] not in outputs:
            step = _step(users[0], constants)
            if step is None or users[0].input[0] != current:
                break
            steps.append(step)
            gone.add(id(users[0]))
            current = users[0].output[0]
        if current in readers:
            found[current] = steps
    left = [node for node in graph.node if id(node) not in gone]
    if gone:
        kept = type(graph)()
        kept.node.extend(left)
        del graph.node[:]
        graph.node.extend(kept.node)
    return found


@dataclass(frozen=True)
class Step:
    """One thing done to a weight: the first names it, the others change its order or shape."""

    weight: str = ""
    order: tuple[int, ...] = ()
    """Of a transposition."""
    shape: tuple[int, ...] = ()
    """Of a reshape; one −1 is what is left."""
    insert: tuple[int, ...] = ()
    """Places of new axes of length 1."""
    remove: tuple[int, ...] = ()
    """Places of axes of length 1 that go."""

    def applied(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values after this step."""
        if self.order:
            return array.transpose(self.order)
        if self.shape:
            return array.reshape(self.shape)
        if self.insert:
            return np.expand_dims(array, self.insert)
        return np.squeeze(array, self.remove) if self.remove else array


def write(model: Any, apart: ApartWeights, places: Mapping[str, Sequence[Step]], path: Path) -> bool:
    """Writes an ONNX model with the weights of `put_back`, one after another, into one file.

    Returns:
        Whether they lie in a second file beside it, because one would be too large.
    """
    from onnx import helper

    plain = model.SerializeToString()
    if not places:
        path.write_bytes(plain)
        return False
    about = {name: _shaped(apart, steps) for name, steps in places.items()}
    sizes = {name: array.nbytes for name, array in about.items()}
    beside = len(plain) + sum(sizes.values()) > ONE_FILE_BYTES
    if beside:
        _write_beside(model, about, path)
        return True
    graph = model.graph.SerializeToString()
    heads = {}
    for name, array in about.items():
        head = _tensor_head(name, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))
        head += wire.encode_varint(9 << 3 | wire.BYTES) + wire.encode_varint(array.nbytes)  # raw_data
        heads[name] = wire.encode_varint(5 << 3 | wire.BYTES) + wire.encode_varint(len(head) + array.nbytes) + head
    total = len(graph) + sum(len(head) + sizes[name] for name, head in heads.items())
    rest = type(model)()
    rest.CopyFrom(model)
    rest.ClearField("graph")
    with path.open("wb") as out:
        out.write(rest.SerializeToString())
        out.write(wire.encode_varint(7 << 3 | wire.BYTES) + wire.encode_varint(total))
        out.write(graph)
        for name, head in heads.items():
            out.write(head)
            _write_values(out, about[name])
    return False


def _tensor_head(name: str, shape: Sequence[int], kind: int) -> bytes:
    dims = b"".join(wire.encode_varint(1 << 3) + wire.encode_varint(size) for size in shape)
    return dims + wire.encode_varint(2 << 3) + wire.encode_varint(kind) + wire.encode_bytes(8, name.encode())


def _write_beside(model: Any, about: Mapping[str, npt.NDArray[Any]], path: Path) -> None:
    from onnx import TensorProto, helper

    data = path.with_name(f"{path.name}.data")
    with data.open("wb") as out:
        for name, array in about.items():
            tensor = model.graph.initializer.add(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype))
            tensor.dims.extend(array.shape)
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", data.name), ("offset", out.tell()), ("length", array.nbytes)):
                tensor.external_data.add(key=key, value=str(value))
            _write_values(out, array)
    path.write_bytes(model.SerializeToString())


def _write_values(out: BinaryIO, array: npt.NDArray[Any]) -> None:
    for part in _parts(array):
        out.write(part)


def _parts(array: npt.NDArray[Any]) -> Iterator[bytes | memoryview]:
    """The bytes of an array in its own order, a few rows at a time where they must be put in that order first."""
    if array.flags.c_contiguous:
        yield array.tobytes() if array.nbytes < LARGE_BYTES else memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        return
    rows = max(1, (16 << 20) // max(1, array[:1].nbytes))
    for start in range(0, len(array), rows):
        yield np.ascontiguousarray(array[start : start + rows]).tobytes()


def _shaped(apart: ApartWeights, steps: Sequence[Step]) -> npt.NDArray[Any]:
    """A view of the weight's values as the graph takes them."""
    array = apart.array(steps[0].weight)
    for step in steps[1:]:
        array = step.applied(array)
    return array


def _step(node: Any, constants: Mapping[str, Any]) -> Step | None:
    """What a node does to a weight, None where it is more than a change of order or shape."""
    from onnx import numpy_helper

    attributes = {one.name: list(one.ints) for one in node.attribute}

    def second() -> tuple[int, ...] | None:
        if len(node.input) < 2:
            return tuple(attributes.get("axes", ()))
        held = constants.get(node.input[1])
        return None if held is None else tuple(int(one) for one in numpy_helper.to_array(held).reshape(-1))

    if node.op_type == "Identity":
        return Step()
    if node.op_type == "Transpose" and "perm" in attributes:
        return Step(order=tuple(attributes["perm"]))
    if node.op_type not in ("Reshape", "Unsqueeze", "Squeeze"):
        return None
    numbers = second()
    if not numbers or (node.op_type == "Reshape" and 0 in numbers):
        return None
    if node.op_type == "Reshape":
        return Step(shape=numbers)
    return Step(insert=numbers) if node.op_type == "Unsqueeze" else Step(remove=numbers)


def _captured(attribute: Any) -> Iterator[str]:
    """Names that the bodies of a node read."""
    for graph in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
        for node in graph.node:
            yield from node.input
            for inner in node.attribute:
                yield from _captured(inner)


def _only_taken(name: str, readers: Mapping[str, Sequence[Any]]) -> bool:
    waiting, seen = [name], {name}
    while waiting:
        for node in readers.get(waiting.pop(), ()):
            if node.op in _PASSES:
                if node.name not in seen:
                    seen.add(node.name)
                    waiting.append(node.name)
            elif node.op not in _TAKES:
                return False
    return True


def _size(node: Any) -> int:
    tensor = node.attr["value"].tensor
    return len(tensor.tensor_content)
