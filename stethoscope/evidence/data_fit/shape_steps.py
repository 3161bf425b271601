"""Steps that bring rows of one shape, or of several, into the shape a model takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from stethoscope.evidence.data_fit.expected_input import ExpectedInput
from stethoscope.types import Shape

Steps = list[dict[str, Any]]
RowShape = tuple[int, ...]
_CHANNELS_IN = (1, 2, 3, 4)
_SAME_ASPECT = 0.02
_USUAL_SIZE = 224
"""Where the model takes any size: what most image networks are trained on."""


def fits(have: RowShape, want: Shape) -> bool:
    """Whether a row of shape `have` is one of shape `want` (None: any size)."""
    return len(have) == len(want) and all(size in (None, own) for own, size in zip(have, want, strict=True))


def routes(of: str, shapes: Sequence[RowShape], expected: ExpectedInput) -> list[Steps]:
    """Sequences of steps to try, best first; [[]] when nothing needs to change, [] when none is known.

    Args:
        of: the array's name.
        shapes: every shape of a row that was seen; at least one.
        expected: the input.
    """
    if expected.shape is None or not expected.shape:
        return [[]]
    want = expected.shape[1:]
    if len(shapes) == 1 and fits(shapes[0], want):
        return [[]]
    if expected.kind == "image":
        found = _images(of, shapes, want, expected.channel_axis or -1)
    elif len(want) == 0:
        found = [[_step("remove_axis", of)]] if all(shape == (1,) for shape in shapes) else []
    elif len(want) == 1:
        found = _lines(of, shapes, want[0], tokens=expected.kind in ("tokens", "sequence"))
    else:
        found = _blocks(of, shapes, want)
    return found or _same_values(of, shapes, want)


def _images(of: str, shapes: Sequence[RowShape], want: Shape, axis: int) -> list[Steps]:
    ranks = {len(shape) for shape in shapes}
    if ranks == {4} and all(shape[0] == 1 for shape in shapes):
        return [[_step("remove_axis", of, axis=1), *rest] for rest in _images(of, [s[1:] for s in shapes], want, axis)]
    if ranks not in ({2}, {3}):
        return []
    height, width, channels = want if axis == -1 else (want[1], want[2], want[0])
    begin: Steps = []
    if ranks == {2}:
        sizes, have = [(shape[0], shape[1]) for shape in shapes], 0
    elif all(shape[-1] in _CHANNELS_IN for shape in shapes):
        sizes, have = [(shape[0], shape[1]) for shape in shapes], _only({shape[-1] for shape in shapes})
    elif all(shape[0] in _CHANNELS_IN for shape in shapes):
        sizes, have = [(shape[1], shape[2]) for shape in shapes], _only({shape[0] for shape in shapes})
        begin = [_step("transpose", of, axes=[0, 2, 3, 1])]
    else:
        return []
    recoloured = _recoloured(of, have, channels)
    if recoloured is None:
        return []
    end = [_step("transpose", of, axes=[0, 3, 1, 2])] if axis == 1 else []
    return [[*begin, *resized, *recoloured, *end] for resized in _resized(of, sizes, height, width)]


def _recoloured(of: str, have: int, want: int | None) -> Steps | None:
    """Steps from `have` channels (0: no such axis) to `want`; None where there are none."""
    if want is None or have == want:
        return [] if have else [_step("add_axis", of)]
    turns = {
        (0, 1): ["add_axis"],
        (0, 3): ["grey_to_rgb"],
        (1, 3): ["grey_to_rgb"],
        (4, 3): ["drop_alpha"],
        (2, 1): ["drop_alpha"],
        (3, 1): ["rgb_to_grey"],
        (4, 1): ["drop_alpha", "rgb_to_grey"],
        (2, 3): ["drop_alpha", "grey_to_rgb"],
    }.get((have, want))
    if turns is None:
        return None
    return [_step("add_axis", of) if turn == "add_axis" else _step("channels", of, mode=turn) for turn in turns]


def _resized(of: str, sizes: Sequence[tuple[int, int]], height: int | None, width: int | None) -> list[Steps]:
    if all(size == sizes[0] for size in sizes) and height in (None, sizes[0][0]) and width in (None, sizes[0][1]):
        return [[]]
    tall, wide = height or width or _USUAL_SIZE, width or height or _USUAL_SIZE
    aspect = wide / tall
    same = all(abs(across / down / aspect - 1) <= _SAME_ASPECT for down, across in sizes if down and across)
    ways = ("stretch",) if same else ("stretch", "crop", "pad")
    return [[_step("resize", of, height=tall, width=wide, fit=fit)] for fit in ways]


def _lines(of: str, shapes: Sequence[RowShape], size: int | None, *, tokens: bool) -> list[Steps]:
    ranks = {len(shape) for shape in shapes}
    if ranks == {0}:
        return [[_step("add_axis", of)]] if size in (None, 1) else []
    if ranks == {1}:
        lengths = sorted(shape[0] for shape in shapes)
        if tokens or len(set(lengths)) > 1:
            return [[_step("pad", of, length=size or lengths[-1])]]
        if size is not None and lengths[0] > size:
            return [[_step("select_columns", of, columns=list(range(size)))]]
        return []
    values = {math.prod(shape) for shape in shapes}
    return [[_step("flatten", of)]] if len(shapes) == 1 and (size is None or values == {size}) else []


def _blocks(of: str, shapes: Sequence[RowShape], want: Shape) -> list[Steps]:
    """Two axes and more: time and channels above all."""
    ranks = {len(shape) for shape in shapes}
    padded = len({shape[0] if shape else 0 for shape in shapes}) > 1 or (
        want[0] is not None and bool(shapes[0]) and shapes[0][0] != want[0]
    )
    length = want[0] or max((shape[0] for shape in shapes if shape), default=1)
    if ranks == {len(want)}:
        if all(fits(shape[::-1], want) for shape in shapes) and len(want) == 2:
            return [[_step("transpose", of, axes=[0, 2, 1])]]
        if padded and all(fits(shape[1:], want[1:]) for shape in shapes):
            return [[_step("pad", of, length=length)]]
    if ranks == {len(want) - 1} and want[-1] in (1, None):
        pad = [_step("pad", of, length=length)] if padded else []
        return [[*pad, _step("add_axis", of)]]
    if ranks == {len(want) + 1} and all(shape[-1] == 1 for shape in shapes):
        return [[_step("remove_axis", of)]]
    return []


def _same_values(of: str, shapes: Sequence[RowShape], want: Shape) -> list[Steps]:
    """The same values in another shape, where their number is right."""
    if len(shapes) != 1 or want.count(None) > 1:
        return []
    known = math.prod(size for size in want if size is not None)
    values = math.prod(shapes[0])
    right = values == known if None not in want else known and values % known == 0
    return [[_step("reshape", of, shape=[-1 if size is None else size for size in want])]] if right and want else []


def _only(sizes: set[int]) -> int:
    return sizes.pop() if len(sizes) == 1 else -1


def _step(kind: str, of: str, **params: Any) -> dict[str, Any]:
    return {"step": kind, "of": of, **params}
