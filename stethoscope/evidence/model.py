"""What a model shows by itself: its weights, its layers' output, its behaviour when it is run again.

The layers of a model as a graph: who reads whom, and what lies between two layers. Derived, nothing is run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.architecture.activations import ACTIVATION_LAYERS, LINEAR
from stethoscope.architecture.endings import activation_name, activation_of
from stethoscope.architecture.losses import settings_of
from stethoscope.types import Architecture, Layer


@dataclass(frozen=True)
class WeightProfile:
    """One weight tensor. Statistics are over finite values."""

    layer: str
    """The layer's path."""
    name: str
    """"kernel", "bias", "gamma", "moving_variance", …"""
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    mean: float
    std: float
    minimum: float
    maximum: float
    zero_fraction: float
    nonfinite: int
    distinct: int
    """Number of different values, at most 3 are counted: 1 means constant."""
    fan_in: int | None = None
    fan_out: int | None = None
    dead_columns: int = 0
    """Output units whose incoming weights are all zero."""
    identical_columns: int = 0
    """Output units whose incoming weights equal those of an earlier unit (symmetry never broken)."""


@dataclass(frozen=True)
class WeightEvidence:
    """All weights. `trained` is whether they look trained, None when that cannot be told."""

    tensors: tuple[WeightProfile, ...]
    trained: bool | None = None
    trained_because: str = ""

    def of(self, layer: str) -> tuple[WeightProfile, ...]:
        """The tensors of one layer."""
        return tuple(tensor for tensor in self.tensors if tensor.layer == layer)


@dataclass(frozen=True)
class LayerActivation:
    """One layer's output over a batch. Fractions are of values unless they say units; statistics over finite values."""

    path: str
    type: str
    activation: str
    """"relu", "tanh", … as configured; "linear" without one."""
    shape: tuple[int, ...]
    mean: float
    std: float
    minimum: float
    maximum: float
    zero_fraction: float
    nonfinite: int
    dead_units_fraction: float | None = None
    """Units (channels) that are zero for every row and position; only for layers whose activation can die."""
    saturated_fraction: float | None = None
    """Values at the flat ends of tanh, sigmoid, hard variants or softmax."""
    constant_units_fraction: float | None = None
    """Units whose output is the same for every row."""
    row_std: float | None = None
    """Mean over units of the standard deviation over rows: 0 when the output does not depend on the input."""


@dataclass(frozen=True)
class OutputSummary:
    """What the model predicts on the batch."""

    name: str
    shape: tuple[int, ...]
    minimum: float
    maximum: float
    mean: float
    std: float
    row_std: float
    nonfinite: int
    row_sum_minimum: float | None = None
    row_sum_maximum: float | None = None
    predicted_class_counts: tuple[int, ...] = ()
    """argmax over the last axis, for outputs of 2 to 1,000 units."""


@dataclass(frozen=True)
class ActivationEvidence:
    """One inference pass, streamed: statistics are kept, tensors are not."""

    source: str
    """"data" or "random input"."""
    rows: int
    layers: tuple[LayerActivation, ...]
    outputs: tuple[OutputSummary, ...] = field(default=())
    first_nonfinite: str = ""
    """The path of the first layer with NaN or infinity."""
    unreachable: str = ""
    """Why inner layers could not be seen, when only outputs were."""


@dataclass(frozen=True)
class BehaviourTest:
    """One test. `passed` is None when it does not apply."""

    id: str
    name: str
    passed: bool | None
    detail: str
    max_abs_diff: float | None = None
    layer: str = ""
    reason: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What was measured, as the test's own JSON: "batch_normalisation", "read_as", "crashed" …"""
    noted: bool = False
    """With `passed` None: it showed something worth knowing that is no defect in itself."""


@dataclass(frozen=True)
class BehaviourEvidence:
    """All tests that were run."""

    consistent: bool
    tests: tuple[BehaviourTest, ...]
    source: str = ""
    """"data" or "random input"."""

    def test(self, test_id: str) -> BehaviourTest | None:
        """The test with this id, if it was run."""
        return next((test for test in self.tests if test.id == test_id), None)


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
