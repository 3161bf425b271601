"""What may be wrong with the weights of a layer of attention with many heads, as changes that can be tried.

Source: tenstorrent/tt-mlir#8958 and awslabs/slapo#46 (query, key and value taken for each other, columns cut into heads otherwise),
fastmachinelearning/qonnx#25 (a bias lost), ArtemBoyarintsev/MachineLearningTools (dense kernels of PyTorch are transposed).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.compare.parity.attention import ROLES
from stethoscope.compare.parity.kernel_suspicions import AGAIN
from stethoscope.compare.parity.layer_rule import Array, Weights
from stethoscope.compare.parity.suspicion import Suspicion

HEADS_ADVICE = (
    "Give both kernels the shape (inputs, heads, width of a head), and move the axis of the heads before the places."
)


def attention_weight_suspicions(weights: Weights) -> Iterator[Suspicion]:
    """Everything that is tried for the weights.

    Args:
        weights: by the names of `attention_weight`, with the kernels of all roles.
    """
    yield from _exchanged(weights)
    yield from _biases(weights)
    yield from _turned(weights)
    yield from _head_order(weights)


def _exchanged(weights: Weights) -> Iterator[Suspicion]:
    for one, other in (("query", "key"), ("key", "value"), ("query", "value")):
        names = {f"{a}_{part}": f"{b}_{part}" for part in ("kernel", "bias") for a, b in ((one, other), (other, one))}
        present = {name: weights[source] for name, source in names.items() if source in weights and name in weights}
        if len(present) < 2 or any(value.shape != weights[name].shape for name, value in present.items()):
            continue
        yield Suspicion(
            "exchanged-weights",
            "Weights are exchanged",
            f"has the weights of its {one} and its {other} exchanged",
            AGAIN,
            weights=present,
        )


def _biases(weights: Weights) -> Iterator[Suspicion]:
    names = [f"{role}_bias" for role in ROLES if weights.get(f"{role}_bias", np.zeros(1)).any()]
    for group in (*([one] for one in names), names[:3], names):
        if group:
            said = " and ".join(name.removesuffix("_bias") for name in group)
            yield Suspicion(
                "bias",
                "The bias is missing",
                f"adds no bias to its {said}",
                AGAIN,
                weights={name: np.zeros_like(weights[name]) for name in group},
            )


def _turned(weights: Weights) -> Iterator[Suspicion]:
    for role in reversed(ROLES):
        name = f"{role}_kernel"
        kernel = weights[name]
        flat = kernel.reshape(-1, kernel.shape[-1]) if role == "output" else kernel.reshape(kernel.shape[0], -1)
        if flat.shape[0] == flat.shape[1]:
            yield Suspicion(
                "transposed-kernel",
                "The kernel is transposed",
                f"has the kernel of its {role} with inputs and outputs swapped",
                AGAIN,
                weights={name: flat.T.reshape(kernel.shape)},
            )


def _regrouped(weights: Weights, role: str, *, back: bool) -> dict[str, Array]:
    """The same columns, cut into heads the other way: every how-many-th column makes a head."""
    found = {}
    for part in ("kernel", "bias"):
        name = f"{role}_{part}"
        if name not in weights or (role == "output" and part == "bias"):
            continue
        values = weights[name]
        at = 0 if role == "output" or values.ndim == 2 else 1
        heads, wide = values.shape[at : at + 2]
        cut = (heads, wide) if back else (wide, heads)
        moved = values.reshape(*values.shape[:at], *cut, *values.shape[at + 2 :])
        found[name] = moved.swapaxes(at, at + 1).reshape(values.shape)
    return found


def _head_order(weights: Weights) -> Iterator[Suspicion]:
    for back in (False, True):
        for roles in (ROLES, ROLES[:3], ROLES[3:]):
            moved: dict[str, Array] = {}
            for role in roles:
                moved |= _regrouped(weights, role, back=back)
            yield Suspicion(
                "head-order",
                "Heads are cut otherwise",
                f"has the heads of its {' and '.join(roles)} cut in another order (width before heads)",
                HEADS_ADVICE,
                weights=moved,
            )
