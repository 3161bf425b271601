"""Statistics and histogram of the weights of one layer, read straight from the file. Executes nothing, loads no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.errors import BadSetting, UnreadableFile
from stethoscope.models.formats import detect
from stethoscope.models.model_format import StoredWeight, WeightsByLayer
from stethoscope.models.weights.weight_statistics import opened, statistics
from stethoscope.task import TaskContext
from stethoscope.types import Layer, ModelFile


@dataclass(frozen=True)
class Histogram:
    """How values are spread: one edge more than counts."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class LayerTensor:
    """One tensor of a layer; no statistics where it cannot be read."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool | None
    """None where the file does not say."""
    count: int
    quantisation: Mapping[str, Any] | None
    """How it is stored, as the file says it; None where it is stored as it is."""
    unreadable: str
    """Why there are no statistics; "" where there are."""
    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None
    zero_fraction: float | None = None
    nonfinite: int | None = None
    norm: float | None = None
    """Euclidean."""
    histogram: Histogram | None = None


@dataclass(frozen=True)
class LayerWeights:
    """The weights of one layer."""

    layer: str
    initialiser: Mapping[str, Mapping[str, Any]]
    """By the setting's name ("kernel_initializer"): {"class", "settings"}."""
    weights: tuple[LayerTensor, ...] = ()
    unreadable: str = ""
    """Why there are none; "" where there are."""


class WeightsOfLayer:
    """params: {"layer": path}; files: "model"."""

    kind = "weights_of_layer"
    answer = LayerWeights

    def run(self, context: TaskContext) -> LayerWeights:
        """Reads one tensor after another.

        Raises:
            BadSetting: the model has no such layer.
            UnreadableFile: as `describe`.
        """
        file, path = context.files["model"], str(context.params.get("layer", ""))
        context.report("read", message=f"reading {file.name}")
        layer = _layer(file, path)
        answer = LayerWeights(path, _initialisers(layer.config))
        try:
            with opened(file) as found:
                weights = found.get(path, [])
                for index, weight in enumerate(weights):
                    context.report("weights", index / len(weights), f"reading {weight.name[:80]}")
                    answer = replace(answer, weights=(*answer.weights, _tensor(weight)))
                    context.save_partial(answer)
                if not weights:
                    answer = replace(answer, unreadable=_why_none(layer, found))
        except UnreadableFile as error:
            answer = replace(answer, unreadable=str(error))
        return answer


def _layer(file: ModelFile, path: str) -> Layer:
    for layer in detect(file).describe(file).layers:
        if layer.path == path:
            return layer
    raise BadSetting(
        f"{file.name}: expected the path of one of its layers, got {path[:200]!r}. Take one from the table."
    )


def _tensor(weight: StoredWeight) -> LayerTensor:
    tensor = LayerTensor(
        name=weight.name,
        shape=tuple(weight.shape),
        dtype=weight.dtype,
        trainable=weight.trainable,
        count=weight.count,
        quantisation=weight.quantisation or None,
        unreadable=weight.unreadable,
    )
    if weight.unreadable:
        return tensor
    found = statistics(weight.pieces)
    return replace(
        tensor,
        count=found.count,
        mean=found.mean,
        std=found.std,
        min=found.min,
        max=found.max,
        zero_fraction=found.zero_fraction,
        nonfinite=found.nonfinite,
        norm=found.norm,
        histogram=Histogram(found.edges, found.counts),
    )


def _initialisers(config: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """By the setting's name ("kernel_initializer"): class and settings, as the file has them."""
    found: dict[str, Mapping[str, Any]] = {}
    for key, value in config.items():
        if key.endswith("_initializer") or key == "init":
            inner = value if isinstance(value, Mapping) else {"class_name": value, "config": {}}
            settings = inner.get("config")
            kept = (
                {k: v for k, v in settings.items() if v is not None and k != "name"}
                if isinstance(settings, Mapping)
                else {}
            )
            found[key] = {"class": str(inner.get("class_name", "")), "settings": kept}
    return found


def _why_none(layer: Layer, found: WeightsByLayer) -> str:
    if not layer.parameters:
        return "This layer has no weights."
    if not any(found.values()):
        return "The file holds no weights."
    return "Its weights are not stored under this layer: they belong to another that shares them, or to the body of a loop."


TASK = WeightsOfLayer()
