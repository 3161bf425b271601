"""Statistics and histogram of the weights of one layer, read straight from the file. Executes nothing, loads no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.errors import BadSetting, UnreadableFile
from stethoscope.models.formats import detect
from stethoscope.models.model_format import WeightsByLayer
from stethoscope.models.weights.tensor_summary import LayerTensor, summarised
from stethoscope.models.weights.weight_statistics import opened
from stethoscope.task import TaskContext
from stethoscope.types import Layer, ModelFile


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
                    answer = replace(answer, weights=(*answer.weights, summarised(weight)))
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
