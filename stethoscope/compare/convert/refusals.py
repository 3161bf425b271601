"""What converters and their runtimes say of a model that they do not take, as operators, layers and ways round them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stethoscope.compare.convert.converter import CannotConvert, Source, Unsupported
from stethoscope.compare.convert.traced import TracedModel
from stethoscope.compare.convert.ways_round import Origins, nodes_named, way_round
from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist
from stethoscope.models.formats.tflite_model.tflite_schema import operator_name

_UNSUPPORTED = re.compile(r"Tensorflow op \[(?P<node>.+): (?P<op>\w+)\] is not supported")
_FAILED = re.compile(r"Failed to convert node '(?P<node>[^']+)'")
_ENDINGS = re.compile(r"(__\d+|:\d+)+$")
_BRIDGE = re.compile(r"_(?:de)?quant$")
_TITLE = "ONNX"
_SHOWN = 4
_BACK = "Convert the model that it was made from."


def said(error: Exception) -> str:
    """What tf2onnx says in an error, without its own name for it."""
    return gist(error).removeprefix("make_sure failure: ")


def raise_for_unknown(source: Source) -> None:
    """Raises where a TFLite file has operators that are newer than tf2onnx's list of them: it cannot even read such a file."""
    from tf2onnx.tflite.BuiltinOperator import BuiltinOperator

    newest = max(code for code in vars(BuiltinOperator).values() if isinstance(code, int))
    beyond = {operator_name(code) for code in range(newest + 1, newest + 200)}
    newer = [layer for layer in source.architecture.layers if layer.type in beyond]
    if newer:
        advice = "Make the TFLite file without it, or convert to ONNX from the model that it was made from."
        raise CannotConvert(
            f"{source.file.name}: tf2onnx cannot read a TFLite file with {newer[0].type} (layer {_short(newer[0].path)}). {advice}",
            [Unsupported(one.type, one.path, way_round=advice) for one in newer],
        )


def unreadable_tflite(error: Exception, told: Sequence[str], source: Source) -> CannotConvert:
    """The error with which tf2onnx gave up on a TFLite file."""
    found = _told(told, source)
    if not found:
        return CannotConvert(f"{source.file.name}: tf2onnx cannot read this TFLite file: {said(error)}. {_BACK}")
    names = ", ".join(dict.fromkeys(one.operator for one in found[:_SHOWN]))
    where = next((f" (layer {_short(one.layer)})" for one in found if one.layer), "")
    return CannotConvert(
        f"{source.file.name}: tf2onnx cannot translate its {names}{where}: {said(error)}. {_BACK}", found
    )


def raise_for_missing(told: Sequence[str], model: Any, source: Source, opset: int) -> None:
    """Raises where operators are left that ONNX does not have.

    Args:
        told: what tf2onnx logged.
        model: what it made.
        source: of what.
        opset: as asked for.
    """
    from onnx import defs

    versions = {one.domain: one.version for one in model.opset_import}
    known = {one.operator: one for one in _told(told, source)}
    left: dict[tuple[str, str], Unsupported] = {}
    origins = Origins(source.architecture)
    for node in _all_nodes(model.graph):
        if defs.has(node.op_type, node.domain) and node.domain in versions:
            try:
                defs.get_schema(node.op_type, versions[node.domain], node.domain)
                continue
            except defs.SchemaError:
                pass
        operator, layer = _plain(node.op_type), origins.layer(_ENDINGS.sub("", node.name))
        message = known[operator].message if operator in known else ""
        left[operator, layer] = Unsupported(operator, layer, message, way_round(operator, _TITLE))
    if left:
        names = sorted({operator for operator, _ in left})
        first = next(iter(left.values()))
        where = f" (layer {_short(first.layer)})" if first.layer else ""
        raise CannotConvert(
            f"{source.file.name}: ONNX opset {opset} has no {', '.join(names[:_SHOWN])}{where}. {first.way_round}",
            list(left.values()),
        )


def raise_for_wide_integers(model: Any, source: Source) -> None:
    """Raises where a TFLite file computes in 16-bit integers: ONNX has them from opset 21, which tf2onnx does not write."""
    from onnx import TensorProto

    kinds = {one.name: one.data_type for one in model.graph.initializer}
    if not any(
        node.op_type in ("QuantizeLinear", "DequantizeLinear") and kinds.get(node.input[-1]) == TensorProto.INT16
        for node in _all_nodes(model.graph)
    ):
        return
    advice = "Convert the model that it was made from, or its int8 version."
    layers = [one for one in source.architecture.layers if one.dtype == "int16"]
    where = f" (layer {_short(layers[0].path)})" if layers else ""
    raise CannotConvert(
        f"{source.file.name}: it computes in 16-bit integers{where}, which ONNX has from opset 21 on and tf2onnx cannot write. {advice}",
        [Unsupported(f"{one.type} (int16)", one.path, way_round=advice) for one in layers],
    )


def _told(told: Sequence[str], source: Source) -> list[Unsupported]:
    origins = Origins(source.architecture)
    found: dict[tuple[str, str], Unsupported] = {}
    for line in told:
        if match := _UNSUPPORTED.search(line):
            operator, layer = _plain(match["op"]), origins.layer(match["node"])
            found[operator, layer] = Unsupported(operator, layer, line.splitlines()[0], way_round(operator, _TITLE))
        elif (match := _FAILED.search(line)) and not _BRIDGE.search(match["node"]):
            layer = origins.layer(match["node"])
            operator = origins.type(layer) or match["node"].rsplit("/", 1)[-1]
            message = " ".join(line.split())[:300]
            found.setdefault((operator, layer), Unsupported(operator, layer, message, way_round(operator, _TITLE)))
    return list(found.values())


def _plain(operator: str) -> str:
    """An operator as TFLite calls it, where tf2onnx marks it as one of TFLite's."""
    return operator.removeprefix("TFL_")


def _short(layer: str) -> str:
    """The first of the names that TFLite joins where it fused operators."""
    return layer.partition(";")[0]


def _all_nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                yield from _all_nodes(inner)


_OPERATOR = re.compile(r"'tf\.(\w+)' op|tf\.(\w+) \{|\b(?:tf|tfl)\.(\w+)\b")
_NO_KERNEL = re.compile(r"quantization (?:to 16x8-bit )?not yet supported for op: '?(\w+)", re.I)
_PLACE = re.compile(r'loc\("([^"]+)"')
_NO_DTYPE = {"float64": re.compile(r"[<x]f64>"), "bfloat16": re.compile(r"[<x]bf16>")}
_IN_FLOAT32 = "LiteRT computes in float32: build the model again in that, and convert it then."
_OLD_LOOP = (
    "It belongs to a loop or a branch as TensorFlow 1 wrote them: convert it to ONNX, or build the model again in TensorFlow 2 and load "
    "its weights."
)


def refused(error: Exception, source: Source, title: str, traced: TracedModel) -> CannotConvert:
    """The error of TensorFlow's converter as ours."""
    found = _told_of(error, source, title) or named_in(str(error), source, title, traced)
    if found:
        return lacking(source, title, found)
    if loops := old_loops(traced.function.graph.as_graph_def(), source):
        return lacking(source, title, loops)
    return CannotConvert(
        f"{source.file.name}: TensorFlow cannot convert it to {title}: {gist(error)}. Give it a fixed number of rows (batch size 1), or "
        "choose another precision."
    )


def not_run(error: CannotRun, source: Source, title: str, path: Path) -> CannotConvert:
    """LiteRT's error on the file at `path`, which TensorFlow made, as ours."""
    said = str(error).removeprefix(f"{path.name}: ")
    found = [
        Unsupported(operator, layer, said, way_round(operator, title))
        for operator, layer in nodes_named(str(error), path, Origins(source.architecture))
    ]
    first = next((one for one in found if one.layer), found[0] if found else None)
    at = f" at {first.operator}{f' (layer {first.layer})' if first.layer else ''}" if first else ""
    advice = f" {first.way_round}" if first else ""
    return CannotConvert(
        f"{source.file.name}: TensorFlow made a file, and LiteRT does not run it{at}: {said.rstrip('.')}.{advice}",
        found,
    )


def lacking(source: Source, title: str, found: list[Unsupported]) -> CannotConvert:
    """That these operators stand in the way, at least one."""
    names = ", ".join(sorted({one.operator for one in found})[:_SHOWN])
    first = next((one for one in found if one.layer), found[0])
    where = f" (layer {first.layer})" if first.layer else ""
    return CannotConvert(f"{source.file.name}: {title} has no {names}{where}. {first.way_round}", found)


def named_in(text: str, source: Source, title: str, traced: TracedModel | None = None) -> list[Unsupported]:
    """Operators that an error names in its text.

    Args:
        text: the error.
        source: the model.
        title: of the target.
        traced: the model as a graph, in which their layers are looked up.
    """
    origins = Origins(source.architecture)
    names = _NO_KERNEL.findall(text)
    if not names:
        called = re.findall(r"custom operator (\w+)|Node number \d+ \((\w+)\)", text)
        names = [next(filter(None, groups), "") for groups in called]
    if not names:
        names = [next(filter(None, groups)) for groups in _OPERATOR.findall(text)][:3]
    named = next((path for path in map(origins.layer, _PLACE.findall(text)[:_SHOWN]) if path), "")
    return [
        Unsupported(one, layer, "", way_round(one, title))
        for one in dict.fromkeys(name.removeprefix("Flex") for name in names)
        if one
        for layer in ([named] if named else _layers_with(one, origins, traced))
    ]


def _told_of(error: Exception, source: Source, title: str) -> list[Unsupported]:
    """What TensorFlow's converter says of single operators."""
    origins = Origins(source.architecture)
    found: dict[tuple[str, str], Unsupported] = {}
    for one in getattr(error, "errors", ()):
        operator = str(one.operator.name).removeprefix("tf.").removeprefix("tfl.")
        if operator in ("", "Const"):  # a constant of a kind that it has none of comes with what makes it one
            continue
        places = [call.name for call in one.location.call] if one.HasField("location") else []
        layer = next((path for path in map(origins.layer, places) if path), "")
        message = " ".join(str(one.error_message).split())
        advice = way_round(operator, title)
        if kind := next((name for name, said in _NO_DTYPE.items() if said.search(message)), None):
            operator, advice = f"{operator} ({kind})", _IN_FLOAT32
        found.setdefault((operator, layer), Unsupported(operator, layer, message[:300], advice))
    return list(found.values())


def old_loops(definition: Any, source: Source) -> list[Unsupported]:
    """Loops and branches as TensorFlow 1 wrote them, which nothing translates well."""
    origins = Origins(source.architecture)
    found = {
        (node.op, layer): Unsupported(node.op, layer, way_round=_OLD_LOOP)
        for node in definition.node
        if node.op in ("Enter", "Merge")
        for layer in [origins.layer(node.name)]
    }
    return list(found.values())


def _layers_with(operator: str, origins: Origins, traced: TracedModel | None) -> list[str]:
    """The layers that hold an operator, called in any format's way ("ARG_MAX" is "ArgMax"); [""] where none is known."""
    if traced is None:
        return [""]
    nodes = _nodes(traced.function.graph.as_graph_def())
    found = {origins.layer(node.name) for node in nodes if _letters(node.op) == _letters(operator)} - {""}
    return sorted(found) or [""]


def _nodes(definition: Any) -> Iterator[Any]:
    yield from definition.node
    for body in definition.library.function:
        yield from body.node_def


def _letters(operator: str) -> str:
    return operator.replace("_", "").lower()
