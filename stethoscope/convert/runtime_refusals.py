"""What a runtime says of a file that was made and that it does not run: the operator, and the layer it came from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.convert.converter import CannotConvert, Source, Unsupported
from stethoscope.convert.origins import Origins

_ONNX = re.compile(
    r"operator \((?P<operator>\w+)\) in node \((?P<node>[^)]*)\)|running (?P<ran>\w+) node\. Name:'(?P<name>[^']*)'"
)
_LITERT = re.compile(r"Node number \d+ \((?P<operator>\w+)\)")
_ENDINGS = re.compile(r"(_dequant|_quant|__\d+|:\d+)+$")


def refused(error: Exception, source: Source, made: str) -> CannotConvert:
    """That a file was made and does not run.

    Args:
        error: what the runtime says.
        source: the model that was converted.
        made: name of the file that was made, which the error begins with.
    """
    said = str(error).removeprefix(f"{made}: ")
    advice = (
        "Convert the model that it was made from."
        if source.architecture.format_id == "tflite"
        else "Fix the number of rows (--batch-size 1), or convert it to another target."
    )
    found = [
        Unsupported(operator, layer, way_round=advice)
        for operator, layer in _named(error, Origins(source.architecture))
    ]
    where = f" at {found[0].operator}{f' (layer {found[0].layer})' if found[0].layer else ''}" if found else ""
    return CannotConvert(
        f"{source.file.name}: a file was made, but its runtime refuses it{where}: {said} {advice}", found
    )


def _named(error: BaseException, origins: Origins) -> Iterator[tuple[str, str]]:
    """(operator, layer) that the error, or what it came from, speaks of."""
    seen: BaseException | None = error
    while seen is not None:
        text = str(seen)
        if match := _ONNX.search(text):
            node = _ENDINGS.sub("", match["node"] or match["name"] or "")
            yield match["operator"] or match["ran"], origins.layer(node)
            return
        if match := _LITERT.search(text):
            yield match["operator"], ""
            return
        seen = seen.__cause__
