"""What one call of a layer computes; and for Keras' layers, from their settings and shapes: dense, convolutions, pooling, normalisation, lookups and merges.

What one call of a layer computes: multiply-adds, other operations, and how activation functions count.

Conventions, those of TensorFlow's profiler: a multiply-add is two operations; additions, products, comparisons and means count
one each, a reciprocal square root two, softmax five per element; activation functions that the profiler does not count (ReLU,
sigmoid, tanh, erf, exp) and moving data (reshape, concatenation, padding, resizing, lookups) count nothing.
Source: tensorflow/python/profiler/internal/flops_registry.py; tensorflow/python/ops/{math,nn}_ops.py (RegisterStatistics).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.architecture.activations import OPERATORS, plain_type
from stethoscope.architecture.layer_kinds import activation_of, kind_of
from stethoscope.architecture.windows import window_of
from stethoscope.types import Layer

Size = tuple[int, ...]


class Unknown(Exception):
    """The work of this call cannot be known; the text says why."""


@dataclass(frozen=True)
class Work:
    """Of one call: `macs` multiply-adds, and `other` operations that are none."""

    macs: int = 0
    other: int = 0

    @property
    def flops(self) -> int:
        """Floating-point operations: two for each multiply-add."""
        return 2 * self.macs + self.other

    def __add__(self, more: Work) -> Work:
        return Work(self.macs + more.macs, self.other + more.other)

    def times(self, count: int) -> Work:
        """The same, `count` times."""
        return Work(self.macs * count, self.other * count)


@dataclass(frozen=True)
class Given:
    """One call with every size a number.

    `type`, `config` are of the layer itself, or of the one it wraps.
    """

    layer: Layer
    type: str
    config: Mapping[str, Any]
    operands: tuple[Size | None, ...]
    output: Size | None

    @property
    def kind(self) -> str:
        """The type in one spelling."""
        return plain_type(self.type)

    def read(self, index: int = 0) -> Size:
        """The sizes of one operand.

        Raises:
            Unknown: they are not known.
        """
        size = self.operands[index] if -len(self.operands) <= index < len(self.operands) else None
        if size is None:
            raise Unknown("the sizes of what it reads are not known")
        return size

    def made(self) -> Size:
        """The sizes of the output.

        Raises:
            Unknown: they are not known.
        """
        if self.output is None:
            raise Unknown("the size of its output is not known")
        return self.output

    def number(self, *keys: str, default: int | None = None) -> int:
        """An integer setting.

        Raises:
            Unknown: the file does not have it, and there is no default.
        """
        for key in keys:
            value = self.config.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        if default is None:
            raise Unknown(f"its setting {keys[0]!r} is not in the file")
        return default

    def flag(self, key: str, default: bool) -> bool:
        """A yes or no setting."""
        value = self.config.get(key)
        return default if value is None else bool(value)


Rule = Callable[[Given], Work]

_PER_ELEMENT = {"quickgelu": 2, "clip": 2, "clipbyvalue": 2}
"""Operations per element, beside those of activations."""


def activation(given: Given, elements: int, key: str = "activation") -> Work:
    """The activation function that a layer applies to `elements` values; none counts nothing."""
    config = given.config if key == "activation" else {"activation": given.config.get(key)}
    name = activation_of(given.type, kind_of(given.type, given.layer.parameters), config)
    return Work(0, per_element(name) * elements)


def per_element(name: str) -> int:
    """Operations per element of an activation function by its plain name."""
    operator = OPERATORS.get(name)
    return _PER_ELEMENT.get(name, 0) if operator is None else operator.operations


def elements(size: Size) -> int:
    """How many values a tensor of this size has."""
    return math.prod(size)


def _dense(given: Given) -> Work:
    made = elements(given.made())
    bias = made if given.flag("use_bias", True) else 0
    return Work(made * given.read()[-1], bias) + activation(given, made)


def _einsum_dense(given: Given) -> Work:
    made = elements(given.made())
    bias = made if given.config.get("bias_axes") else 0
    return Work(einsum_macs(str(given.config.get("equation", "")), given), bias) + activation(given, made)


def einsum_macs(equation: str, given: Given) -> int:
    """Multiply-adds of an einsum: one for each combination of all its indices.

    Raises:
        Unknown: an index whose size does not follow from the operands and the output.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    if not arrow:
        raise Unknown("its equation is not in the file")
    sizes: dict[str, int] = {}
    spread = 0
    for term, size in [*zip(left.split(","), given.operands, strict=False), (right, given.output)]:
        if size is None:
            continue
        head, dots, tail = term.partition("...")
        if dots:
            spread = max(spread, math.prod(size[len(head) : len(size) - len(tail)]))
        elif len(term) != len(size):
            raise Unknown("its equation does not fit its sizes")
        sizes |= dict(zip(head, size, strict=False))
        sizes |= dict(zip(reversed(tail), reversed(size), strict=False))
    letters = set(re.findall(r"[A-Za-z]", equation))
    missing = sorted(letters - sizes.keys())
    if missing:
        raise Unknown(f"the size of index {missing[0]!r} is not known")
    return math.prod(sizes[letter] for letter in letters) * (spread or 1)


def channels_of(size: Size, given: Given) -> int:
    """The number of channels of a tensor."""
    return size[1] if given.config.get("data_format") == "channels_first" else size[-1]


def _kernel(given: Given) -> int:
    window = window_of(given.layer, given.type, given.config)
    if window is None:
        raise Unknown("its kernel size is not in the file")
    return math.prod(window.kernel)


def _convolution(given: Given) -> Work:
    made = elements(given.made())
    inside = channels_of(given.read(), given) // given.number("groups", default=1)
    bias = made if given.flag("use_bias", True) else 0
    return Work(made * _kernel(given) * inside, bias) + activation(given, made)


def _transposed(given: Given) -> Work:
    made, read = given.made(), given.read()
    bias = elements(made) if given.flag("use_bias", True) else 0
    macs = elements(read) * _kernel(given) * channels_of(made, given)
    return Work(macs, bias) + activation(given, elements(made))


def _depthwise(given: Given) -> Work:
    made = elements(given.made())
    bias = made if given.flag("use_bias", True) else 0
    return Work(made * _kernel(given), bias) + activation(given, made)


def _separable(given: Given) -> Work:
    made = given.made()
    filters = channels_of(made, given)
    between = elements(made) // max(1, filters) * channels_of(given.read(), given)
    between *= given.number("depth_multiplier", default=1)
    bias = elements(made) if given.flag("use_bias", True) else 0
    return Work(between * (_kernel(given) + filters), bias) + activation(given, elements(made))


def _pooling(given: Given) -> Work:
    return Work(0, elements(given.made()) * _kernel(given))


def _global_pooling(given: Given) -> Work:
    return _mean(given) if "average" in given.kind or "avg" in given.kind else Work()


def _mean(given: Given) -> Work:
    return Work(0, elements(given.read()) + elements(given.made()))


def _affine(given: Given) -> Work:
    """x·a + b with a and b computed once for each channel."""
    return Work(0, 2 * elements(given.made()))


def _layer_norm(given: Given) -> Work:
    """Mean, squared difference, its mean, then x·a + b."""
    return Work(0, (5 if given.kind != "rmsnormalization" else 4) * elements(given.made()))


def _unit_norm(given: Given) -> Work:
    return Work(0, 3 * elements(given.made()))


def _merge(given: Given) -> Work:
    joined = max(0, len(given.operands) - 1) * elements(given.made())
    return Work(0, joined + (elements(given.made()) if given.kind == "average" else 0))


def _dot(given: Given) -> Work:
    axes = given.config.get("axes")
    first = axes[0] if isinstance(axes, list | tuple) else axes
    if not isinstance(first, int):
        raise Unknown("its setting 'axes' is not in the file")
    return Work(elements(given.made()) * given.read()[first])


def _activation(given: Given) -> Work:
    name = given.kind
    return activation(given, elements(given.made())) if name != "relu" else Work()


def _nothing(given: Given) -> Work:
    return Work()


def _scaled(given: Given) -> Work:
    return Work(0, elements(given.made()))


def _rescaling(given: Given) -> Work:
    return Work(0, 2 * elements(given.made()))


_CONVOLUTIONS: dict[str, Rule] = {
    **{f"conv{rank}d": _convolution for rank in (1, 2, 3)},
    **{f"convolution{rank}d": _convolution for rank in (1, 2, 3)},
    **{f"conv{rank}dtranspose": _transposed for rank in (1, 2, 3)},
    **{f"convolution{rank}dtranspose": _transposed for rank in (2, 3)},
    "deconvolution2d": _transposed,
    **{f"depthwiseconv{rank}d": _depthwise for rank in (1, 2)},
    **{f"separableconv{rank}d": _separable for rank in (1, 2)},
    **{f"separableconvolution{rank}d": _separable for rank in (1, 2)},
    **{
        f"{kind}pool{end}{rank}d": _pooling
        for kind in ("max", "average", "avg")
        for end in ("ing", "")
        for rank in (1, 2, 3)
    },
    **{
        f"global{kind}pool{end}{rank}d": _global_pooling
        for kind in ("max", "average", "avg")
        for end in ("ing", "")
        for rank in (1, 2, 3)
    },
}
_NOTHING = (
    "inputlayer embedding reversibleembedding flatten reshape permute repeatvector concatenate dropout spatialdropout1d "
    "spatialdropout2d spatialdropout3d gaussiandropout gaussiannoise alphadropout activityregularization masking identity "
    "zeropadding1d zeropadding2d zeropadding3d cropping1d cropping2d cropping3d upsampling1d upsampling2d upsampling3d resizing "
    "centercrop randomcrop randomflip randomrotation randomzoom randomtranslation randomcontrast randombrightness randomheight "
    "randomwidth leakyrelu prelu elu relu thresholdedrelu categoryencoding stringlookup integerlookup textvectorization hashing "
    "discretization hashedcrossing maximum minimum stochasticdepth"
)
RULES: dict[str, Rule] = {
    **_CONVOLUTIONS,
    **dict.fromkeys(_NOTHING.split(), _nothing),
    **dict.fromkeys(("add", "subtract", "multiply", "average", "maximum", "minimum"), _merge),
    "dense": _dense,
    "einsumdense": _einsum_dense,
    "dot": _dot,
    "activation": _activation,
    "softmax": _activation,
    "batchnormalization": _affine,
    "batchnormalizationv1": _affine,
    "batchnormalizationv2": _affine,
    "syncbatchnormalization": _affine,
    "layernormalization": _layer_norm,
    "groupnormalization": _layer_norm,
    "rmsnormalization": _layer_norm,
    "unitnormalization": _unit_norm,
    "normalization": _affine,
    "rescaling": _rescaling,
    "customscalelayer": _rescaling,
    "layerscale": _scaled,
}
"""By the layer's type in one spelling."""
