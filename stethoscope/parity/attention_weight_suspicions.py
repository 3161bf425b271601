"""What may be wrong with the weights of a layer of attention with many heads, as changes that can be tried."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.parity.attention import ROLES
from stethoscope.parity.layer_rule import Array, Weights
from stethoscope.parity.suspicion import Suspicion

HEADS_ADVICE = (
    "Give both kernels the shape (inputs, heads, width of a head), and move the axis of the heads before the places."
)
_AGAIN = "Export again from the model whose weights are right."
_SCALES = (0.5, 0.8, 0.9, 1.1, 1.2, 1.25, 1.3, 1.5, 2.0)
_MOST_HEADS = 32


def attention_weight_suspicions(weights: Weights, worst: tuple[int, ...]) -> Iterator[Suspicion]:
    """Everything that is tried for the weights.

    Args:
        weights: by the names of `attention_weight`, with the kernels of all roles.
        worst: channels that differ most.
    """
    yield from _exchanged(weights)
    yield from _biases(weights)
    yield from _turned(weights)
    yield from _head_order(weights)
    yield from _heads_gone(weights)
    yield from _kernels(weights)
    yield from _channels(weights, worst)


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
            _AGAIN,
            weights=present,
        )
        for taken, source in ((one, other), (other, one)):
            doubled = {name: value for name, value in present.items() if name.startswith(taken)}
            yield Suspicion(
                "exchanged-weights",
                "Weights are exchanged",
                f"has the weights of its {source} for its {taken} too",
                _AGAIN,
                weights=doubled,
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
                _AGAIN,
                weights={name: np.zeros_like(weights[name]) for name in group},
            )


def _turned(weights: Weights) -> Iterator[Suspicion]:
    for role in reversed(ROLES):
        name = f"{role}_kernel"
        kernel = weights[name]
        flat = _flat(kernel, role)
        if flat.shape[0] == flat.shape[1]:
            yield Suspicion("transposed-kernel", "The kernel is transposed", f"has the kernel of its {role} with inputs and outputs swapped", _AGAIN,
                            weights={name: flat.T.reshape(kernel.shape)})  # fmt: skip
        axes = (0, 1) if role == "output" else (1, 2)
        yield Suspicion(
            "flipped-kernel",
            "The kernel is flipped",
            f"has the kernel of its {role} read backwards",
            _AGAIN,
            weights={name: np.flip(kernel, axes)},
        )


def _flat(kernel: Array, role: str) -> Array:
    return kernel.reshape(-1, kernel.shape[-1]) if role == "output" else kernel.reshape(kernel.shape[0], -1)


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
    title = "Heads are cut otherwise"
    for back in (False, True):
        for roles in (
            ("query", "key", "value", "output"),
            ("query", "key", "value"),
            ("output",),
            ("query",),
            ("key",),
            ("value",),
        ):
            moved: dict[str, Array] = {}
            for role in roles:
                moved |= _regrouped(weights, role, back=back)
            said = " and ".join(roles)
            yield Suspicion(
                "head-order",
                title,
                f"has the heads of its {said} cut in another order (width before heads)",
                HEADS_ADVICE,
                weights=moved,
            )
    backwards = weights["output_kernel"][::-1]
    yield Suspicion(
        "head-order",
        "Heads are in another order",
        "joins its heads in reverse order",
        HEADS_ADVICE,
        weights={"output_kernel": backwards},
    )
    heads = len(weights["output_kernel"])
    for one in range(min(heads, _MOST_HEADS // 4)):
        for other in range(one + 1, min(heads, _MOST_HEADS // 4)):
            order = np.arange(heads)
            order[[one, other]] = order[[other, one]]
            yield Suspicion("head-order", "Heads are in another order", f"has heads {one} and {other} exchanged where it joins them", HEADS_ADVICE,
                            weights={"output_kernel": weights["output_kernel"][order]})  # fmt: skip


def _heads_gone(weights: Weights) -> Iterator[Suspicion]:
    for role in ("output", "query"):
        kernel = weights[f"{role}_kernel"]
        axis = 0 if role == "output" else 1
        for head in range(min(kernel.shape[axis], _MOST_HEADS)):
            gone = {f"{role}_kernel": _without(kernel, axis, head)}
            if role == "query" and "query_bias" in weights:
                gone["query_bias"] = _without(weights["query_bias"], 0, head)
            said = f"has zeros for head {head}" if role == "output" else f"has zeros for the queries of head {head}"
            yield Suspicion("zeroed-channel", "A head is zero", said, _AGAIN, weights=gone)


def _without(values: Array, axis: int, place: int) -> Array:
    made = values.copy()
    np.moveaxis(made, axis, 0)[place] = 0
    return made


def _kernels(weights: Weights) -> Iterator[Suspicion]:
    for role in ROLES:
        name = f"{role}_kernel"
        yield Suspicion(
            "sign",
            "The sign is turned",
            f"has the kernel of its {role} with the opposite sign",
            _AGAIN,
            weights={name: -weights[name]},
        )
        yield Suspicion(
            "weights",
            "The weights are missing",
            f"has a kernel of zeros for its {role}",
            _AGAIN,
            weights={name: 0 * weights[name]},
        )
        for scale in _SCALES:
            yield Suspicion(
                "scaled-weights",
                "The weights are scaled",
                f"has the kernel of its {role} times {scale:.4g}",
                _AGAIN,
                weights={name: scale * weights[name]},
            )


def _channels(weights: Weights, worst: tuple[int, ...]) -> Iterator[Suspicion]:
    names = [name for name in ("output_kernel", "output_bias") if name in weights]
    wide = weights["output_kernel"].shape[-1]
    for channel in (one for one in worst[:3] if one < wide):
        for some in (names, names[:1]):
            yield Suspicion(
                "zeroed-channel",
                "A channel is zero",
                f"has zeros for channel {channel}",
                _AGAIN,
                weights={name: _without(weights[name], -1, channel) for name in some},
            )
    if len(worst) >= 2 and max(worst[:2]) < wide:
        order = np.arange(wide)
        order[list(worst[:2])] = order[list(worst[1::-1])]
        for some in (names, names[:1]):
            yield Suspicion("swapped-channels", "Channels are swapped", f"has channels {worst[0]} and {worst[1]} exchanged", _AGAIN,
                            weights={name: weights[name][..., order] for name in some})  # fmt: skip
