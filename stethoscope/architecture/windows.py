"""The window that a convolution or pooling moves over its input: size, stride, dilation and padding, in any format's spelling.

How far the values of a tensor see: for each of its axes, the stretch of the model's input that one position depends on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.layer_kinds import Kind, kind_of
from stethoscope.types import Layer, Shape

_KERNEL_LAST = re.compile(
    r"^(conv2d|conv3d|depthwiseconv2dnative|conv2dbackpropinputv?2?|conv3dbackpropinputv2|fusedconv2d)$"
)
_SIDES = {1: ("W",), 2: ("H", "W"), 3: ("D", "H", "W")}


@dataclass(frozen=True)
class Window:
    """One number per spatial dimension."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str
    """same, same_lower, valid, causal, or explicit."""
    pads: tuple[tuple[int, int], ...]
    """(before, after) of explicit padding; zeros otherwise."""
    transposed: bool
    channels_first: bool
    groups: int | None = None
    """None where the kernel's own shape says it."""

    @property
    def reach(self) -> tuple[int, ...]:
        """Positions between the first and the last that one window reads, both included."""
        return tuple((size - 1) * step + 1 for size, step in zip(self.kernel, self.dilations, strict=True))


def window_of(layer: Layer, type_name: str = "", config: Mapping[str, Any] | None = None) -> Window | None:
    """Returns the window of a convolution or pooling, None for any other layer or where the file does not say.

    Args:
        layer: of any format.
        type_name, config: of the layer to look at instead, where this one wraps it.
    """
    settings = layer.config if config is None else config
    kind = plain_type(type_name or layer.type)
    family = kind_of(type_name or layer.type, layer.parameters)
    if family not in (Kind.CONVOLUTION, Kind.POOLING, Kind.AVERAGE) or "global" in kind or "adaptive" in kind:
        return None
    kernel = _kernel(kind, settings, [operand.shape for operand in layer.operands])
    if not kernel:
        return None
    rank = len(kernel)
    pools = family is not Kind.CONVOLUTION
    explicit = settings.get("pads") or settings.get("explicit_paddings")
    padding = str(settings.get("padding") or settings.get("border_mode") or settings.get("auto_pad") or "").lower()
    named = {"same_upper": "same", "notset": "explicit", "": "explicit" if "kernel_shape" in settings else "valid"}
    padding = named.get(padding, padding)
    pads = _pads(explicit, rank, settings) if padding == "explicit" else ((0, 0),) * rank
    default = kernel if pools and "pool_size" in settings else (1,) * rank
    return Window(
        kernel=kernel,
        strides=_numbers(settings, ("strides", "subsample"), "stride{}", rank) or default,
        dilations=_numbers(settings, ("dilation_rate", "dilations"), "dilation{}Factor", rank) or (1,) * rank,
        padding=padding,
        pads=pads,
        transposed="transpose" in kind or "deconv" in kind or "backpropinput" in kind,
        channels_first=_is_channels_first(settings),
        groups=next((int(settings[key]) for key in ("groups", "group") if _is_count(settings.get(key))), None),
    )


def after(window: Window, sizes: Sequence[int]) -> tuple[int, ...] | None:
    """Spatial sizes of the output for those of the input; None for a transposed window without plain padding."""
    if window.transposed:
        if window.padding == "same":
            return tuple(size * step for size, step in zip(sizes, window.strides, strict=True))
        return None
    found = []
    for size, step, reach, (before, behind) in zip(sizes, window.strides, window.reach, window.pads, strict=True):
        if window.padding in ("same", "same_lower", "causal"):
            found.append(-(-size // step))
        else:
            found.append((size + before + behind - reach) // step + 1)
    return tuple(found)


def _kernel(kind: str, settings: Mapping[str, Any], operands: Sequence[Shape | None]) -> tuple[int, ...]:
    dimensions = re.search(r"([123])d", kind)
    rank = int(dimensions[1]) if dimensions else 0
    for key in ("kernel_size", "pool_size", "kernel_shape"):
        value: Any = settings.get(key)
        if isinstance(value, list | tuple) and value and all(_is_count(item) for item in value):
            return tuple(value)
        if _is_count(value):
            return (int(value),) * (rank or 1)
    if isinstance(settings.get("nb_row"), int) and isinstance(settings.get("nb_col"), int):
        return settings["nb_row"], settings["nb_col"]
    ksize = settings.get("ksize")
    if isinstance(ksize, list | tuple) and len(ksize) >= 3:
        return tuple(ksize[2:] if _is_channels_first(settings) else ksize[1:-1])
    if "filterHeight" in settings:
        return int(settings["filterHeight"]), int(settings.get("filterWidth", 1))
    shape = operands[1] if len(operands) > 1 else None
    if shape is None or len(shape) < 3 or None in shape:
        return ()
    sizes = tuple(size or 0 for size in shape)
    if "fusedActivationFunction" in settings:
        # TFLite keeps output channels first in two dimensions and last in three.
        return sizes[:3] if "3d" in kind else sizes[1:-1]
    if _KERNEL_LAST.match(kind) and "kernel_shape" not in settings and "group" not in settings:
        return sizes[:-2]
    return sizes[2:] if kind in ("conv", "convtranspose", "convinteger") else sizes[1:-1]


def _numbers(settings: Mapping[str, Any], keys: Sequence[str], sided: str, rank: int) -> tuple[int, ...]:
    for key in keys:
        value: Any = settings.get(key)
        if _is_count(value):
            return (int(value),) * rank
        if isinstance(value, list | tuple) and all(_is_count(item) for item in value):
            if len(value) == rank:
                return tuple(value)
            if len(value) == rank + 2:
                return tuple(value[2:] if _is_channels_first(settings) else value[1:-1])
    found: list[Any] = [settings.get(sided.format(side)) for side in _SIDES.get(rank, ())]
    return tuple(int(item) for item in found if item) if found and all(_is_count(item) for item in found) else ()


def _pads(value: Any, rank: int, settings: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, int) for item in value):
        return ((0, 0),) * rank
    if len(value) == 2 * rank:
        return tuple((value[axis], value[axis + rank]) for axis in range(rank))
    if len(value) == 2 * rank + 4:
        pairs = [(value[at], value[at + 1]) for at in range(0, len(value), 2)]
        return tuple(pairs[2:] if _is_channels_first(settings) else pairs[1:-1])
    return ((0, 0),) * rank


def _is_channels_first(settings: Mapping[str, Any]) -> bool:
    """As the settings say; always in ONNX, which has no such setting."""
    named = settings.get("data_format")
    if named is not None:
        return named == "channels_first" or str(named).startswith("NC")
    return any(key in settings for key in ("kernel_shape", "auto_pad", "pads", "group"))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


Source = tuple[str, int]
"""An axis of one of the model's inputs: (input's path, axis)."""


@dataclass(frozen=True)
class Stretch:
    """What position i along an axis sees of a source: `size` input positions around `start + i · jump`.

    `whole` says that it also depends on every position, by a path that pools, attends or connects all with all.
    Source: Araujo, Norris, Sim: "Computing Receptive Fields of Convolutional Neural Networks", distill.pub/2019/computing-receptive-fields.
    """

    size: Fraction = Fraction(1)
    jump: Fraction = Fraction(1)
    start: Fraction = Fraction(0)
    whole: bool = False

    def moved(self, reach: int, stride: Fraction, before: Fraction) -> Stretch:
        """After a window of `reach` positions with `before` padded in front: r + (k − 1)·j, j·s, start + ((k − 1)/2 − p)·j."""
        return Stretch(
            self.size + (reach - 1) * self.jump,
            self.jump * stride,
            self.start + (Fraction(reach - 1, 2) - before) * self.jump,
            self.whole,
        )

    def spread(self, reach: Fraction, stride: int, before: Fraction) -> Stretch:
        """After a transposed window: an output position reads at most ⌈k / s⌉ input positions."""
        reads = -(-int(reach) // stride)
        centre = (before - (reach - 1) / 2) / stride
        return Stretch(
            self.size + (reads - 1) * self.jump, self.jump / stride, self.start + centre * self.jump, self.whole
        )

    def scaled(self, factor: Fraction, neighbours: int) -> Stretch:
        """After resizing to `factor` times the length, each position made of `neighbours` old ones."""
        jump = self.jump / factor
        start = self.start + (jump - self.jump) / 2
        return Stretch(self.size + (neighbours - 1) * self.jump, jump, start, self.whole)

    def joined(self, other: Stretch) -> Stretch:
        """Of a position that sees what both see."""
        left = min(self.start - (self.size - 1) / 2, other.start - (other.size - 1) / 2)
        right = max(self.start + (self.size - 1) / 2, other.start + (other.size - 1) / 2)
        jump = max(self.jump, other.jump)
        return Stretch(right - left + 1, jump, (left + right) / 2, self.whole or other.whole)


Axis = Mapping[Source, Stretch]


@dataclass(frozen=True)
class Reach:
    """Of one tensor: what each axis sees, and what all of its values see alike."""

    axes: tuple[Axis, ...]
    fixed: Axis = field(default_factory=dict)

    def everything(self) -> dict[Source, Stretch]:
        """Each source that a value depends on."""
        return join([*self.axes, self.fixed])

    def folded(self, gone: Iterable[int], keep: bool = False, whole: bool = True) -> Reach:
        """Without some axes: every value depends on all their positions, or (`whole` false) on one of them."""
        taken = {axis % len(self.axes) for axis in gone}
        lost = [entire(self.axes[axis]) if whole else self.axes[axis] for axis in sorted(taken)]
        kept = [axis for at, axis in enumerate(self.axes) if at not in taken or keep]
        if keep:
            kept = [{} if at in taken else axis for at, axis in enumerate(self.axes)]
        return Reach(tuple(kept), join([self.fixed, *lost]))

    def mixed(self, over: Iterable[int]) -> Reach:
        """Each value depends on all positions of these axes, which stay."""
        taken = {axis % len(self.axes) for axis in over}
        axes = tuple(entire(axis) if at in taken else axis for at, axis in enumerate(self.axes))
        lost = [entire(self.axes[axis]) for axis in sorted(taken)]
        return Reach(axes, join([self.fixed, *lost]))


def join(axes: Sequence[Axis]) -> dict[Source, Stretch]:
    """What is seen by whoever sees all of these."""
    found: dict[Source, Stretch] = {}
    for axis in axes:
        for source, stretch in axis.items():
            found[source] = found[source].joined(stretch) if source in found else stretch
    return found


def entire(axis: Axis) -> dict[Source, Stretch]:
    """The same sources, seen whole."""
    return {source: replace(stretch, whole=True) for source, stretch in axis.items()}


def broadcast(parts: Sequence[Reach]) -> Reach:
    """Of an elementwise operation: axes are aligned at the end."""
    rank = max(len(part.axes) for part in parts)
    axes = []
    for back in range(-rank, 0):
        axes.append(join([part.axes[back] for part in parts if len(part.axes) >= -back]))
    return Reach(tuple(axes), join([part.fixed for part in parts]))
