"""Operators of a quantised TFLite file that compute in floats all the same: the quantiser leaves what it has no integers for, and says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stethoscope.compare.convert.origins import Origins
from stethoscope.models.formats.tflite import load
from stethoscope.types import ModelFile

_BRIDGES = frozenset({"QUANTIZE", "DEQUANTIZE"})


def float_operators(path: Path, origins: Origins) -> Iterator[tuple[str, str]]:
    """Yields (operator, layer of the source or "") for each operator that reads or writes floats, bridges to integers apart.

    Args:
        path: a TFLite file.
        origins: the source's layers.
    """
    for subgraph in load(ModelFile.at(path)).subgraphs:
        for operator in subgraph.operators:
            ends = [subgraph.tensors[index] for index in (*operator.inputs, *operator.outputs) if index != -1]
            if operator.type in _BRIDGES or not any(one.dtype.startswith("float") for one in ends):
                continue
            names = [subgraph.tensors[index].name for index in operator.outputs if index != -1]
            yield operator.type, next((layer for layer in map(origins.layer, names) if layer), "")
