"""What a runtime says of a file that was made and that it does not run: the operator, and the layer it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from stethoscope.compare.convert.converter import CannotConvert, Source, Unsupported
from stethoscope.compare.convert.origins import Origins, nodes_named
from stethoscope.models.formats import format_of

_ONNX = tuple(
    re.compile(pattern)
    for pattern in (
        r"operator \((?P<operator>\w+)\) in node \((?P<node>[^)]*)\)",
        r"running (?P<operator>\w+) node\. Name:'(?P<node>[^']*)'",
        r"implementation for (?P<operator>\w+)\(\d+\) node with name '(?P<node>[^']*)'",
        r"Optype \((?P<operator>\w+)\) .*in node \((?P<node>[^)]*)\)",
        r"Node \((?P<node>[^)]*)\) Op \((?P<operator>\w+)\)",
    )
)
"""How ONNX Runtime names an operator and its place."""
_DTYPE = re.compile(r"Type Error|Could not find an implementation")
_ENDINGS = re.compile(r"(_dequant|_quant|__\d+|:\d+)+$")


def refused(error: Exception, source: Source, made: Path) -> CannotConvert:
    """That a file was made and does not run.

    Args:
        error: what the runtime says.
        source: the model that was converted.
        made: the file that was made, with whose name the error begins.
    """
    said = str(error).removeprefix(f"{made.name}: ")
    advice = _advice(said, source)
    found = [
        Unsupported(operator, layer, way_round=advice)
        for operator, layer in _named(error, made, Origins(source.architecture))
    ]
    where = f" at {found[0].operator}{f' (layer {found[0].layer})' if found[0].layer else ''}" if found else ""
    return CannotConvert(
        f"{source.file.name}: a file was made, but its runtime refuses it{where}: {said} {advice}", found
    )


def _advice(said: str, source: Source) -> str:
    if format_of(source.architecture).one_way:
        return "Convert the model that it was made from."
    if _DTYPE.search(said):
        return "It has no such operator for numbers of this kind: build the layer in float32 (or int32), or convert to another target."
    return "Fix the number of rows (--batch-size 1), or convert it to another target."


def _named(error: BaseException, made: Path, origins: Origins) -> Iterator[tuple[str, str]]:
    """(operator, layer) that the error, or what it came from, speaks of."""
    seen: BaseException | None = error
    while seen is not None:
        text = str(seen)
        if match := next(filter(None, (pattern.search(text) for pattern in _ONNX)), None):
            yield match["operator"], origins.layer(_ENDINGS.sub("", match["node"]))
            return
        if made.suffix == ".tflite" and (found := nodes_named(text, made, origins)):
            yield from found
            return
        seen = seen.__cause__
