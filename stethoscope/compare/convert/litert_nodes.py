"""Which operator of a TFLite file LiteRT means by "Node number 7 (CONCATENATION)", and which layer of the source it came from."""

from __future__ import annotations

import re
from pathlib import Path

from stethoscope.compare.convert.origins import Origins
from stethoscope.errors import StethoscopeError
from stethoscope.models.formats.tflite import load
from stethoscope.types import ModelFile

_NODE = re.compile(r"Node number (?P<number>\d+) \((?P<operator>\w+)\)")
_CUSTOM = re.compile(r"unresolved custom op(?:erator)?:? '?(?P<operator>\w+)|custom operator (?P<named>\w+)")


def nodes_named(text: str, path: Path, origins: Origins) -> list[tuple[str, str]]:
    """(operator, layer of the source or "") for each operator that LiteRT's error names; none where it names none.

    LiteRT counts the operators of one subgraph, and does not say which: the first where this operator stands at this place counts.

    Args:
        text: the error.
        path: the TFLite file that it speaks of.
        origins: the source's layers.
    """
    found = [(match["operator"], int(match["number"])) for match in _NODE.finditer(text)]
    custom = [(match["operator"] or match["named"], None) for match in _CUSTOM.finditer(text)]
    named: list[tuple[str, int | None]] = [one for one in found if one[0] != "DELEGATE"]
    named += [one for one in custom if one[0] not in {operator for operator, _ in named}]
    return list(dict.fromkeys((operator, _layer(path, operator, number, origins)) for operator, number in named))


def _layer(path: Path, operator: str, number: int | None, origins: Origins) -> str:
    try:
        subgraphs = load(ModelFile(path, path.name)).subgraphs
    except StethoscopeError:
        return ""
    for subgraph in subgraphs:
        for place, one in enumerate(subgraph.operators):
            if one.type == operator and number in (None, place):
                names = [subgraph.tensors[index].name for index in one.outputs if index != -1]
                return next((layer for layer in map(origins.layer, names) if layer), "")
    return ""
