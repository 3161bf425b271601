"""Output shapes of Keras' layers, from their config and input shapes alone.

Each rule takes (config, input shapes) and returns the shapes of its outputs; None for a shape that cannot be known.
Source: the `compute_output_shape` methods of Keras 3.15 and tf_keras 2.21.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from stethoscope.models.formats.keras_model.keras_config import as_shape
from stethoscope.models.formats.keras_model.keras_spatial_shapes import SPATIAL_RULES, Config, Rule, Shapes, first_shape
from stethoscope.types import Shape

_words = re.compile(r"\w+").findall


def layer_output_shapes(class_name: str, config: Config, inputs: Shapes) -> Shapes:
    """Returns the output shapes of one call; [None] when the layer or its input is not known."""
    rule = _RULES.get(class_name)
    if rule is None:
        return [None]
    try:
        return rule(config, inputs)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError, OverflowError):
        # A config that its own class could not compute with: not knowable, and said elsewhere.
        return [None]


def _same(config: Config, inputs: Shapes) -> Shapes:
    return [inputs[0]]


def _input(config: Config, inputs: Shapes) -> Shapes:
    return [as_shape(config.get("batch_shape") or config.get("batch_input_shape"))]


def _last(key: str) -> Rule:
    def rule(config: Config, inputs: Shapes) -> Shapes:
        return [(*first_shape(inputs)[:-1], int(config[key]))]

    return rule


def _embedding(config: Config, inputs: Shapes) -> Shapes:
    shape, length = first_shape(inputs), config.get("input_length")
    if isinstance(length, int) and len(shape) == 2 and shape[1] is None:
        shape = (shape[0], length)
    return [(*shape, int(config["output_dim"]))]


def _flatten(config: Config, inputs: Shapes) -> Shapes:
    shape = first_shape(inputs)
    rest = shape[1:]
    return [(shape[0], None if any(size is None for size in rest) else math.prod(size or 0 for size in rest))]


def fill_unknown(target: Sequence[int | None], sizes: Sequence[int | None]) -> tuple[int | None, ...]:
    """Replaces the -1 of a reshape's target, where the number of elements tells it."""
    if -1 not in target:
        return tuple(target)
    known = math.prod(size for size in target if size is not None and size != -1)
    total = None if any(size is None for size in sizes) else math.prod(size or 0 for size in sizes)
    value = None if total is None or known == 0 or None in target else total // known
    return tuple(value if size == -1 else size for size in target)


def _reshape(config: Config, inputs: Shapes) -> Shapes:
    shape = first_shape(inputs)
    return [(shape[0], *fill_unknown(list(config["target_shape"]), shape[1:]))]


def _permute(config: Config, inputs: Shapes) -> Shapes:
    shape = first_shape(inputs)
    return [(shape[0], *(shape[int(axis)] for axis in config["dims"]))]


def _repeat(config: Config, inputs: Shapes) -> Shapes:
    shape = first_shape(inputs)
    return [(shape[0], int(config["n"]), shape[1])]


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape after numpy broadcasting; None dimensions stay unknown unless another operand fixes them."""
    if not shapes or any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    rank = max(len(shape) for shape in known)
    out: list[int | None] = []
    for axis in range(-rank, 0):
        sizes = [shape[axis] for shape in known if len(shape) >= -axis]
        fixed = [size for size in sizes if size is not None and size != 1]
        out.append(fixed[0] if fixed else (None if None in sizes else 1))
    return tuple(out)


def _merge(config: Config, inputs: Shapes) -> Shapes:
    if any(shape is None for shape in inputs):
        return [None]
    # Keras merges the non-batch dimensions and keeps the batch dimension only where all agree.
    first = {shape[0] for shape in inputs if shape}
    rest = broadcast([shape[1:] for shape in inputs if shape is not None])
    return [None if rest is None else (first.pop() if len(first) == 1 else None, *rest)]


def concatenated(shapes: Shapes, axis: int) -> Shape | None:
    """The shape after joining along `axis`."""
    if not shapes or any(shape is None for shape in shapes):
        return None
    known = [shape for shape in shapes if shape is not None]
    out = list(known[0])
    sizes = [shape[axis] for shape in known]
    for index in range(len(out)):
        out[index] = next((shape[index] for shape in known if shape[index] is not None), None)
    out[axis] = None if None in sizes else sum(size or 0 for size in sizes)
    return tuple(out)


def _concatenate(config: Config, inputs: Shapes) -> Shapes:
    return [concatenated(inputs, int(config.get("axis", -1)))]


def _dot(config: Config, inputs: Shapes) -> Shapes:
    left, right = inputs[0], inputs[1]
    if left is None or right is None:
        return [None]
    axes = config["axes"]
    one, two = (axes, axes) if isinstance(axes, int) else (axes[0], axes[1])
    out = [size for i, size in enumerate(left) if i != one % len(left)]
    out += [size for i, size in enumerate(right) if i not in (0, two % len(right))]
    return [tuple(out) if len(out) > 1 else (*out, 1)]


def _attention(config: Config, inputs: Shapes) -> Shapes:
    query, value = first_shape(inputs), inputs[1]
    outputs: Shapes = [None if value is None else (*query[:-1], value[-1])]
    return outputs


def _multi_head(config: Config, inputs: Shapes) -> Shapes:
    query, out = first_shape(inputs), config.get("output_shape")
    if isinstance(out, int):
        return [(*query[:-1], out)]
    return [(*query[:-1], *out)] if out else [query]


def einsum_shape(equation: str, shapes: Shapes, known: dict[str, int | None] | None = None) -> Shape | None:
    """The shape an einsum equation yields, with `...` taken from the first operand."""
    left, right = equation.replace(" ", "").split("->")
    sizes: dict[str, int | None] = dict(known or {})
    dots: Shape = ()
    for term, shape in zip(left.split(","), shapes, strict=False):
        if shape is None:
            return None
        letters = term.replace("...", ".")
        spare = len(shape) - (len(letters) - ("." in letters))
        position = 0
        for letter in letters:
            if letter == ".":
                dots = dots or shape[position : position + spare]
                position += spare
                continue
            if sizes.get(letter) is None:
                sizes[letter] = shape[position]
            position += 1
    out: list[int | None] = []
    for letter in right.replace("...", "."):
        out.extend(dots) if letter == "." else out.append(sizes.get(letter))
    return tuple(out)


def _einsum_dense(config: Config, inputs: Shapes) -> Shapes:
    shape, equation = first_shape(inputs), str(config["equation"]).replace(" ", "")
    wanted = config["output_shape"]
    wanted = [wanted] if isinstance(wanted, int) else list(wanted)
    letters = equation.split("->")[1].replace("...", "")
    tail = dict(zip(letters[-len(wanted) :], wanted, strict=False))
    return [einsum_shape(equation, [shape], tail)]


def _discrete(config: Config, inputs: Shapes) -> Shapes:
    shape, mode = inputs[0], config.get("output_mode", "int")
    if mode in ("int", None) or shape is None:
        return [shape]
    size = (
        config.get("num_tokens") or config.get("num_bins") or config.get("max_tokens") or config.get("vocabulary_size")
    )
    size = size if isinstance(size, int) else None
    if mode == "one_hot":
        return [(*shape[:-1], size) if shape and shape[-1] == 1 else (*shape, size)]
    return [(*shape[:-1], size)] if shape else [(size,)]


def _text_vectorization(config: Config, inputs: Shapes) -> Shapes:
    batch = first_shape(inputs)[0]
    if config.get("output_mode", "int") == "int":
        return [(batch, config.get("output_sequence_length"))]
    return [(batch, config.get("max_tokens") if config.get("pad_to_max_tokens") else None)]


def _declared(config: Config, inputs: Shapes) -> Shapes:
    """A Lambda says what it yields only if its author did: without the batch dimension."""
    shape = as_shape(config.get("output_shape"))
    return [None if shape is None else (inputs[0][0] if inputs and inputs[0] else None, *shape)]


_RULES: dict[str, Rule] = {
    **SPATIAL_RULES,
    "InputLayer": _input,
    "Lambda": _declared,
    "Dense": _last("units"),
    "EinsumDense": _einsum_dense,
    "Embedding": _embedding,
    "ReversibleEmbedding": _embedding,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Permute": _permute,
    "RepeatVector": _repeat,
    "Concatenate": _concatenate,
    "Dot": _dot,
    "Attention": _attention,
    "AdditiveAttention": _attention,
    "MultiHeadAttention": _multi_head,
    "GroupQueryAttention": _same,
    "GroupedQueryAttention": _same,
    "TextVectorization": _text_vectorization,
    **dict.fromkeys(["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"], _merge),
    **dict.fromkeys(
        ["CategoryEncoding", "Hashing", "HashedCrossing", "Discretization", "StringLookup", "IntegerLookup"], _discrete
    ),
    **dict.fromkeys(
        _words(
            "Activation Dropout Masking BatchNormalization BatchNormalizationV1 BatchNormalizationV2 "
            "SyncBatchNormalization LayerNormalization GroupNormalization UnitNormalization RMSNormalization "
            "SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianNoise GaussianDropout AlphaDropout "
            "ActivityRegularization ReLU LeakyReLU PReLU ELU Softmax ThresholdedReLU Identity Normalization Rescaling "
            "SeedGenerator RandomFlip RandomRotation RandomZoom RandomTranslation RandomContrast RandomBrightness "
            "RandomColorJitter RandomColorDegeneration RandomErasing RandomGaussianBlur RandomGrayscale RandomHue "
            "RandomInvert RandomPerspective RandomPosterization RandomSaturation RandomSharpness RandomShear AutoContrast "
            "Equalization Solarization AugMix CutMix MixUp RandAugment LayerScale CustomScaleLayer StochasticDepth DefaultQuantizeConfig Highway MaxNumBoundingBoxes"
        ),
        _same,
    ),
}
