"""Steps that bring values into the range a model takes, and rows into its shape.

Steps that bring rows of one shape, or of several, into the shape a model takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.evidence.data_fit.expected_input import ExpectedInput
from stethoscope.evidence.data_fit.sampled_rows import Statistics
from stethoscope.evidence.input_route import UNEVEN, scale_of
from stethoscope.types import Shape

Now = Literal["pixels", "unit", "signed", "other"]
Steps = list[dict[str, Any]]
_SLACK = 1e-3
_DIM = 1.5
"""Pixels whose largest value is below this were scaled already."""
_FEWER_BITS = 64.0
"""Pixels that reach this at most are of fewer bits: their own largest value is full scale, as 16 is of scanned digits."""
MAX_COLUMNS = 2_000
MANY_DEVIATIONS = 5.0
"""A mean this many deviations of the training data away is another unit, not another sample."""
OTHER_SCALE = 10.0
"""As is a spread ten times larger or smaller."""


def now(profile: ArrayProfile, *, image: bool) -> Now:
    """How values are: by their least and most."""
    low, high = profile.minimum, profile.maximum
    if low is None or high is None:
        return "other"
    if low >= -_SLACK and high <= 1 + _SLACK:
        # A dark picture in uint8 is pixels all the same.
        return "pixels" if profile.dtype == "uint8" and image else "unit"
    if low >= -1 - _SLACK and high <= 1 + _SLACK:
        return "signed"
    if low >= 0 and high <= 255.5 and (image or (profile.integral and high > 100)):
        return "pixels"
    return "other"


def wrong(expected: ExpectedInput, profile: ArrayProfile) -> str:
    """Why values are not in the range the model takes; "" when they are, or when the file does not say."""
    low, high = profile.minimum, profile.maximum
    if low is None or high is None:
        return ""
    span = f"{low:,.4g} to {high:,.4g}"
    is_now = now(profile, image=expected.kind == "image")
    mode = expected.mode
    if mode == "tokens" and expected.range is not None:
        if not profile.integral:
            return f"expected whole numbers, got fractions ({span})"
        if low < 0 or high > expected.range[1]:
            return f"expected numbers from 0 to {expected.range[1]:,.0f}, got {span}"
        return ""
    if mode == "pixels":
        if is_now in ("unit", "signed"):
            return f"expected pixels from 0 to 255, got {span}: scaled already, and the model scales again"
        return "" if is_now == "pixels" else f"expected pixels from 0 to 255, got {span}"
    if mode == "signed":
        if is_now == "unit" and profile.dtype != "uint8":
            return f"expected values from −1 to 1, got {span}"
        return "" if is_now == "signed" else f"expected values from −1 to 1, got {span}"
    if mode == "caffe":
        inside = -125 <= low <= -20 and 20 <= high <= 152
        return "" if inside else f"expected pixels less the mean colour (about −124 to 151), got {span}"
    if mode == "torch":
        # Standardized, black to white of each channel reach beyond −1 and 1.
        inside = -2.2 <= low < 0 < high <= 2.7 and is_now != "signed"
        return "" if inside else f"expected pixels standardized per channel (about −2.1 to 2.6), got {span}"
    if mode == "quantised":
        # Values of another dtype that fit would be taken as they are, without quantising them.
        return (
            ""
            if profile.dtype == expected.dtype
            else f"expected {expected.dtype} as quantised, got {profile.dtype} from {span}"
        )
    if mode == "around 0":
        return _far_from_0(expected, profile, span)
    if expected.trained is not None:
        return _unlike_training(expected.trained, profile)
    if expected.range is not None and (
        low > expected.range[1] or high < expected.range[0] or _far(expected.range, low, high)
    ):
        return f"expected values of about {expected.range[0]:,.4g} to {expected.range[1]:,.4g}, got {span}"
    return ""


def _unlike_training(trained: Statistics, profile: ArrayProfile) -> str:
    """The first column that is of another size than in training."""
    features = profile.features
    if features is not None and len(features.mean) == len(trained.mean):
        means, stds = features.mean, features.std
    elif len(trained.mean) == 1:
        means, stds = (profile.mean or 0.0,), (profile.std or 0.0,)
    else:
        return ""
    for place, (mean, std, was, spread) in enumerate(zip(means, stds, trained.mean, trained.std, strict=True)):
        another = abs(mean - was) > MANY_DEVIATIONS * spread or not spread / OTHER_SCALE < std < spread * OTHER_SCALE
        if spread > 0 and another:
            column = f"column {place}" if len(means) > 1 else "values"
            return f"expected {column} of about {was:,.4g} ± {spread:,.3g} as in training, got {mean:,.4g} ± {std:,.3g}"
    return ""


def _far(span: tuple[float, float], low: float, high: float) -> bool:
    """Whether values cover another order of magnitude than the range they should."""
    width, wanted = high - low, span[1] - span[0]
    return wanted > 0 and width > 0 and (width > 10 * wanted or wanted > 100 * width)


def _far_from_0(expected: ExpectedInput, profile: ArrayProfile, span: str) -> str:
    scale = scale_of(profile)
    if scale is None:
        return ""
    if now(profile, image=expected.kind == "image") == "pixels" and (profile.maximum or 0) > _DIM:
        return f"expected values around 0, about 1 in size, got pixels from {span}"
    if scale.smallest > 0 and scale.largest / scale.smallest >= UNEVEN and scale.largest >= 1:
        return f"expected columns of one scale, got columns {scale.largest / scale.smallest:,.0f}-fold apart ({span})"
    return "" if scale.level == "fine" else f"expected values around 0, about 1 in size, got {span}"


def range_routes(of: str, expected: ExpectedInput, profile: ArrayProfile) -> list[Steps]:
    """Sequences of steps to try, best first; [[]] when nothing needs to change.

    Args:
        of: the array's name.
        expected: the input.
        profile: of the values, in the shape the model takes.
    """
    if not wrong(expected, profile):
        return [[]]
    is_now = now(profile, image=expected.kind == "image")
    mode = expected.mode
    if mode == "pixels":
        back = {"unit": (255.0, 0.0), "signed": (127.5, 127.5)}.get(is_now)
        return [[_scale(of, *back)]] if back else []
    if mode in ("signed", "caffe", "torch"):
        return _prepared(of, expected, is_now)
    if mode == "quantised" and expected.quantisation is not None:
        scale, zero = expected.quantisation
        quantise = {"step": "quantise", "of": of, "scale": scale, "zero_point": zero, "dtype": expected.dtype}
        high = (255 - zero) * scale
        first = [_scale(of, 1 / 255)] if is_now == "pixels" and high <= 2 else []
        return [[*first, quantise], *([[quantise]] if first else [])]
    if mode == "any":
        # Data prepared in one of the usual ways, for a model that does it itself.
        return [[_scale(of, 255.0)], [_scale(of, 127.5, 127.5)], [_scale(of, 1 / 255)]]
    if mode == "around 0":
        standard = [_standardize(of, profile)]
        if is_now != "pixels":
            return [standard]
        if _DIM < (profile.maximum or 0.0) <= _FEWER_BITS:
            return [[_scale(of, 1 / (profile.maximum or 1.0))], [_scale(of, 1 / 255)], standard]
        return [[_scale(of, 1 / 255)], [_scale(of, 1 / 127.5, -1.0)], standard]
    return []


def _prepared(of: str, expected: ExpectedInput, is_now: Now) -> list[Steps]:
    to_pixels = {"pixels": [], "unit": [_scale(of, 255.0)], "signed": [_scale(of, 127.5, 127.5)]}.get(is_now)
    if to_pixels is None:
        return []
    if expected.mode == "signed":
        return [[_scale(of, 1 / 127.5, -1.0)]] if is_now == "pixels" else [[_scale(of, 2.0, -1.0)]]
    axis = expected.channel_axis or -1
    return [[*to_pixels, {"step": "imagenet", "of": of, "mode": expected.mode, "axis": axis}]]


def _standardize(of: str, profile: ArrayProfile) -> dict[str, Any]:
    """With the numbers of this data: one pair per column where there are columns."""
    features = profile.features
    if features is not None and 1 < len(features.mean) <= MAX_COLUMNS:
        mean, std = [_short(value) for value in features.mean], [_short(value) for value in features.std]
    else:
        mean, std = [_short(profile.mean or 0.0)], [_short(profile.std or 1.0)]
    return {"step": "standardize", "of": of, "mean": mean, "std": std}


def _short(value: float) -> float:
    """Six digits: more would only be noise of the sample."""
    return float(f"{value:.6g}")


def _scale(of: str, factor: float, offset: float = 0.0) -> dict[str, Any]:
    return {"step": "scale", "of": of, "factor": factor} | ({"offset": offset} if offset else {})


RowShape = tuple[int, ...]
_CHANNELS_IN = (1, 2, 3, 4)
_SAME_ASPECT = 0.02
_USUAL_SIZE = 224
"""Where the model takes any size: what most image networks are trained on."""


def fits(have: RowShape, want: Shape) -> bool:
    """Whether a row of shape `have` is one of shape `want` (None: any size)."""
    return len(have) == len(want) and all(size in (None, own) for own, size in zip(have, want, strict=True))


def shape_routes(of: str, shapes: Sequence[RowShape], expected: ExpectedInput) -> list[Steps]:
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
