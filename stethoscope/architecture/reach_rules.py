"""How each kind of layer or operator passes on what its input sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.layer_kinds import Kind, kind_of
from stethoscope.architecture.windows import Axis, Reach, Stretch, Window, broadcast, join, window_of
from stethoscope.types import Layer

Size = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One call of a layer: what its operands see, with the sizes of operands and output. Weights see nothing: None."""

    layer: Layer
    reads: tuple[Reach | None, ...]
    sizes: tuple[Size | None, ...]
    made: Size | None

    @property
    def kind(self) -> str:
        """The type in one spelling."""
        return plain_type(self.layer.type)

    def tensors(self) -> list[tuple[Reach, Size]]:
        """The operands that come from the model's inputs, with their sizes."""
        return [(reach, size) for reach, size in zip(self.reads, self.sizes, strict=True) if reach and size is not None]


Rule = Callable[[Step], Reach | None]


def after(step: Step) -> Reach | None:
    """What the output sees; None where that cannot be told."""
    given = step.tensors()
    if not given:
        return Reach(()) if step.made is None else Reach(({},) * len(step.made))
    if step.made is None:
        return None
    rule = _RULES.get(step.kind)
    family = kind_of(step.layer.type, step.layer.parameters)
    if rule is None:
        rule = _FAMILIES.get(family)
    try:
        found = rule(step) if rule is not None else None
    except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError):
        return None  # Settings that do not fit the sizes.
    return found if found is not None and len(found.axes) == len(step.made) else None


def windowed_axes(window: Window, rank: int) -> range:
    """The axes of a tensor that a window moves along."""
    first = 2 if window.channels_first else 1
    return range(max(first, rank - len(window.kernel) - (0 if window.channels_first else 1)), rank)[
        : len(window.kernel)
    ]


def _window(step: Step) -> Reach | None:
    reach, size = step.tensors()[0]
    window = window_of(step.layer)
    if window is None:
        return _folded_or_scaled(step)
    axes: list[Axis] = list(reach.axes)
    for at, axis in enumerate(windowed_axes(window, len(axes))):
        axes[axis] = {source: _moved(stretch, window, at, size[axis]) for source, stretch in axes[axis].items()}
    moved = Reach(tuple(axes), reach.fixed)
    mixes = kind_of(step.layer.type, 0) is Kind.CONVOLUTION and "depthwise" not in step.kind
    channel = 1 if window.channels_first else len(axes) - 1
    return moved.folded([channel], keep=True) if mixes else moved


def _moved(stretch: Stretch, window: Window, at: int, size: int) -> Stretch:
    reach, stride = window.reach[at], window.strides[at]
    if window.transposed:
        crop = max(0, reach - stride) if window.padding == "same" else 2 * window.pads[at][0]
        return stretch.spread(Fraction(reach), stride, Fraction(crop // 2))
    before = window.pads[at][0]
    if window.padding in ("same", "same_lower"):
        padded = max(0, (-(-size // stride) - 1) * stride + reach - size)
        before = padded // 2 if window.padding == "same" else -(-padded // 2)
    elif window.padding == "causal":
        before = reach - 1
    return stretch.moved(reach, Fraction(stride), Fraction(before))


def _folded_or_scaled(step: Step) -> Reach | None:
    """Pooling over everything, or a reduction: axes that vanish or become one are seen whole."""
    reach, size = step.tensors()[0]
    made = step.made or ()
    if len(made) == len(size):
        gone = [axis for axis in range(1, len(size)) if made[axis] == 1 and size[axis] != 1]
        return reach.folded(gone, keep=True)
    kept = _subsequence(made, size)
    return None if kept is None else reach.folded([axis for axis in range(len(size)) if axis not in kept])


def _subsequence(made: Sequence[int], size: Sequence[int]) -> list[int] | None:
    """Positions of `size` that stay, as far to the front as they fit and the last one at the end where it can be."""
    kept: list[int] = []
    at = len(size) - 1
    for wanted in reversed(made):
        while at >= 0 and size[at] != wanted:
            at -= 1
        if at < 0:
            return None
        kept.append(0 if len(kept) == len(made) - 1 and size[0] == wanted else at)
        at -= 1
    return kept


def _elementwise(step: Step) -> Reach | None:
    return broadcast([reach for reach, _ in step.tensors()])


def _normalised(step: Step) -> Reach | None:
    """Statistics over axes make every value depend on all of them; those of batch normalisation are stored."""
    reach, _ = step.tensors()[0]
    if "batchnorm" in step.kind or step.kind in ("normalization", "batchnormalization"):
        return reach
    last = len(reach.axes) - 1
    if step.kind.startswith(("group", "instance")):
        return reach.mixed(range(1, last + 1))
    axes = step.layer.config.get("axis", -1)
    chosen = [axes] if isinstance(axes, int) else [axis for axis in axes or [-1] if isinstance(axis, int)]
    return reach.mixed(chosen)


def _softmax(step: Step) -> Reach | None:
    reach, _ = step.tensors()[0]
    name = str(step.layer.config.get("activation", step.kind))
    if "softmax" not in name:
        return reach
    axis = step.layer.config.get("axis", -1)
    return reach.mixed([axis] if isinstance(axis, int) else [-1])


def _dense(step: Step) -> Reach | None:
    reach, size = step.tensors()[0]
    made = step.made or ()
    if len(made) == len(size):
        return reach.folded([-1], keep=True)
    return Reach(({},) * len(made), reach.folded(range(len(size))).fixed)


def _matmul(step: Step) -> Reach | None:
    given = step.tensors()
    made = step.made or ()
    left, right = step.reads[0], step.reads[1] if len(step.reads) > 1 else None
    if left is None or right is None:
        return _dense(step) if left is not None else given[0][0].folded([-2 % len(given[0][0].axes)], keep=True)
    sizes = step.sizes[0], step.sizes[1]
    if sizes[0] is None or sizes[1] is None or min(len(sizes[0]), len(sizes[1]), len(made)) < 2:
        return None
    inner_left = -1 if sizes[0][-2] == made[-2] else -2
    inner_right = -2 if sizes[1][-1] == made[-1] else -1
    gone = [left.folded([inner_left]).fixed, right.folded([inner_right]).fixed]
    lead = broadcast([Reach(left.axes[:-2] or ({},)), Reach(right.axes[:-2] or ({},))]).axes if len(made) > 2 else ()
    rows, columns = left.axes[-3 - inner_left], right.axes[-3 - inner_right]
    return Reach((*lead, rows, columns), join(gone))


def _reshaped(step: Step) -> Reach | None:
    """Axes are grouped by equal products of their sizes; those of a group see what any of them saw."""
    reach, size = step.tensors()[0]
    made, axes = step.made or (), []
    old, new = 0, 0
    while new < len(made) or old < len(size):
        first_old, first_new = old, new
        left = size[old] if old < len(size) else 1
        right = made[new] if new < len(made) else 1
        old, new = min(old + 1, len(size)), min(new + 1, len(made))
        while left != right:
            if left < right and old < len(size):
                left, old = left * size[old], old + 1
            elif right < left and new < len(made):
                right, new = right * made[new], new + 1
            else:
                return None
        group = [axis for axis in reach.axes[first_old:old] if axis]
        single = len(group) == 1 and sum(item > 1 for item in made[first_new:new]) == 1
        for at in range(first_new, new):
            axes.append(dict(group[0]) if single and made[at] > 1 else {} if single else join(group))
    return Reach(tuple(axes), reach.fixed)


def _permuted(step: Step) -> Reach | None:
    reach, size = step.tensors()[0]
    made = step.made or ()
    order = step.layer.config.get("perm") or step.layer.config.get("dims")
    if isinstance(order, list | tuple) and all(isinstance(axis, int) for axis in order):
        order = [0, *order] if len(order) == len(size) - 1 else list(order)
        if sorted(order) == list(range(len(size))):
            return Reach(tuple(reach.axes[axis] for axis in order), reach.fixed)
    free, found = list(range(len(size))), []
    for wanted in made:
        axis = next((axis for axis in free if size[axis] == wanted), None)
        if axis is None:
            return None
        free.remove(axis)
        found.append(axis)
    return Reach(tuple(reach.axes[axis] for axis in found), reach.fixed)


def _looked_up(step: Step) -> Reach | None:
    """An embedding adds an axis of features; taking one position of an axis removes it."""
    given, made = step.tensors(), step.made or ()
    reach, size = given[-1] if step.kind == "embeddinglookup" else given[0]
    if len(made) == len(size) + 1:
        return Reach((*reach.axes, {}), reach.fixed)
    if len(made) == len(size):
        return reach
    kept = _subsequence(made, size)
    return None if kept is None else reach.folded([axis for axis in range(len(size)) if axis not in kept], whole=False)


def _resized(step: Step) -> Reach | None:
    """Padding, cropping, up-sampling: told by the sizes before and after."""
    reach, size = step.tensors()[0]
    made = step.made or ()
    if len(made) != len(size):
        return _looked_up(step)
    scales = step.kind.startswith(("upsampling", "resiz", "upsample"))
    smooth = "linear" in str(step.layer.config.get("interpolation", step.layer.config.get("mode", step.kind)))
    axes = []
    for axis, (before, behind) in enumerate(zip(size, made, strict=True)):
        stretches = reach.axes[axis]
        if scales and before and behind and before != behind:
            factor = Fraction(behind, before)
            stretches = {key: value.scaled(factor, 2 if smooth else 1) for key, value in stretches.items()}
        elif not scales and before != behind:
            shift = _in_front(step.layer, axis, behind - before)
            stretches = {key: value.moved(1, Fraction(1), shift) for key, value in stretches.items()}
        axes.append(stretches)
    return Reach(tuple(axes), reach.fixed)


def _in_front(layer: Layer, axis: int, added: int) -> Fraction:
    """Positions put before the first (cut off where negative): as the settings say, else half of them."""
    value = layer.config.get("padding") if added > 0 else layer.config.get("cropping")
    at = axis - (2 if layer.config.get("data_format") == "channels_first" else 1)
    if isinstance(value, list | tuple) and 0 <= at < len(value):
        item = value[at]
        first = item[0] if isinstance(item, list | tuple) and item else item if len(value) > 1 or at else value[0]
        if isinstance(first, int):
            return Fraction(first if added > 0 else -first)
    return Fraction(math.floor(Fraction(added, 2)) if added > 0 else math.ceil(Fraction(added, 2)))


def _all_positions(step: Step) -> Reach | None:
    """Recurrent layers and attention: every position may see every other."""
    seen = join([reach.folded(range(1, len(reach.axes))).fixed for reach, _ in step.tensors()])
    first, made = step.tensors()[0][0], step.made or ()
    if len(made) == len(first.axes):
        return Reach((*first.mixed(range(1, len(first.axes))).axes[:-1], {}), seen)
    return Reach(({},) * len(made), seen)


def _joined(step: Step) -> Reach | None:
    parts = [reach for reach, size in step.tensors() if len(size) == len(step.made or ())]
    return broadcast(parts) if parts else None


def _summed_up(step: Step) -> Reach | None:
    reach, _ = step.tensors()[0]
    return reach.mixed(range(1, len(reach.axes)))


def _sees_nothing(step: Step) -> Reach | None:
    return Reach(({},) * len(step.made or ()))


_FAMILIES: dict[Kind, Rule] = {
    Kind.CONVOLUTION: _window,
    Kind.POOLING: _window,
    Kind.AVERAGE: _window,
    Kind.DENSE: _dense,
    Kind.NORMALIZATION: _normalised,
    Kind.ACTIVATION: _softmax,
    Kind.DROPOUT: _elementwise,
    Kind.MERGE: _elementwise,
    Kind.PRODUCT: _elementwise,
    Kind.RECURRENT: _all_positions,
    Kind.ATTENTION: _all_positions,
    Kind.TRANSFORMER: _all_positions,
    Kind.EMBEDDING: _looked_up,
    Kind.INPUT: _elementwise,
}


def _by_name(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


_RULES: dict[str, Rule] = {
    **_by_name("reshape flatten squeeze unsqueeze expanddims", _reshaped),
    **_by_name(
        "identity cast rescaling stopgradient masking quantizelinear dequantizelinear quantize dequantize", _elementwise
    ),
    **_by_name(
        "fakequantwithminmaxvars fakequantwithminmaxvarsperchannel select selectv2 where normalization", _elementwise
    ),
    **_by_name("minimum maximum abs sign round floor rsqrt logicaland equal notequal greater less", _elementwise),
    **_by_name("cumsum cumprod reverse reversev2 roll", _summed_up),
    **_by_name("oneslike zeroslike shape constantofshape fill range size", _sees_nothing),
    **_by_name("permute transpose", _permuted),
    **_by_name(
        "gather gatherv2 resourcegather embeddinglookup take getitem slice stridedslice split splitv unpack unstack",
        _looked_up,
    ),
    **_by_name(
        "pad padv2 mirrorpad resize resizing resizebilinear resizenearestneighbor upsample centercrop", _resized
    ),
    **{f"{kind}{rank}d": _resized for kind in ("zeropadding", "cropping", "upsampling") for rank in (1, 2, 3)},
    **_by_name("concatenate concat concatv2 concatenation", _joined),
    **_by_name("matmul batchmatmul batchmatmulv2 batchmatmulv3", _matmul),
    **_by_name(
        "mean sum max min prod reducemean reducesum reducemax reducemin reduceprod globalaveragepool globalmaxpool",
        lambda step: _elementwise(step) if len(step.tensors()) > 1 else _folded_or_scaled(step),
    ),
}
