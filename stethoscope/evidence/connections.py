"""The layers of a model as a graph: who reads whom, and what lies between two layers. Derived, nothing is run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.architecture.activations import ACTIVATION_LAYERS, LINEAR
from stethoscope.architecture.endings import activation_name, activation_of
from stethoscope.architecture.losses import settings_of
from stethoscope.types import Architecture, Layer

DROPPING = frozenset(
    {"Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "AlphaDropout", "GaussianDropout"}
)
RESHAPING = frozenset({"Flatten", "Reshape", "Permute", "Identity", "ActivityRegularization"})
AVERAGING = frozenset(
    {f"{kind}Pooling{n}D" for kind in ("Average", "GlobalAverage") for n in (1, 2, 3)}
    | {f"{kind}{n}D" for kind in ("ZeroPadding", "Cropping", "UpSampling") for n in (1, 2, 3)}
)
MAXIMUM = frozenset({f"{kind}Pooling{n}D" for kind in ("Max", "GlobalMax") for n in (1, 2, 3)})
MATRICES = frozenset(
    {"Dense", "SeparableConv1D", "SeparableConv2D", "LocallyConnected1D", "LocallyConnected2D"}
    | {f"Conv{n}D{end}" for n in (1, 2, 3) for end in ("", "Transpose")}
)
"""Layers that are one linear map from their input to their units, then an activation."""
RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"})


@dataclass(frozen=True)
class Connections:
    """Layers by path, and who reads each. A model whose file does not say how layers are connected has no readers."""

    layers: Mapping[str, Layer] = field(default_factory=dict)
    readers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outputs: frozenset[str] = frozenset()

    def after(self, path: str) -> Layer | None:
        """The one layer that reads this one; None when there are several or none, or this one is an output."""
        readers = self.readers.get(path, ())
        return self.layers[readers[0]] if len(readers) == 1 and path not in self.outputs else None

    def before(self, path: str) -> Layer | None:
        """The one layer that this one reads."""
        layer = self.layers.get(path)
        return self.layers.get(layer.inputs[0]) if layer is not None and len(layer.inputs) == 1 else None

    def following(self, path: str, passing: Collection[str]) -> tuple[list[Layer], Layer | None]:
        """Returns (layers of the `passing` types in a row after `path`, the layer after them or None)."""
        between: list[Layer] = []
        step = self.after(path)
        while step is not None and step.type in passing and len(step.inputs) == 1 and len(between) < 100:
            between.append(step)
            step = self.after(step.path)
        return between, step

    def preceding(self, path: str, passing: Collection[str]) -> tuple[list[Layer], Layer | None]:
        """Returns (layers of the `passing` types in a row before `path`, nearest first, the layer before them or None)."""
        between: list[Layer] = []
        step = self.before(path)
        while step is not None and step.type in passing and len(between) < 100:
            between.append(step)
            step = self.before(step.path)
        return between, step

    def leads_to_output(self, path: str) -> bool:
        """Whether only activations, dropout and reshaping stand between this layer and an output."""
        if path in self.outputs:
            return True
        between, step = self.following(path, (*DROPPING, *RESHAPING, *ACTIVATION_LAYERS))
        return step is None and bool(between) and between[-1].path in self.outputs


def connections_of(architecture: Architecture | None) -> Connections:
    """Reads the graph off an architecture; empty without one."""
    if architecture is None:
        return Connections()
    readers: dict[str, tuple[str, ...]] = {}
    for layer in architecture.layers:
        for source in layer.inputs:
            readers[source] = (*readers.get(source, ()), layer.path)
    outputs = frozenset(path for path in architecture.output_layers if path)
    return Connections({layer.path: layer for layer in architecture.layers}, readers, outputs)


def core_of(layer: Layer) -> tuple[str, Mapping[str, Any]]:
    """Returns (type, settings) of a layer, or of the layer inside a wrapper such as Bidirectional."""
    kind = layer.type
    config: Mapping[str, Any] = layer.config
    inner = config.get("layer")
    while isinstance(inner, Mapping) and isinstance(inner.get("config"), Mapping):
        kind, config = str(inner.get("class_name")), inner["config"]
        inner = config.get("layer")
    return kind, settings_of(config)


def activation_inside(layer: Layer) -> str:
    """The activation a layer applies last, also inside TimeDistributed; "linear" when none."""
    if layer.type == "TimeDistributed":
        value = core_of(layer)[1].get("activation")
        return activation_name(str(value)) if value else LINEAR.name
    return activation_of(layer)


def units_of(layer: Layer) -> int | None:
    """The size of a layer's last axis: its units or channels."""
    value = core_of(layer)[1].get("units") or core_of(layer)[1].get("filters")
    if isinstance(value, int):
        return value
    return layer.output_shape[-1] if layer.output_shape else None


def is_trainable(layer: Layer) -> bool:
    """Whether a layer is meant to be trained."""
    return layer.config.get("trainable") is not False
