"""Describe a model: its architecture as JSON, and its graph without weights for drawing; weights without a graph: their statistics.

Executes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.architecture.xla_use import on_another_device, remedies_in_words
from stethoscope.codec import SCHEMA_VERSION
from stethoscope.errors import StethoscopeError
from stethoscope.models.formats import detect
from stethoscope.models.model_format import on_disk
from stethoscope.models.weights.tensor_summary import LayerTensor, summarised
from stethoscope.models.weights.weight_statistics import opened
from stethoscope.task import TaskContext
from stethoscope.types import (
    Architecture,
    CompileSettings,
    GivenCode,
    Hazard,
    Layer,
    MissingCode,
    ModelFile,
    TensorSpec,
)


@dataclass(frozen=True)
class FormatNamed:
    """What format a model has: all of its description that many models are asked for at once."""

    format_id: str
    format: str
    """What to call it on screen."""


@dataclass(frozen=True)
class Parameters:
    """How many there are; `trainable` is None where the format does not know."""

    total: int
    trainable: int | None


@dataclass(frozen=True)
class Description(FormatNamed):
    """An `Architecture`, and the size of its file or folder."""

    framework_version: str
    size_bytes: int
    weight_bytes: int
    parameters: Parameters
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    layers: tuple[Layer, ...]
    compile: CompileSettings | None
    warnings: tuple[str, ...]
    hazards: tuple[Hazard, ...]
    runnable: str
    output_layers: tuple[str, ...]
    missing: tuple[MissingCode, ...] = ()
    given: GivenCode | None = None
    keeps_state: tuple[str, ...] = ()
    weights: tuple[LayerTensor, ...] = ()
    """Of weights without a graph: each array under its path, with statistics; empty of a model, whose weights are read by layer."""
    schema_version: int = SCHEMA_VERSION

    @classmethod
    def of(cls, architecture: Architecture, size_bytes: int) -> Description:
        """Describes a model whose file or folder has this size."""
        told = dict(vars(architecture))
        parameters = Parameters(told.pop("parameters"), told.pop("trainable_parameters"))
        title = told.pop("display_format")
        elsewhere = on_another_device(architecture)
        told["warnings"] = (
            *architecture.warnings,
            *([f"{elsewhere} What to do, {remedies_in_words()}."] if elsewhere else []),
            *([_of_state(architecture.keeps_state)] if architecture.keeps_state else []),
        )
        return cls(**told, format=title, parameters=parameters, size_bytes=size_bytes)

    @property
    def architecture(self) -> Architecture:
        """The model itself."""
        own = ("format", "parameters", "size_bytes", "schema_version", "weights")
        told = {name: value for name, value in vars(self).items() if name not in own}
        total, trainable = self.parameters.total, self.parameters.trainable
        return Architecture(**told, parameters=total, trainable_parameters=trainable, display_format=self.format)


def _of_state(layers: Sequence[str]) -> str:
    more = f" and {len(layers) - 1} more" if len(layers) > 1 else ""
    return f"It keeps a state between calls ({layers[0]}{more}): what was asked before changes what it answers."


def with_skeleton(model: ModelFile) -> dict[str, Any]:
    """The params of a description as pages ask for it; they tell one with this code beside it from one with other code."""
    return {"skeleton": True} | ({} if model.code is None else {"code": model.code.sha256})


class Describe:
    """params: {"skeleton": bool}. Files: "skeleton-<name for Netron>"."""

    kind = "describe"
    answer = Description

    def run(self, context: TaskContext) -> Description:
        """Reads the file; a graph that cannot be drawn is a warning."""
        file = context.files["model"]
        context.report("read", message=f"reading {file.name}")
        kind = detect(file)
        description = Description.of(kind.describe(file), kind.size_bytes(file) if kind.only_weights else on_disk(file))
        if kind.only_weights:
            return _with_statistics(description, file, context)
        if not context.params.get("skeleton", False):
            return description
        context.save_partial(description)
        context.report("draw", message="leaving the weights out")
        try:
            name, content = kind.skeleton(file)
        except StethoscopeError as error:
            return replace(description, warnings=(*description.warnings, f"The graph cannot be drawn: {error}"))
        folder = context.folder / "out"
        folder.mkdir(exist_ok=True)
        (folder / f"skeleton-{name}").write_bytes(content)
        return description


def _with_statistics(description: Description, file: ModelFile, context: TaskContext) -> Description:
    """The description of weights with what their values are, as many as are read in reasonable time."""
    told: list[LayerTensor] = []
    with opened(file) as held:
        read = 0
        for place, (path, (weight,)) in enumerate(held.items()):
            context.report("weights", place / len(held), f"reading {path[-80:]}")
            read += weight.count
            late = read > _MOST_VALUES and not weight.unreadable
            asked = replace(weight, unreadable=_TOO_LATE) if late else weight
            told.append(replace(summarised(asked), name=path))
    return replace(description, weights=tuple(told))


_MOST_VALUES = 1 << 30
_TOO_LATE = "it is not among the first billion values, which are read here"

TASK = Describe()
