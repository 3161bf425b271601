"""What recurrent layers of Keras compute, in plain numpy, and what may be wrong with one.

Source: CrispStrobe/CrispASR#106 and tensorflow/tensorflow#29308 (orders of gates), microsoft/onnxscript#2852 (reset before the product),
apple/coremltools#309 (bias of the forget gate), onnx/keras-onnx#98 (a bias of two parts), onnx/keras-onnx#523 (direction),
PaddlePaddle/Paddle#44820 (hard sigmoids), docs.pytorch.org/docs/stable/generated/torch.nn.GRU (kernels transposed, gates r, z, n).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from stethoscope.architecture.activations import LINEAR, RELU, SIGMOID, TANH
from stethoscope.architecture.formulas import Array, named_function
from stethoscope.compare.parity.kernel_suspicions import AGAIN, Estimate, Suspicion, scaled, scaled_bias, transposed
from stethoscope.compare.parity.value_suspicions import stand_ins
from stethoscope.types import Layer

Weights = Mapping[str, Array]
Settings = Mapping[str, Any]
State = tuple[Array, ...]
BACKWARD = "backward_"
"""Before the names of the second direction's weights."""


def recurrent(kind: str) -> Callable[[Sequence[Array], Weights, Settings], Array]:
    """The rule of a kind of layer ("LSTM", "GRU", "SimpleRNN"): of (rows, steps, channels), its weights and settings.

    "turned": its answers in reverse order.

    Raises:
        KeyError: weights are missing, or settings that are not known here.
        ValueError: shapes do not go together.
    """

    def apply(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
        x = inputs[0][:, ::-1] if settings.get("go_backwards") else inputs[0]
        if len(inputs) != 1 or x.ndim != 3 or settings.get("stateful"):
            raise KeyError("inputs")
        units = weights["recurrent_kernel"].shape[0]
        step = _STEPS[kind](weights, settings)
        state: State = (np.zeros((len(x), units)),) * (2 if kind == "LSTM" else 1)
        answers = []
        for at in range(x.shape[1]):
            state = step(x[:, at], state)
            answers.append(state[0])
        answers = answers[::-1] if settings.get("turned") else answers
        return np.stack(answers, axis=1) if settings.get("return_sequences") else answers[-1]

    return apply


def bidirectional(inputs: Sequence[Array], weights: Weights, settings: Settings) -> Array:
    """Both directions over the same steps, joined as merge_mode says.

    Raises:
        KeyError: as `recurrent`, or for an inner layer that is not known here.
    """
    inner = [settings["layer"], settings.get("backward_layer") or settings["layer"]]
    halves = []
    for place, told in enumerate(inner):
        mine = {
            name.removeprefix(BACKWARD): value
            for name, value in weights.items()
            if name.startswith(BACKWARD) == bool(place)
        }
        shared = {key: value for key, value in settings.items() if key in ("activation", "recurrent_activation")}
        found = recurrent(str(told["class_name"]))(
            inputs, mine, {**told["config"], "go_backwards": bool(place), **shared}
        )
        halves.append(found[:, ::-1] if place and told["config"].get("return_sequences") else found)
    mode = settings.get("merge_mode", "concat")
    if mode == "concat":
        return np.concatenate(halves, axis=-1)
    if mode in ("sum", "ave"):
        return np.asarray((halves[0] + halves[1]) / (2 if mode == "ave" else 1))
    raise KeyError(str(mode))


def _function(settings: Settings, key: str, usual: str) -> Callable[[Array], Array]:
    told = settings.get(key, usual)
    found = named_function(LINEAR.name if told is None else str(told))
    if found is None:
        raise KeyError(str(told))
    return found


def _bias(weights: Weights, size: int) -> tuple[Array, Array]:
    """(of the input, of the state)."""
    bias = weights.get("bias", np.zeros(size))
    return (bias[0], bias[1]) if bias.ndim == 2 else (bias, np.zeros(size))


def _lstm(weights: Weights, settings: Settings) -> Callable[[Array, State], State]:
    kernel, again = weights["kernel"], weights["recurrent_kernel"]
    bias = _bias(weights, kernel.shape[1])[0]
    act, gate = _function(settings, "activation", TANH.name), _function(settings, "recurrent_activation", SIGMOID.name)

    def step(x: Array, state: State) -> State:
        i, f, c, o = np.split(x @ kernel + state[0] @ again + bias, 4, axis=-1)
        cell = gate(f) * state[1] + gate(i) * act(c)
        return gate(o) * act(cell), cell

    return step


def _gru(weights: Weights, settings: Settings) -> Callable[[Array, State], State]:
    kernel, again = weights["kernel"], weights["recurrent_kernel"]
    bias, bias_again = _bias(weights, kernel.shape[1])
    act, gate = _function(settings, "activation", TANH.name), _function(settings, "recurrent_activation", SIGMOID.name)
    after, units = bool(settings.get("reset_after", True)), again.shape[0]

    def step(x: Array, state: State) -> State:
        h = state[0]
        x_z, x_r, x_h = np.split(x @ kernel + bias, 3, axis=-1)
        h_z, h_r, h_h = np.split(h @ again + bias_again, 3, axis=-1)
        z, r = gate(x_z + h_z), gate(x_r + h_r)
        inner = r * h_h if after else (r * h) @ again[:, 2 * units :] + bias_again[2 * units :]
        return (z * h + (1 - z) * act(x_h + inner),)

    return step


def _simple(weights: Weights, settings: Settings) -> Callable[[Array, State], State]:
    kernel, again = weights["kernel"], weights["recurrent_kernel"]
    bias, act = _bias(weights, kernel.shape[1])[0], _function(settings, "activation", TANH.name)
    return lambda x, state: (act(x @ kernel + state[0] @ again + bias),)


_STEPS: dict[str, Callable[[Weights, Settings], Callable[[Array, State], State]]] = {
    "LSTM": _lstm,
    "GRU": _gru,
    "SimpleRNN": _simple,
}


GATES = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}
_ORDERS: dict[str, dict[str, tuple[int, ...]]] = {
    "LSTM": {"i, o, f, c (ONNX)": (0, 3, 1, 2), "i, c, f, o (TensorFlow 1)": (0, 2, 1, 3)},
    "GRU": {"r, z, n (PyTorch)": (1, 0, 2)},
    "SimpleRNN": {},
}
"""Of gates that others have, as places in the order of Keras: i, f, c, o and z, r, h."""


def recurrent_suspicions(layer: Layer, weights: Weights) -> Iterator[Suspicion | Estimate]:
    """Everything that is tried for LSTM, GRU, SimpleRNN and Bidirectional around one of them; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names; those of the second direction with "backward_" before.
    """
    inner = layer.config.get("layer")
    kind = str(inner.get("class_name")) if isinstance(inner, dict) else layer.type
    if kind not in GATES or "recurrent_kernel" not in weights:
        return
    told = dict(inner["config"]) if isinstance(inner, dict) else dict(layer.config)
    yield from _activations(kind, told)
    if kind == "GRU":
        after = bool(told.get("reset_after", True))
        yield Suspicion(
            "gate-order",
            "Another form of the gate",
            f"resets {'before' if after else 'after'} the product with its state",
            "Give both the same reset_after (linear_before_reset in ONNX).",
            {"reset_after": not after},
        )
    if layer.type != "Bidirectional":
        yield Suspicion(
            "direction",
            "Another direction",
            "reads the steps the other way round",
            "Give both the same direction.",
            {"go_backwards": not layer.config.get("go_backwards")},
        )
        if layer.config.get("return_sequences"):
            yield Suspicion(
                "direction",
                "Another direction",
                "answers its steps in reverse order",
                "Reverse the steps of a backward layer in both or in none: Keras leaves them as it went, ONNX puts them in order.",
                {"turned": True},
            )
    for prefix in ("", BACKWARD):
        if f"{prefix}recurrent_kernel" in weights:
            yield from _of_weights(prefix, kind, weights)


def _activations(kind: str, told: dict[str, object]) -> Iterator[Suspicion]:
    # ONNX writes the activations of a layer down, else they are these.
    usual = {"activation": TANH.name, "recurrent_activation": SIGMOID.name}
    for key, said in (("activation", "computes its state with"), ("recurrent_activation", "opens its gates with")):
        if key == "recurrent_activation" and GATES[kind] == 1:
            continue
        own = str(told.get(key))
        others = (RELU.name,) if own == usual["activation"] else stand_ins(own)[1:]
        for name in dict.fromkeys((*others, usual[key])):
            if name != own:
                yield Suspicion(
                    "activation",
                    "Another activation",
                    f"{said} {name} instead of {own}",
                    "Set the same activation in both.",
                    {key: name},
                )


def _of_weights(prefix: str, kind: str, weights: Weights) -> Iterator[Suspicion | Estimate]:
    side = " of the second direction" if prefix else ""
    kernel, again, bias = (f"{prefix}{name}" for name in ("kernel", "recurrent_kernel", "bias"))
    names = [name for name in (kernel, again, bias) if name in weights]
    gates, units = GATES[kind], weights[again].shape[0]
    for said, order in _ORDERS[kind].items():
        back = tuple(int(place) for place in np.argsort(order))
        for moved, how in dict.fromkeys(((order, f"in the order {said}"), (back, f"read as if in the order {said}"))):
            yield Suspicion(
                "gate-order",
                "Order of the gates",
                f"has its gates{side} {how}",
                "Reorder the gates: Keras has i, f, c, o (LSTM) and z, r, h (GRU), ONNX i, o, f, c and z, r, h, PyTorch i, f, g, o and r, z, n.",
                weights={name: _blocks(weights[name], moved) for name in names},
            )
    turned = np.concatenate([block.T for block in np.split(weights[again], gates, axis=-1)], axis=-1)
    yield transposed(f"has its recurrent kernel{side} transposed in each gate", {again: turned})
    if bias in weights and weights[bias].ndim == 2 and weights[bias].any():
        for row, part in enumerate(("its input", "its state")):
            kept = np.where(np.arange(2)[:, None] == row, 0, weights[bias])
            told = f"adds no bias to {part}{side}"
            yield Suspicion("bias", "The bias is missing", told, AGAIN, weights={bias: kept})
    if bias in weights and kind == "LSTM":
        for more in (-1.0, 1.0):
            raised = weights[bias] + more * (np.arange(4 * units) // units == 1)
            yield Suspicion(
                "bias",
                "Another bias",
                f"has {more:+g} in the bias of its forget gate{side}",
                "Compare the bias of the forget gate: some add 1 when they run.",
                weights={bias: raised},
            )
    yield from scaled_bias(weights, bias, side)
    for name, said in ((kernel, "kernel"), (again, "recurrent kernel")):
        yield scaled(weights, name, f"has its {said}{side} times {{}}")


def _blocks(values: Array, order: tuple[int, ...]) -> Array:
    parts = np.split(values, len(order), axis=-1)
    return np.concatenate([parts[place] for place in order], axis=-1)
