"""How far the values of a tensor see: for each of its axes, the stretch of the model's input that one position depends on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

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
