"""Recognises what kind of TensorFlow graph file this is, and reads a GraphDef with its weights left out."""

from __future__ import annotations

import re
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import limits, wire
from stethoscope.models.formats.tf_graph import graph_ops, tf_proto, tf_strip, tf_text, variables_index
from stethoscope.types import ModelFile

_NODES_LOOKED_AT = 24
_OPERATOR = re.compile(r"^[A-Za-z_][A-Za-z0-9_>]*$")
_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")
_DECLINED = {
    "meta": "is a MetaGraph (.meta): a graph whose weights are in a separate checkpoint. Export a SavedModel and upload its folder as a zip.",
    "checkpoint": "is part of a TensorFlow checkpoint: weights without a model. Export the model as a SavedModel or .keras and upload that.",
}


def kind(file: ModelFile) -> str:
    """ "graph", "text", "meta" or "checkpoint"; "" for anything else. Never raises."""
    if not file.path.is_file() or file.path.stat().st_size == 0:
        return ""
    text = tf_text.first_field(file)
    if text:
        return {
            "node": "text",
            "library": "text",
            "versions": "text",
            "meta_info_def": "meta",
            "model_checkpoint_path": "checkpoint",
        }.get(text, "")
    with file.path.open("rb") as stream:
        stream.seek(max(0, file.path.stat().st_size - 8))
        if stream.read(8) == variables_index.MAGIC:
            return "checkpoint"
    if _SHARD.search(file.name):
        return "checkpoint"
    with wire.mapped(file) as view:
        return "graph" if _is_graph(view) else "meta" if _is_meta(view) else ""


def stripped(file: ModelFile) -> bytes:
    """A binary GraphDef without long tensor contents.

    Raises:
        UnreadableFile: damaged, or declined with its reason.
    """
    found = kind(file)
    if found in _DECLINED:
        raise UnreadableFile(f"{file.name}: {_DECLINED[found]}")
    if not found:
        raise UnreadableFile(
            f"{file.name}: is not a TensorFlow graph. Upload a frozen .pb, or the SavedModel's folder as a zip."
        )
    with wire.mapped(file) as view:
        return tf_strip.without_weights(file, view, tf_strip.GRAPH_DEF)


def load(file: ModelFile) -> Any:
    """The GraphDef message without long tensor contents.

    Raises:
        UnreadableFile: damaged, not a graph, or declined with its reason.
        TooLarge: more operators than `limits` allow.
    """
    from google.protobuf.message import DecodeError

    messages = tf_proto.messages()
    if kind(file) == "text":
        with wire.mapped(file) as view:
            graph = tf_text.parse(file, view, messages.GraphDef())
    else:
        try:
            graph = messages.GraphDef.FromString(stripped(file))
        except DecodeError as error:
            raise UnreadableFile(
                f"{file.name}: the graph is damaged or cut short ({error}). Freeze it again or repeat the upload."
            ) from error
    count = len(graph.node) + sum(len(function.node_def) for function in graph.library.function)
    if count > limits.MAX_LAYERS:
        raise TooLarge(f"{file.name}: has {count:,} operators, expected at most {limits.MAX_LAYERS:,}.")
    if not graph.node:
        raise UnreadableFile(f"{file.name}: the graph has no operators. Freeze it again.")
    return graph


def _is_graph(view: memoryview) -> bool:
    """Whether it starts like a GraphDef: nodes with a name and an operator's name, one of which TensorFlow knows."""
    operators = []
    try:
        for field in wire.fields(view):
            if field.number == 1 and field.kind == wire.BYTES:
                operator = _operator(view, field)
                if not operator:
                    return False
                operators.append(operator)
            elif (field.number, field.kind) not in ((2, wire.BYTES), (4, wire.BYTES), (3, wire.VARINT)):
                return False
            if len(operators) >= _NODES_LOOKED_AT:
                break
    except wire.Malformed:
        # A later field that runs past the end is a truncated graph: `load` says so.
        pass
    return any(graph_ops.rule_for(operator) for operator in operators)


def _operator(view: memoryview, node: wire.Field) -> str:
    """The operator's name of a NodeDef, "" when the bytes are not one."""
    name = operator = ""
    for field in wire.fields(view, node.start, node.end):
        if field.kind != wire.BYTES or not 1 <= field.number <= 7:
            return ""
        if field.number in (1, 2):
            if field.end - field.start > 2000:
                return ""
            text = bytes(view[field.start : field.end]).decode("utf-8", "replace")
            name, operator = (text, operator) if field.number == 1 else (name, text)
    return operator if name.isprintable() and _OPERATOR.match(operator) else ""


def _is_meta(view: memoryview) -> bool:
    """Whether it is a MetaGraphDef: a description, then a GraphDef inside field 2."""
    try:
        for count, field in enumerate(wire.fields(view)):
            if field.kind != wire.BYTES or not 1 <= field.number <= 7 or count > 3:
                return False
            if field.number == 2:
                return _is_graph(view[field.start : field.end])
    except wire.Malformed:
        return False
    return False
