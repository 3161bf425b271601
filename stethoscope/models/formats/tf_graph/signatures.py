"""What a SavedModel can be asked to compute: its signatures, their tensors, and which one is shown and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.models.formats.tf_graph.object_graph import static_shape
from stethoscope.types import TensorSpec

DEFAULT = "serving_default"
_INTERNAL = frozenset({"__saved_model_init_op", "__saved_model_train_op", "__saved_model_main_op"})


@dataclass(frozen=True)
class Signature:
    """One signature: specs by argument name, and the graph tensors behind them ("" for composite ones)."""

    name: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    tensors: Mapping[str, str]
    """Graph tensor of each input and output, by "in:name" and "out:name"."""
    function: str = ""
    """For a model without signatures: the function to call instead, by its name in the library."""

    @property
    def fetches(self) -> dict[str, str]:
        """Tensors to compute, by "in:name" and "out:name"."""
        return {key: tensor for key, tensor in self.tensors.items() if tensor}

    @property
    def fed(self) -> dict[str, str]:
        """Input names by the operator whose first output they replace."""
        inputs = {key[3:]: tensor for key, tensor in self.tensors.items() if key.startswith("in:")}
        return {tensor.partition(":")[0]: name for name, tensor in inputs.items() if tensor}


def read(meta_graph: Any) -> tuple[Signature, ...]:
    """All signatures a caller may use, the one to show first: serving_default, else the first by name that has outputs."""
    found = []
    for name in sorted(meta_graph.signature_def):
        if name in _INTERNAL:
            continue
        definition = meta_graph.signature_def[name]
        inputs, outputs = _infos(definition.inputs), _infos(definition.outputs)
        tensors = {f"in:{spec.name}": tensor for spec, tensor in inputs} | {
            f"out:{spec.name}": tensor for spec, tensor in outputs
        }
        found.append(Signature(name, tuple(spec for spec, _ in inputs), tuple(spec for spec, _ in outputs), tensors))
    found.sort(key=lambda signature: (signature.name != DEFAULT, not signature.outputs, signature.name))
    return tuple(found)


def _infos(infos: Mapping[str, Any]) -> list[tuple[TensorSpec, str]]:
    found = []
    for key in sorted(infos):
        info = infos[key]
        kind = info.WhichOneof("encoding")
        dtype = tf_proto.dtype_name(info.dtype)
        shape = static_shape(info.tensor_shape) if info.HasField("tensor_shape") else None
        if kind == "composite_tensor" and info.composite_tensor.components:
            first = info.composite_tensor.components[0]
            found.append((TensorSpec(key, shape, dtype or tf_proto.dtype_name(first.dtype)), first.name))
        elif kind == "coo_sparse":
            found.append((TensorSpec(key, shape, dtype), info.coo_sparse.values_tensor_name))
        else:
            found.append((TensorSpec(key, shape, dtype), info.name))
    return found


def callable_functions(meta_graph: Any) -> tuple[Signature, ...]:
    """Functions of a model without signatures that can be called by position: `__call__` first."""
    graph = meta_graph.object_graph_def
    library = {function.signature.name: function for function in meta_graph.graph_def.library.function}
    found = []
    for child in graph.nodes[0].children if graph.nodes else ():
        node = graph.nodes[child.node_id] if 0 <= child.node_id < len(graph.nodes) else None
        if node is None or node.WhichOneof("kind") != "function":
            continue
        name = next(iter(node.function.concrete_functions), "")
        if name in library:
            found.append(_function(child.local_name, library[name], len(graph.concrete_functions[name].bound_inputs)))
    return tuple(sorted(found, key=lambda one: (one.name != "__call__", not one.outputs, one.name)))


def _function(name: str, definition: Any, captured: int) -> Signature:
    arguments = definition.signature.input_arg
    shapes = definition.attr["_input_shapes"].list.shape if "_input_shapes" in definition.attr else ()
    inputs = [
        TensorSpec(
            argument.name,
            static_shape(shapes[index]) if index < len(shapes) else None,
            tf_proto.dtype_name(argument.type),
        )
        for index, argument in enumerate(arguments[: len(arguments) - captured])
    ]
    outputs = [
        TensorSpec(f"output_{index}", None, tf_proto.dtype_name(argument.type))
        for index, argument in enumerate(definition.signature.output_arg)
    ]
    return Signature(name, tuple(inputs), tuple(outputs), {}, definition.signature.name)
