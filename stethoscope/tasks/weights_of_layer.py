"""Statistics and histogram of the weights of one layer, read straight from the file. Executes nothing, loads no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from stethoscope.codec import plain
from stethoscope.errors import BadSetting, UnreadableFile
from stethoscope.formats import detect
from stethoscope.model_format import StoredWeight, WeightsByLayer
from stethoscope.task import TaskContext
from stethoscope.types import Layer, ModelFile
from stethoscope.weights.stored import opened
from stethoscope.weights.weight_statistics import statistics


class WeightsOfLayer:
    """params: {"layer": path}; files: "model"."""

    kind = "weights_of_layer"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"layer", "weights": [{"name", "shape", "dtype", "trainable", "count", "mean", "std", "min", "max",
        "zero_fraction", "nonfinite", "norm", "histogram": {"edges", "counts"}, "quantisation", "unreadable"}], "initialiser",
        "unreadable"}.

        Raises:
            BadSetting: the model has no such layer.
            UnreadableFile: as `describe`.
        """
        file, path = context.files["model"], str(context.params.get("layer", ""))
        context.report("read", message=f"reading {file.name}")
        layer = _layer(file, path)
        value: dict[str, Any] = {
            "layer": path,
            "weights": [],
            "initialiser": _initialisers(layer.config),
            "unreadable": "",
        }
        try:
            with opened(file) as found:
                weights = found.get(path, [])
                for index, weight in enumerate(weights):
                    context.report("weights", index / len(weights), f"reading {weight.name[:80]}")
                    value["weights"].append(_one(weight))
                    context.save_partial(plain(value))
                if not weights:
                    value["unreadable"] = _why_none(layer, found)
        except UnreadableFile as error:
            value["unreadable"] = str(error)
        answer: Mapping[str, Any] = plain(value)
        return answer


def _layer(file: ModelFile, path: str) -> Layer:
    for layer in detect(file).describe(file).layers:
        if layer.path == path:
            return layer
    raise BadSetting(
        f"{file.name}: expected the path of one of its layers, got {path[:200]!r}. Take one from the table."
    )


def _one(weight: StoredWeight) -> dict[str, Any]:
    value: dict[str, Any] = {
        "name": weight.name,
        "shape": weight.shape,
        "dtype": weight.dtype,
        "trainable": weight.trainable,
        "count": weight.count,
        "quantisation": dict(weight.quantisation) or None,
        "unreadable": weight.unreadable,
    }
    if not weight.unreadable:
        found = asdict(statistics(weight.pieces))
        edges, counts = found.pop("edges"), found.pop("counts")
        value |= found | {"histogram": {"edges": edges, "counts": counts}}
    return value


def _initialisers(config: Mapping[str, Any]) -> dict[str, Any]:
    """By the setting's name ("kernel_initializer"): class and settings, as the file has them."""
    found = {}
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
