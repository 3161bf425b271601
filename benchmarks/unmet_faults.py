"""Faults that are put into any Keras model, at a layer drawn at random from those that can have it: a setting, weights, or what it computes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Weights = list["npt.NDArray[Any]"]
_HAVE_KERNEL = ("Conv2D", "Conv1D", "Dense", "Conv2DTranspose", "DepthwiseConv2D")
_MIN_MOVED = 3e-3
"""Of the answers: what a fault moves them by at least; less is within what float32 may make."""


def leaves(model: Any) -> list[Any]:
    """Layers that are no models, those within models too, each once, in order."""
    found: dict[int, Any] = {}
    for layer in model.layers:
        for one in leaves(layer) if hasattr(layer, "layers") and hasattr(layer, "summary") else [layer]:
            found.setdefault(id(one), one)
    return list(found.values())


@dataclass(frozen=True)
class Fault:
    """One kind of fault. Just one of `settings`, `weights` and `call` is set."""

    kind: str
    types: tuple[str, ...]
    causes: tuple[str, ...]
    """Ids that name it right."""
    fits: Callable[[Any], bool] = lambda layer: True
    settings: dict[str, Any] | None = None
    weights: Callable[[Weights, np.random.Generator], Weights] | None = None
    call: Callable[[Any, Any], Callable[..., Any]] | None = None
    """(layer, what it computes) to what it computes with the fault: such a model cannot be saved as .keras or .h5."""
    random: bool = False
    """Whether it draws random numbers, or takes statistics of the batch: not in TFLite."""


def _square(layer: Any) -> bool:
    kernel = np.shape(layer.get_weights()[0])
    return len(kernel) == 4 and kernel[0] == kernel[1] > 1


def _kernel(change: Callable[[Any, np.random.Generator], Any]) -> Callable[[Weights, np.random.Generator], Weights]:
    return lambda values, random: [change(values[0], random), *values[1:]]


def _is(layer: Any, *names: str) -> bool:
    function = getattr(layer, "activation", None)
    return getattr(function, "__name__", "") in names


def _padded(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """Padding at the other end, as it is where "same" is counted otherwise."""
    import tensorflow as tf

    kernel, stride = layer.kernel_size, layer.strides

    def made(x: Any, *_: Any, **__: Any) -> Any:
        pads = [[0, 0]]
        for axis, (size, step) in enumerate(zip(kernel, stride, strict=True)):
            whole = x.shape[axis + 1]
            total = max(0, (-(-whole // step) - 1) * step + size - whole)
            left = total - total // 2 if total % 2 else total // 2 + 1
            pads.append([left, total - left])
        return called_unpadded(layer, call, tf.pad(x, [*pads, [0, 0]]))

    return made


def called_unpadded(layer: Any, call: Callable[..., Any], x: Any) -> Any:
    """What a layer with the padding "same" makes of rows that are padded already."""
    layer.padding = "valid"
    try:
        return call(x)
    finally:
        layer.padding = "same"


def _training(layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *inputs, **kwargs: call(*inputs, **{**kwargs, "training": True})


def _after(function: Callable[[Any], Any]) -> Callable[[Any, Any], Callable[..., Any]]:
    return lambda layer, call: lambda *inputs, **kwargs: function(call(*inputs, **kwargs))


def _instead(function: Callable[[Any], Any]) -> Callable[[Any, Any], Callable[..., Any]]:
    return lambda layer, call: lambda *inputs, **_: function(inputs[0])


def _tf() -> Any:
    import tensorflow as tf

    return tf


def _pad_ok(layer: Any) -> bool:
    return getattr(layer, "padding", "") == "same" and max(layer.kernel_size) > 1 and layer.dilation_rate[0] == 1


_WEIGHTS = ("weights", "scaled-weights", "transposed-kernel", "flipped-kernel")
FAULTS: tuple[Fault, ...] = (
    Fault("epsilon of BatchNormalization", ("BatchNormalization",), ("epsilon",), settings={"epsilon": 0.05}),
    Fault("epsilon of LayerNormalization", ("LayerNormalization",), ("epsilon",), settings={"epsilon": 0.02}),
    Fault(
        "BatchNormalization in training mode", ("BatchNormalization",), ("training-mode",), call=_training, random=True
    ),
    Fault(
        "moving mean is lost",
        ("BatchNormalization",),
        ("weights", "bias", "epsilon"),
        weights=lambda v, _: [*v[:-2], 0 * v[-2], v[-1]],
    ),
    Fault(
        "moving variance is lost",
        ("BatchNormalization",),
        ("weights", "epsilon"),
        weights=lambda v, _: [*v[:-1], np.ones_like(v[-1])],
    ),
    Fault("padding at the other end", ("Conv2D", "DepthwiseConv2D"), ("padding",), _pad_ok, call=_padded),
    Fault(
        "input channels reversed",
        ("Conv2D",),
        ("swapped-channels", "preprocessing", "weights"),
        lambda layer: layer.get_weights()[0].shape[2] == 3,
        weights=_kernel(lambda k, _: k[:, :, ::-1]),
    ),
    Fault(
        "a transposed kernel",
        ("Conv2D", "DepthwiseConv2D", "Conv2DTranspose"),
        ("transposed-kernel",),
        _square,
        weights=_kernel(lambda k, _: k.swapaxes(0, 1)),
    ),
    Fault(
        "a flipped kernel",
        ("Conv2D", "DepthwiseConv2D", "Conv2DTranspose"),
        ("flipped-kernel", "transposed-kernel"),
        _square,
        weights=_kernel(lambda k, _: k[::-1, ::-1]),
    ),
    Fault(
        "a scaled kernel",
        _HAVE_KERNEL,
        ("scaled-weights", "weights", "scale"),
        weights=_kernel(lambda k, r: r.uniform(0.2, 3.0) * k),
    ),
    Fault(
        "wrong weights",
        _HAVE_KERNEL,
        _WEIGHTS,
        weights=_kernel(lambda k, r: k + 0.3 * k.std() * r.standard_normal(k.shape)),
    ),
    Fault(
        "weights of the last epoch but one",
        _HAVE_KERNEL,
        _WEIGHTS,
        weights=lambda v, r: [x + 0.1 * (x.std() + 1e-6) * r.standard_normal(x.shape) for x in v],
    ),
    Fault(
        "bias missing",
        ("Conv2D", "Conv1D", "Dense", "Conv2DTranspose", "DepthwiseConv2D"),
        ("bias", "weights"),
        lambda layer: layer.use_bias,
        weights=lambda v, _: [*v[:-1], 0 * v[-1]],
    ),
    Fault(
        "no activation",
        ("Activation", "ReLU", "LeakyReLU"),
        ("activation", "setting"),
        call=_instead(lambda x: 1.0 * x),
    ),
    Fault(
        "form of GELU",
        ("Activation",),
        ("gelu-form",),
        lambda layer: _is(layer, "gelu"),
        call=_instead(lambda x: _tf().nn.gelu(x, approximate=True)),
    ),
    Fault(
        "another activation of a layer",
        ("Conv2D", "Conv1D", "Dense"),
        ("activation",),
        lambda layer: not _is(layer, "linear", "softmax"),
        settings={"activation": "linear"},
    ),
    Fault(
        "sigmoid as hard sigmoid",
        ("Conv2D", "Dense"),
        ("activation",),
        lambda layer: _is(layer, "sigmoid"),
        settings={"activation": "hard_sigmoid"},
    ),
    Fault(
        "slope of leaky ReLU",
        ("LeakyReLU",),
        ("activation", "setting"),
        call=_instead(lambda x: _tf().nn.leaky_relu(x, 0.3)),
    ),
    Fault(
        "a clipped range",
        ("Activation", "ReLU", "LeakyReLU"),
        ("clipped-range", "activation", "setting"),
        call=_after(lambda y: _tf().minimum(y, 0.4)),
    ),
    Fault(
        "way of resizing",
        ("UpSampling2D",),
        ("resize-mode",),
        lambda layer: layer.interpolation == "bilinear",
        settings={"interpolation": "nearest"},
    ),
    Fault(
        "way of resizing, blended",
        ("UpSampling2D",),
        ("resize-mode",),
        lambda layer: layer.interpolation == "nearest",
        settings={"interpolation": "bilinear"},
    ),
    Fault(
        "preprocessing outside", ("Rescaling", "Normalization"), ("preprocessing",), call=_instead(lambda x: 1.0 * x)
    ),
    Fault(
        "another scale of the input",
        ("Rescaling",),
        ("preprocessing", "scale", "setting"),
        settings={"scale": 1 / 200.0},
    ),
    Fault("dropout in training mode", ("Dropout",), ("training-mode",), call=_training, random=True),
    Fault(
        "parts joined in the other order",
        ("Concatenate",),
        ("swapped-channels", "layout"),
        call=lambda layer, call: lambda xs: call(list(xs)[::-1]),
    ),
    Fault(
        "order of Flatten",
        ("Flatten",),
        ("layout",),
        lambda layer: len(layer.input.shape if hasattr(layer, "input") else ()) == 4,
        call=lambda _, call: lambda x: call(_tf().transpose(x, (0, 3, 1, 2))),
    ),
    Fault(
        "embedding off by one",
        ("Embedding",),
        ("shifted-index", "weights", "swapped-channels"),
        weights=_kernel(lambda k, _: np.roll(k, 1, axis=0)),
    ),
)


def faulty(right: Any, fault: Fault, layer: str, random: np.random.Generator, keras: Any) -> Any:
    """The model with a fault at a layer."""
    config = copy.deepcopy(right.get_config())
    if fault.settings:
        for said in _configs(config, layer):
            said.update(fault.settings)
    wrong = type(right).from_config(config)
    wrong.set_weights(right.get_weights())
    mine = next(one for one in leaves(wrong) if one.name == layer)
    if fault.weights is not None:
        mine.set_weights(fault.weights(mine.get_weights(), random))
    if fault.call is not None:
        mine.call = fault.call(mine, mine.call)
        _forget(wrong)
    return wrong


def _forget(model: Any) -> None:
    if getattr(model, "predict_function", None) is not None:
        model.predict_function = None


def _configs(said: Any, layer: str) -> Iterator[dict[str, Any]]:
    if isinstance(said, dict):
        inner = said.get("config")
        if isinstance(inner, dict) and inner.get("name") == layer and "layers" not in inner:
            yield inner
        for one in said.values():
            yield from _configs(one, layer)
    elif isinstance(said, list | tuple):
        for one in said:
            yield from _configs(one, layer)


def drawn(
    right: Any, fed: dict[str, npt.NDArray[Any]], random: np.random.Generator, keras: Any, wanted: int
) -> Iterator[tuple[Fault, str, Any]]:
    """(fault, layer, the model with it), of different kinds, each at a layer drawn at random, that move the answers."""
    before = answer(right, fed)
    given = 0
    for place in random.permutation(len(FAULTS)):
        fault = FAULTS[int(place)]
        fitting = [one.name for one in leaves(right) if type(one).__name__ in fault.types and fault.fits(one)]
        for layer in list(random.permutation(fitting))[:3]:
            wrong = faulty(right, fault, str(layer), random, keras)
            after = answer(wrong, fed)
            moved = max(
                float(np.linalg.norm(b - a) / (np.linalg.norm(a) or 1)) for a, b in zip(before, after, strict=True)
            )
            if moved > _MIN_MOVED:
                yield fault, str(layer), wrong
                given += 1
                break
        if given >= wanted:
            return


def answer(model: Any, fed: dict[str, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """What a model answers, as it is called for inference."""
    values = list(fed.values())
    found = model(values if len(values) > 1 else values[0], training=False)
    return [np.asarray(one) for one in (found if isinstance(found, list | tuple) else [found])]
