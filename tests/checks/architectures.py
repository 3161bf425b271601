"""Hand-made architectures: layers in a row, or with named inputs."""

from __future__ import annotations

from typing import Any

from stethoscope.evidence.model import ActivationEvidence, LayerActivation, OutputSummary, WeightEvidence, WeightProfile
from stethoscope.types import Architecture, CompileSettings, Layer, TensorSpec


def layer(
    path: str, kind: str, shape: tuple[int | None, ...], inputs: tuple[str, ...] | None = None, **config: Any
) -> Layer:
    """A layer; one of the kinds that have weights gets ten parameters. `inputs` None: the layer before it."""
    weighted = kind in ("Dense", "LSTM", "GRU", "SimpleRNN", "Embedding", "BatchNormalization") or "Conv" in kind
    count = 10 if weighted else 0
    trained = count if config.get("trainable", True) else 0
    return Layer(path, kind, shape, count, trained, "float32", inputs if inputs is not None else ("<before>",), config)


def architecture(
    *layers: Layer, loss: str = "sparse_categorical_crossentropy", optimizer: str = "Adam", rate: float = 1e-3
) -> Architecture:
    """A compiled Keras model of these layers; the first one's shape is the input's without being a layer of its own."""
    chained = []
    for index, item in enumerate(layers):
        before = (layers[index - 1].path,) if index else ()
        inputs = before if item.inputs == ("<before>",) else item.inputs
        chained.append(
            Layer(
                item.path,
                item.type,
                item.output_shape,
                item.parameters,
                item.trainable_parameters,
                "float32",
                inputs,
                item.config,
            )
        )
    last = chained[-1]
    return Architecture(
        format_id="keras",
        framework_version="Keras 3",
        parameters=sum(item.parameters for item in chained),
        trainable_parameters=sum(item.trainable_parameters for item in chained),
        inputs=(TensorSpec("x", chained[0].output_shape, "float32"),),
        outputs=(TensorSpec(last.path, last.output_shape, "float32"),),
        layers=tuple(chained),
        compile=CompileSettings(loss, optimizer, rate, (), {"loss": loss}),
        output_layers=(last.path,),
    )


def points(*hidden: Layer, head: str = "softmax", **compiled: Any) -> Architecture:
    """Eight columns in, the hidden layers, three classes out."""
    return architecture(
        layer("columns", "InputLayer", (None, 8)),
        *hidden,
        layer("kind", "Dense", (None, 3), units=3, activation=head),
        **compiled,
    )


def tensor(path: str, name: str = "kernel", shape: tuple[int, ...] = (8, 16), **more: Any) -> WeightProfile:
    """A kernel as Glorot would start it, unless told otherwise."""
    settings: dict[str, Any] = {
        "dtype": "float32",
        "trainable": True,
        "mean": 0.0,
        "std": 0.29,
        "minimum": -0.5,
        "maximum": 0.5,
        "zero_fraction": 0.0,
        "nonfinite": 0,
        "distinct": 3,
    }
    if len(shape) == 2:
        settings |= {"fan_in": shape[0], "fan_out": shape[1]}
    return WeightProfile(layer=path, name=name, shape=shape, **{**settings, **more})


def bias(path: str, value: float = 0.0, **more: Any) -> WeightProfile:
    """A bias that is `value` everywhere."""
    constant = {"mean": value, "std": 0.0, "minimum": value, "maximum": value, "distinct": 1}
    return tensor(path, "bias", (16,), **{**constant, **more})


def weights(*tensors: WeightProfile, trained: bool | None = False) -> WeightEvidence:
    """Evidence of these tensors."""
    return WeightEvidence(tensors, trained)


def activation(path: str, kind: str = "Dense", name: str = "relu", **more: Any) -> LayerActivation:
    """A layer's output that looks ordinary, unless told otherwise."""
    settings: dict[str, Any] = {
        "shape": (64, 16),
        "mean": 0.3,
        "std": 0.5,
        "minimum": 0.0,
        "maximum": 2.0,
        "zero_fraction": 0.4,
        "nonfinite": 0,
    }
    return LayerActivation(path=path, type=kind, activation=name, **{**settings, **more})


def seen(
    *layers: LayerActivation, source: str = "data", rows: int = 64, output: OutputSummary | None = None
) -> ActivationEvidence:
    """Evidence of these outputs."""
    return ActivationEvidence(source, rows, layers, (output,) if output else ())


def output(**more: Any) -> OutputSummary:
    """What the classifier of `points` predicts on 64 rows, all three classes among them."""
    settings: dict[str, Any] = {
        "name": "kind",
        "shape": (64, 3),
        "minimum": 0.01,
        "maximum": 0.9,
        "mean": 0.33,
        "std": 0.2,
        "row_std": 0.1,
        "nonfinite": 0,
        "predicted_class_counts": (20, 24, 20),
    }
    return OutputSummary(**{**settings, **more})
