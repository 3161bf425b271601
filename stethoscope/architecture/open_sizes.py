"""How large is what a model's inputs leave open (a sequence length, an image size), and who says so.

The batch is no matter of this: it is asked for. Whoever needs a number for an open dimension asks here: the numbers that
the user gave, else those of the data, else what the file says (a table of positions, a layer that resizes), else an
assumption, which is said to be one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stethoscope.errors import BadSetting
from stethoscope.types import Layer, Shape, TensorSpec

Source = Literal["given", "data", "file", "assumed"]
Shapes = Mapping[str, Sequence[int]]
"""The shape of the data for each input, rows first."""
_LARGEST = 1 << 28
_SEQUENCE_LENGTH, _IMAGE_SIZE = 128, 224
TRIED = (16, 64, 32, 128, 224, 256, 299, 8, 1)
"""What a run assumes, in this order: the first that the model accepts. Small, so that trying them takes no memory."""
_OF_UNKNOWN_RANK: tuple[tuple[int, ...], ...] = ((16,), (), (16, 16), (16, 16, 3))


@dataclass(frozen=True)
class Sizes:
    """A size for each kind of open dimension; None where nobody said one."""

    sequence_length: int | None = None
    image_size: tuple[int, int] | None = None
    """(height, width) in pixels."""

    def __post_init__(self) -> None:
        for name, value in (
            ("Sequence length", self.sequence_length),
            *(("Image size", n) for n in self.image_size or ()),
        ):
            if value is not None and not 1 <= value <= _LARGEST:
                raise BadSetting(f"{name} {value}: expected 1 to {_LARGEST:,}. Correct it.")

    @classmethod
    def every(cls, size: int | None) -> Sizes:
        """One size for whatever is open; None for none."""
        return cls() if size is None else cls(size, (size, size))

    def or_else(self, other: Sizes) -> Sizes:
        """With what `other` says where this says nothing."""
        length = other.sequence_length if self.sequence_length is None else self.sequence_length
        return Sizes(length, self.image_size or other.image_size)


@dataclass(frozen=True)
class OpenSize:
    """The size of one open dimension of one input."""

    input: str
    axis: int
    """Of the input's shape, the batch counted as 0."""
    size: int
    source: Source
    """Given by the user, read from the data or the model's file, or assumed."""


@dataclass(frozen=True)
class OpenSizes:
    """Every open dimension but the batch with its size; none where all are fixed."""

    inputs: tuple[TensorSpec, ...]
    dimensions: tuple[OpenSize, ...]
    attempt: int = 0
    """Which of the assumptions of a run this is."""

    def shape(self, spec: TensorSpec, batch_size: int) -> tuple[int, ...]:
        """The shape of one input for so many rows; an unknown rank is guessed."""
        if spec.shape is None:
            return (batch_size, *_OF_UNKNOWN_RANK[self.attempt % len(_OF_UNKNOWN_RANK)])
        known = {item.axis: item.size for item in self.dimensions if item.input == spec.name}
        return tuple(
            size if size is not None else known[axis] if axis else batch_size for axis, size in enumerate(spec.shape)
        )

    @property
    def size(self) -> int | None:
        """The largest; None where nothing is open."""
        return max((item.size for item in self.dimensions), default=None)

    @property
    def of_all(self) -> int | None:
        """The size that all have; None where they have several, or nothing is open."""
        told = {item.size for item in self.dimensions}
        return told.pop() if len(told) == 1 else None

    @property
    def source(self) -> Source | None:
        """Who says the largest; None where nothing is open."""
        return max(self.dimensions, key=lambda item: item.size).source if self.dimensions else None

    @property
    def are_assumed(self) -> bool:
        """Whether any of them is nobody's but ours."""
        return any(item.source == "assumed" for item in self.dimensions) or any(
            spec.shape is None for spec in self.inputs
        )


def filled(shape: Shape | None, batch_size: int, size: int) -> tuple[int, ...]:
    """A shape with `batch_size` for an open first dimension and `size` for every other; (0,) for an unknown rank."""
    if shape is None:
        return (0,)
    return tuple(length if length is not None else size if axis else batch_size for axis, length in enumerate(shape))


def open_axes(inputs: Sequence[TensorSpec]) -> list[tuple[TensorSpec, int]]:
    """(input, axis) of every open dimension but the batch; nothing is known of an unknown rank."""
    return [(spec, axis) for spec in inputs for axis, size in enumerate(spec.shape or ()) if axis and size is None]


def is_open(inputs: Sequence[TensorSpec]) -> bool:
    """Whether an input leaves a dimension besides the batch, or its rank, open."""
    return any(spec.shape is None for spec in inputs) or bool(open_axes(inputs))


def is_image(spec: TensorSpec) -> bool:
    """Whether an open dimension of this input is the side of an image, not the length of a sequence."""
    return spec.shape is not None and len(spec.shape) >= 4


USUAL = Sizes(_SEQUENCE_LENGTH, (_IMAGE_SIZE, _IMAGE_SIZE))
"""What is assumed where only arithmetic is done and the file says nothing."""


def sizes_of_file(layers: Sequence[Layer]) -> Sizes:
    """What the file says of sizes that its inputs leave open: as many positions as it has, pictures as it resizes them."""
    resized = next((found for layer in layers if (found := _resized(layer)) is not None), None)
    return Sizes(positions(layers), resized)


def open_sizes(
    inputs: Sequence[TensorSpec],
    assumed: Sizes = USUAL,
    given: Sizes | None = None,
    data: Shapes | None = None,
    of_file: Sizes | None = None,
) -> OpenSizes:
    """The size of every open dimension but the batch: as given, else of the data, else of the file, else as assumed.

    Args:
        inputs: the model's inputs.
        assumed: where nobody says anything; one of `TRIED` for a run.
        given: by the user.
        data: shapes by input name; one of another rank than the input says nothing.
        of_file: see `sizes_of_file`.
    """
    told, file, shapes = given or Sizes(), of_file or Sizes(), data or {}
    found: list[OpenSize] = []
    for spec, axis in open_axes(inputs):
        own, seen = _of(told, spec, axis), shapes.get(spec.name, ())
        if own is not None:
            found.append(OpenSize(spec.name, axis, own, "given"))
        elif spec.shape is not None and len(seen) == len(spec.shape):
            found.append(OpenSize(spec.name, axis, int(seen[axis]), "data"))
        elif (size := _of(file, spec, axis)) is not None:
            found.append(OpenSize(spec.name, axis, size, "file"))
        else:
            found.append(OpenSize(spec.name, axis, _of(assumed, spec, axis) or 1, "assumed"))
    return OpenSizes(tuple(inputs), tuple(found))


def sizes_to_try(
    inputs: Sequence[TensorSpec], given: Sizes | None = None, data: Shapes | None = None, of_file: Sizes | None = None
) -> Iterator[OpenSizes]:
    """`open_sizes` for a run, the first that the model accepts to be taken: one where the user or the data says all.

    What the file says is tried first; a model may have tables that are not about its inputs.
    """
    if of_file is not None:
        made = open_sizes(inputs, Sizes.every(TRIED[0]), given, data, of_file)
        if any(item.source == "file" for item in made.dimensions):
            yield OpenSizes(made.inputs, made.dimensions, len(TRIED))
    for attempt, size in enumerate(TRIED):
        made = open_sizes(inputs, Sizes.every(size), given, data)
        yield OpenSizes(made.inputs, made.dimensions, attempt)
        if not made.are_assumed:
            return


def _of(sizes: Sizes, spec: TensorSpec, axis: int) -> int | None:
    """What is said about one axis of an input."""
    if not is_image(spec):
        return sizes.sequence_length
    if sizes.image_size is None or spec.shape is None:
        return None
    channels_first = spec.shape[-1] is None and spec.shape[1] is not None
    return sizes.image_size[1 if axis == len(spec.shape) - (1 if channels_first else 2) else 0]


_POSITIONS = (
    "input_dim",
    "sequence_length",
    "max_length",
    "max_len",
    "maxlen",
    "max_position_embeddings",
    "max_positions",
)
"""Settings that say how many positions a layer knows, in Keras, KerasHub and hand-written layers."""


def positions(layers: Sequence[Layer]) -> int | None:
    """The longest sequence that position embeddings and encodings allow; None without any."""
    found = [
        int(layer.config[key])
        for layer in layers
        if "position" in f"{layer.path} {layer.type}".lower()
        for key in _POSITIONS
        if isinstance(layer.config.get(key), int) and not isinstance(layer.config[key], bool) and layer.config[key] > 1
    ]
    return min(found, default=None)


def _resized(layer: Layer) -> tuple[int, int] | None:
    """(height, width) that a layer brings pictures to; None where it does no such thing."""
    height, width = layer.config.get("height"), layer.config.get("width")
    if layer.type not in ("Resizing", "CenterCrop") or not isinstance(height, int) or not isinstance(width, int):
        return None
    return height, width
