"""What LSTM, GRU, SimpleRNN and Bidirectional of Keras compute, in plain numpy.

Source: keras.io/api/layers/recurrent_layers: gates in the order i, f, c, o (LSTM) and z, r, h (GRU).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.parity.activation_forms import named_function

Array = npt.NDArray[np.float64]
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
    found = named_function("linear" if told is None else str(told))
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
    act, gate = _function(settings, "activation", "tanh"), _function(settings, "recurrent_activation", "sigmoid")

    def step(x: Array, state: State) -> State:
        i, f, c, o = np.split(x @ kernel + state[0] @ again + bias, 4, axis=-1)
        cell = gate(f) * state[1] + gate(i) * act(c)
        return gate(o) * act(cell), cell

    return step


def _gru(weights: Weights, settings: Settings) -> Callable[[Array, State], State]:
    kernel, again = weights["kernel"], weights["recurrent_kernel"]
    bias, bias_again = _bias(weights, kernel.shape[1])
    act, gate = _function(settings, "activation", "tanh"), _function(settings, "recurrent_activation", "sigmoid")
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
    bias, act = _bias(weights, kernel.shape[1])[0], _function(settings, "activation", "tanh")
    return lambda x, state: (act(x @ kernel + state[0] @ again + bias),)


_STEPS: dict[str, Callable[[Weights, Settings], Callable[[Array, State], State]]] = {
    "LSTM": _lstm,
    "GRU": _gru,
    "SimpleRNN": _simple,
}
