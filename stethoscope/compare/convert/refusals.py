"""What converters and their runtimes say of a model that they do not take, as operators, layers and ways round them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from stethoscope.compare.convert.converter import CannotConvert, Source, Unsupported
from stethoscope.compare.convert.origins import Origins
from stethoscope.compare.convert.ways_round import way_round
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
