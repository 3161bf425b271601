"""Which variables of a SavedModel are the model's own: weights, not optimizer slots, metrics, counters or random seeds.

TensorFlow 2 stores the Python objects it saved as a graph of children. A Keras model lists its weights under "variables" (and
those that training changes under "trainable_variables"); any other module owns what can be reached from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.types import Shape

_NOT_WEIGHTS = frozenset(
    {
        "optimizer",
        "_optimizer",
        "keras_api",
        "signatures",
        "save_counter",
        "metrics",
        "layer_metrics",
        "compiled_metrics",
        "_all_variables",
        "_seed_generators",
        "loss_tracker",
        "_loss_tracker",
        "_metrics",
    }
)
_SEED_SUFFIXES = ("seed_generator_state", "StateVar")


@dataclass(frozen=True)
class SavedVariable:
    """One variable: its name, dtype, shape (None for an unknown dimension), and whether training changes it."""

    name: str
    dtype: str
    shape: Shape
    trainable: bool | None
    node: int = -1
    """Its place in the object graph."""

    @property
    def parameters(self) -> int:
        """Number of elements; 0 while a dimension is unknown."""
        total = 1
        for size in self.shape:
            total *= size or 0
        return total

    @property
    def is_seed(self) -> bool:
        """Whether it is the state of a random generator."""
        return self.name.split(":")[0].endswith(_SEED_SUFFIXES) and self.dtype in ("int64", "uint32", "uint64", "int32")


def static_shape(shape: Any) -> Shape | None:
    """The shape of a TensorShapeProto, None for unknown rank."""
    if shape.unknown_rank:
        return None
    return tuple(None if dim.size < 0 else int(dim.size) for dim in shape.dim)


def handles(meta_graph: Any) -> dict[str, int]:
    """Which object is behind each operator of the main graph that a served function captures, by operator name.

    A function's captures are its last arguments, and the object graph says what they were bound to; the names of variable
    operators say nothing about it since TensorFlow 2.13 or so.
    """
    functions = meta_graph.object_graph_def.concrete_functions
    found: dict[str, int] = {}
    for node in meta_graph.graph_def.node:
        callee = node.attr["f"].func.name if "f" in node.attr else ""
        if callee in functions:
            bound = functions[callee].bound_inputs
            passed = [reference for reference in node.input if not reference.startswith("^")]
            if len(passed) >= len(bound):
                names = (reference.partition(":")[0] for reference in passed[len(passed) - len(bound) :])
                found.update(zip(names, bound, strict=True))
    return found


def variable(nodes: Any, index: int) -> SavedVariable:
    """The variable that object `index` is."""
    saved = nodes[index].variable
    shape = static_shape(saved.shape) or ()
    return SavedVariable(saved.name, tf_proto.dtype_name(saved.dtype), shape, bool(saved.trainable), index)


def weights(graph: Any) -> tuple[SavedVariable, ...]:
    """The model's own variables of a SavedObjectGraph, in the order in which the model lists them."""
    if not graph.nodes:
        return ()
    nodes = graph.nodes
    children = {child.local_name: child.node_id for child in nodes[0].children}
    trainable = set(_listed(nodes, children["trainable_variables"])) if "trainable_variables" in children else None
    if "variables" in children and _is_list(nodes, children["variables"]):
        ids = list(_listed(nodes, children["variables"]))
    else:
        ids = [index for index in _reachable(nodes) if nodes[index].WhichOneof("kind") == "variable"]
    slots = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
    found = []
    for index in dict.fromkeys(ids):
        saved = variable(nodes, index)
        if index in slots or saved.is_seed:
            continue
        if trainable is not None:
            saved = replace(saved, trainable=index in trainable)
        found.append(saved)
    return tuple(found)


def _is_list(nodes: Any, index: int) -> bool:
    if not 0 <= index < len(nodes):
        return False
    node = nodes[index]
    return node.WhichOneof("kind") == "user_object" and bool(node.user_object.identifier == "trackable_list_wrapper")


def _listed(nodes: Any, index: int) -> Iterator[int]:
    if _is_list(nodes, index):
        for child in nodes[index].children:
            if 0 <= child.node_id < len(nodes) and nodes[child.node_id].WhichOneof("kind") == "variable":
                yield child.node_id


def _reachable(nodes: Any) -> Iterator[int]:
    seen, queue = {0}, [0]
    for index in queue:
        yield index
        for child in nodes[index].children:
            if child.local_name not in _NOT_WEIGHTS and 0 <= child.node_id < len(nodes) and child.node_id not in seen:
                if (
                    "metric" in nodes[child.node_id].user_object.identifier
                    or "optimizer" in nodes[child.node_id].user_object.identifier.lower()
                ):
                    continue
                seen.add(child.node_id)
                queue.append(child.node_id)
