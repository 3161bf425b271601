"""What TensorFlow's converter and LiteRT say of a model that they do not take, as operators, layers and ways round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stethoscope.compare.convert.converter import CannotConvert, Source, Unsupported
from stethoscope.compare.convert.origins import Origins, nodes_named
from stethoscope.compare.convert.traced import TracedModel
from stethoscope.compare.convert.ways_round import way_round
from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist

_OPERATOR = re.compile(r"'tf\.(\w+)' op|tf\.(\w+) \{|\b(?:tf|tfl)\.(\w+)\b")
_NO_KERNEL = re.compile(r"quantization (?:to 16x8-bit )?not yet supported for op: '?(\w+)", re.I)
_PLACE = re.compile(r'loc\("([^"]+)"')
_NO_DTYPE = {"float64": re.compile(r"[<x]f64>"), "bfloat16": re.compile(r"[<x]bf16>")}
_IN_FLOAT32 = "LiteRT computes in float32: build the model again in that, and convert it then."
_OLD_LOOP = (
    "It belongs to a loop or a branch as TensorFlow 1 wrote them: convert it to ONNX, or build the model again in TensorFlow 2 and load "
    "its weights."
)
_SHOWN = 4


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
    found = {origins.layer(node.name) for node in nodes if _plain(node.op) == _plain(operator)} - {""}
    return sorted(found) or [""]


def _nodes(definition: Any) -> Iterator[Any]:
    yield from definition.node
    for body in definition.library.function:
        yield from body.node_def


def _plain(operator: str) -> str:
    return operator.replace("_", "").lower()
