"""What may be wrong with a recurrent layer, as changes that can be tried.

Source: CrispStrobe/CrispASR#106 and tensorflow/tensorflow#29308 (orders of gates), microsoft/onnxscript#2852 (reset before the product),
apple/coremltools#309 (bias of the forget gate), onnx/keras-onnx#98 (a bias of two parts), onnx/keras-onnx#523 (direction),
PaddlePaddle/Paddle#44820 (hard sigmoids), docs.pytorch.org/docs/stable/generated/torch.nn.GRU (kernels transposed, gates r, z, n).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.compare.parity.activation_suspicions import stand_ins
from stethoscope.compare.parity.kernel_suspicions import AGAIN, Estimate, Suspicion, scaled, scaled_bias
from stethoscope.compare.parity.recurrent import BACKWARD, Array, Weights
from stethoscope.types import Layer

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
    usual = {"activation": "tanh", "recurrent_activation": "sigmoid"}
    for key, said in (("activation", "computes its state with"), ("recurrent_activation", "opens its gates with")):
        if key == "recurrent_activation" and GATES[kind] == 1:
            continue
        own = str(told.get(key))
        others = ("relu",) if own == usual["activation"] else stand_ins(own)[1:]
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
    yield Suspicion(
        "transposed-kernel",
        "The kernel is transposed",
        f"has its recurrent kernel{side} transposed in each gate",
        AGAIN,
        weights={again: turned},
    )
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
