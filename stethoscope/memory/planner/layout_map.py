"""Rules of a `keras.distribution.LayoutMap` for a tensor-parallel plan: which axis of which variable is split."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.architecture.layer_kinds import Kind, plain_type
from stethoscope.architecture.model_shape import LayerShape, ModelShape
from stethoscope.memory.planner.tensor_parallel import How, TensorSplit

Axes = tuple[str | None, ...]
_MODEL = "model"
_KERNEL_RANKS = {"conv1d": 3, "conv2d": 4, "conv3d": 5}


def layout_rules(shape: ModelShape, split: TensorSplit) -> tuple[list[tuple[str, Axes]], list[str]]:
    """Returns (key, axes) for every variable that is split, and the layers whose variables cannot be told from the file.

    Keys are regular expressions that match a whole variable path; layers that differ by number only share one.

    Args:
        shape: the model.
        split: what is split, over the mesh axis "model".

    Source: `LayoutMap.__getitem__` (re.fullmatch, at most one match) and `ModelParallel`,
    keras/src/distribution/distribution_lib.py, 3.15.
    """
    wanted: dict[str, tuple[tuple[str, Axes], ...]] = {}
    left_out: list[str] = []
    for layer in shape.layers:
        how = split.how.get(layer.path)
        if how is None:
            continue
        variables = tuple(_variables(layer, how))
        name = layer.path.rsplit("/", 1)[-1]
        if not variables or wanted.get(name, variables) != variables:
            left_out.append(layer.path)
        else:
            wanted[name] = variables
    names = [layer.path.rsplit("/", 1)[-1] for layer in shape.layers if layer.parameters]
    rules: dict[str, Axes] = {}
    for name, variables in wanted.items():
        pattern = _numbered(name, variables, wanted, names)
        for variable, axes in variables:
            rules[f"(.*/)?{pattern}/{variable}"] = axes
    return list(rules.items()), left_out


def _numbered(
    name: str,
    variables: tuple[tuple[str, Axes], ...],
    wanted: dict[str, tuple[tuple[str, Axes], ...]],
    names: list[str],
) -> str:
    """The pattern for a layer's name with its numbers left open, unless that would match a layer treated otherwise."""
    pattern = re.sub(r"\d+", r"\\d+", re.escape(name))
    same = all(wanted.get(other) == variables for other in names if re.fullmatch(pattern, other))
    return pattern if same else re.escape(name)


def _variables(layer: LayerShape, how: How) -> Iterator[tuple[str, Axes]]:
    name = plain_type(layer.type)
    biased = layer.config.get("use_bias", True)
    if how in ("column", "row") and name == "dense":
        yield "kernel", (None, _MODEL) if how == "column" else (_MODEL, None)
        if how == "column" and biased:
            yield "bias", (_MODEL,)
    elif how == "heads" and layer.kind is Kind.ATTENTION and layer.parameters:
        for part in ("query", "key", "value"):
            yield f"{part}/kernel", (None, _MODEL, None)
            if biased:
                yield f"{part}/bias", (_MODEL, None)
        yield "attention_output/kernel", (_MODEL, None, None)
    elif how == "vocabulary" and name == "embedding":
        yield "embeddings", (_MODEL, None)
    elif how == "filters" and name in _KERNEL_RANKS:
        yield "kernel", (*(None,) * (_KERNEL_RANKS[name] - 1), _MODEL)
        if biased:
            yield "bias", (_MODEL,)
