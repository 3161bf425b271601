"""What may be wrong with a recurrent layer, as changes that can be tried."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from stethoscope.parity.recurrent import BACKWARD, Array, Weights
from stethoscope.parity.suspicion import Suspicion
from stethoscope.types import Layer

GATES = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}
_AGAIN = "Export again from the model whose weights are right."
_SAME = "Set the same activation in both."
_STATE = ("linear", "relu", "sigmoid", "elu", "hard-sigmoid", "tanh")
_GATE = ("sigmoid", "hard-sigmoid", "hard-sigmoid-2", "tanh", "linear")
_SCALES = (0.0, 0.5, 0.8, 0.9, 1.1, 1.2, 1.25, 1.3, 1.5, 2.0, -1.0)


def recurrent_suspicions(layer: Layer, weights: Weights, worst: tuple[int, ...]) -> Iterator[Suspicion]:
    """Everything that is tried for LSTM, GRU, SimpleRNN and Bidirectional around one of them; nothing for other layers.

    Args:
        layer: of the group.
        weights: by short names; those of the second direction with "backward_" before.
        worst: channels that differ most.
    """
    inner = layer.config.get("layer")
    kind = str(inner.get("class_name")) if isinstance(inner, dict) else layer.type
    if kind not in GATES or "recurrent_kernel" not in weights:
        return
    told = dict(inner["config"]) if isinstance(inner, dict) else dict(layer.config)
    for key, said, names in (
        ("activation", "computes its state with", _STATE),
        ("recurrent_activation", "opens its gates with", _GATE),
    ):
        if key == "activation" or GATES[kind] > 1:
            for name in names:
                if name != told.get(key):
                    yield Suspicion(
                        "activation",
                        "Another activation",
                        f"{said} {name} instead of {told.get(key)}",
                        _SAME,
                        {key: name},
                    )
    if kind == "GRU":
        after = bool(told.get("reset_after", True))
        yield Suspicion("gate-order", "Another form of the gate", f"resets {'before' if after else 'after'} the product with its state",
                        "Give both the same reset_after (linear_before_reset in ONNX).", {"reset_after": not after})  # fmt: skip
    if layer.type == "Bidirectional":
        yield Suspicion("swapped-channels", "Channels are swapped", "puts the second direction's answer first",
                        "Join both directions in the same order.", {"other_half_first": True})  # fmt: skip
    else:
        yield Suspicion("direction", "Another direction", "reads the steps the other way round", "Give both the same direction.",
                        {"go_backwards": not layer.config.get("go_backwards")})  # fmt: skip
    for prefix in ("", BACKWARD):
        if f"{prefix}recurrent_kernel" in weights:
            yield from _of_weights(prefix, kind, weights, worst)


def _of_weights(prefix: str, kind: str, weights: Weights, worst: tuple[int, ...]) -> Iterator[Suspicion]:
    side = " of the second direction" if prefix else ""
    kernel, again, bias = (f"{prefix}{name}" for name in ("kernel", "recurrent_kernel", "bias"))
    names = [name for name in (kernel, again, bias) if name in weights]
    gates, units = GATES[kind], weights[again].shape[0]
    for order in itertools.permutations(range(gates)):
        if order != tuple(range(gates)):
            yield Suspicion("gate-order", "Order of the gates", f"has its gates{side} in the order {', '.join(map(str, order))}",
                            "Reorder the gates: Keras has i, f, c, o (LSTM) and z, r, h (GRU), ONNX i, o, f, c and z, r, h, PyTorch i, f, g, o and r, z, n.",
                            weights={name: _blocks(weights[name], order) for name in names})  # fmt: skip
    for name, said in ((kernel, "kernel"), (again, "recurrent kernel")):
        for scale in _SCALES:
            cause = "sign" if scale == -1 else "weights" if scale == 0 else "scaled-weights"
            title = {"sign": "The sign is turned", "weights": "The weights are missing"}.get(
                cause, "The weights are scaled"
            )
            yield Suspicion(
                cause, title, f"has its {said}{side} times {scale:.4g}", _AGAIN, weights={name: scale * weights[name]}
            )
    turned = np.concatenate([block.T for block in np.split(weights[again], gates, axis=-1)], axis=-1)
    yield Suspicion(
        "transposed-kernel",
        "The kernel is transposed",
        f"has its recurrent kernel{side} transposed in each gate",
        _AGAIN,
        weights={again: turned},
    )
    if bias in weights and weights[bias].any():
        yield Suspicion(
            "bias", "The bias is missing", f"adds no bias{side}", _AGAIN, weights={bias: np.zeros_like(weights[bias])}
        )
        if weights[bias].ndim == 2:
            for row in range(2):
                kept = np.where(np.arange(2)[:, None] == row, 0, weights[bias])
                yield Suspicion(
                    "bias",
                    "The bias is missing",
                    f"adds no bias to {('its input', 'its state')[row]}{side}",
                    _AGAIN,
                    weights={bias: kept},
                )
    if bias in weights and kind == "LSTM":
        for more in (-1.0, 1.0):
            moved = weights[bias] + more * (np.arange(4 * units) // units == 1)
            yield Suspicion("bias", "Another bias", f"has {more:+g} in the bias of its forget gate{side}",
                            "Compare the bias of the forget gate: some add 1 when they run.", weights={bias: moved})  # fmt: skip
    for unit in dict.fromkeys(one % units for one in worst[:3]):
        gone = np.arange(gates * units) % units == unit
        yield Suspicion("zeroed-channel", "A channel is zero", f"has zeros for unit {unit}{side}", _AGAIN,
                        weights={name: np.where(gone, 0, weights[name]) for name in names})  # fmt: skip


def _blocks(values: Array, order: tuple[int, ...]) -> Array:
    parts = np.split(values, len(order), axis=-1)
    return np.concatenate([parts[place] for place in order], axis=-1)
