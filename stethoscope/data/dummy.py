"""Random input for a model, made from its input specs with a seed; as arrays, and as the Python that makes the same.

The input of a job: the user's data if there is some, else random input of the first size the model accepts.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.open_sizes import TRIED, OpenSizes, Sizes, is_open, open_axes, sizes_of_file, sizes_to_try
from stethoscope.data.accepting import Predicts, rows_of_outputs, rows_together
from stethoscope.data.batching import Batching, bind
from stethoscope.data.rows import data_of
from stethoscope.errors import BadInput, BadSetting, OutOfMemory, StethoscopeError
from stethoscope.framework_errors import gist
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, TensorSpec

SMALL_INTEGERS = 10
"""Integers of unknown meaning stay below: they may be sizes, counts or classes."""
_WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
_LOOKUPS = ("Gather", "GatherV2", "ResourceGather", "EMBEDDING_LOOKUP", "GATHER")
_PASSING = (
    "InputLayer",
    "Input",
    "Reshape",
    "Cast",
    "Flatten",
    "Masking",
    "Identity",
    "ExpandDims",
    "Squeeze",
    "Permute",
)
_QUANTISED = ("int8", "uint8", "int16", "uint16")


@dataclass(frozen=True)
class Draw:
    """How one input is drawn. `array` and `code` give the same numbers for the same generator."""

    kind: Literal["words", "ones", "zeros", "integers", "normal", "complex"]
    dtype: str
    low: int = 0
    high: int = 0

    def array(self, shape: tuple[int, ...], random: np.random.Generator) -> npt.NDArray[Any]:
        """Draws an array."""
        if self.kind == "words":
            return random.choice(np.array(_WORDS), size=shape).astype(object)
        if self.kind in ("ones", "zeros"):
            return np.full(shape, int(self.kind == "ones"), self.dtype)
        if self.kind == "integers":
            return np.asarray(random.integers(self.low, self.high, size=shape)).astype(self.dtype)
        if self.kind == "complex":
            real = random.standard_normal(shape)
            return np.asarray(real + 1j * random.standard_normal(shape)).astype(self.dtype)
        return np.asarray(random.standard_normal(shape)).astype(self.dtype)

    def code(self, shape: tuple[int, ...], random: str) -> str:
        """The expression that draws the same; `random` is the expression of the generator."""
        if self.kind == "words":
            return f"{random}.choice(np.array({_WORDS!r}), size={shape}).astype(object)"
        if self.kind in ("ones", "zeros"):
            return f"np.{self.kind}({shape}, {self.dtype!r})"
        if self.kind == "integers":
            return f"{random}.integers({self.low}, {self.high}, size={shape}).astype({self.dtype!r})"
        if self.kind == "complex":
            return f"(lambda g: g.standard_normal({shape}) + 1j * g.standard_normal({shape}))({random}).astype({self.dtype!r})"
        return f"{random}.standard_normal({shape}).astype({self.dtype!r})"


def draws(architecture: Architecture, inputs: Sequence[TensorSpec]) -> list[Draw]:
    """How each input is drawn.

    Floats are standard normal, unless they are looked up in an embedding (as in Keras 1); integers stay below the
    vocabulary they are looked up in, and else below `SMALL_INTEGERS`; quantised inputs use their whole range; inputs
    named like a mask are ones and like a segment or token type zeros, as tokenizers fill them.
    """
    return [_draw(spec, architecture, alone=len(inputs) == 1) for spec in inputs]


def dummy_feed(
    architecture: Architecture, inputs: Sequence[TensorSpec], batch_size: int, seed: int, sizes: OpenSizes | None = None
) -> Feed:
    """Returns random input: one array per input, leading dimension `batch_size` where it is dynamic.

    `sizes` are those of the other dynamic dimensions; without, what a run assumes first.
    """
    sizes = sizes or next(sizes_to_try(inputs, of_file=sizes_of_file(architecture.layers)))
    return {
        spec.name: draw.array(sizes.shape(spec, batch_size), np.random.default_rng([seed, place]))
        for place, (spec, draw) in enumerate(zip(inputs, draws(architecture, inputs), strict=True))
    }


def _draw(spec: TensorSpec, architecture: Architecture, *, alone: bool) -> Draw:
    name, dtype = spec.name.lower(), spec.dtype
    if dtype == "string":
        return Draw("words", "object")
    if dtype == "bool":
        return Draw("integers", "bool", 0, 2)
    vocabulary = vocabulary_of(spec.name, architecture, alone=alone)
    if dtype.startswith(("int", "uint")):
        if "mask" in name:
            return Draw("ones", dtype)
        if "segment" in name or "token_type" in name:
            return Draw("zeros", dtype)
        info = np.iinfo(dtype)
        if dtype in _QUANTISED and vocabulary is None and not looks_up(architecture):
            return Draw("integers", dtype, int(info.min), int(info.max) + 1)
        high = vocabulary or _smallest_vocabulary(architecture) or (2 if looks_up(architecture) else SMALL_INTEGERS)
        return Draw("integers", dtype, 0, min(high, int(info.max)))
    if dtype.startswith("complex"):
        return Draw("complex", dtype)
    kind = dtype if dtype in ("float16", "float32", "float64") else "float32"
    if vocabulary or _is_cast_to_look_up(spec.name, architecture):
        return Draw("integers", kind, 0, vocabulary or 2)
    return Draw("normal", kind)


def _is_cast_to_look_up(name: str, architecture: Architecture) -> bool:
    """Whether all that reads a graph's input makes whole numbers of it, and something is looked up: what a converted embedding does."""
    readers = [layer for layer in architecture.layers if name in layer.inputs]
    readers = readers or [layer for layer in architecture.layers if not layer.inputs and layer.type != "Const"]
    return bool(readers) and all(layer.type.lower() == "cast" for layer in readers) and looks_up(architecture)


def vocabulary_of(name: str, architecture: Architecture, *, alone: bool) -> int | None:
    """The size of the embedding an input goes to without being changed on the way, if it does."""
    readers: dict[str, list[int]] = {}
    for place, layer in enumerate(architecture.layers):
        for source in layer.inputs:
            readers.setdefault(source, []).append(place)
    start = [place for place, layer in enumerate(architecture.layers) if layer.path == name]
    if not start and alone:
        start = [place for place, layer in enumerate(architecture.layers) if not layer.inputs][:1]
    queue, seen = deque([*start, *readers.get(name, [])]), set()
    while queue:
        place = queue.popleft()
        if place in seen:
            continue
        seen.add(place)
        layer = architecture.layers[place]
        size = layer.config.get("input_dim")
        if layer.type == "Embedding" and isinstance(size, int) and size > 0:
            return size
        if layer.type in _PASSING:
            queue.extend(readers.get(layer.path, []))
    return None


def _smallest_vocabulary(architecture: Architecture) -> int | None:
    sizes = (layer.config.get("input_dim") for layer in architecture.layers if layer.type == "Embedding")
    return min((size for size in sizes if isinstance(size, int) and size > 0), default=None)


def looks_up(architecture: Architecture) -> bool:
    """Whether any operator of a graph looks something up by an index."""
    return any(layer.type in _LOOKUPS for layer in architecture.layers)


@dataclass(frozen=True)
class FedInput:
    """What one input of a model was fed."""

    shape: tuple[int, ...]
    dtype: str
    source: str
    """"dummy" or the data file's name."""


@dataclass(frozen=True)
class ModelInput:
    """A feed that the model has accepted for one row (or its fixed batch), and where it comes from."""

    feed: Feed
    source: str
    """"dummy" or the data file's name."""
    batching: Batching
    sizes: OpenSizes
    """Of the open dimensions: those of the data, or chosen for dummy input."""
    together: int | None = None
    """Rows that the model was found to take only together, as `Batching.together` has them; None where any number will do."""

    @property
    def dynamic_size(self) -> int | None:
        """The size chosen for dynamic dimensions of dummy input; None for data and where there are none."""
        return chosen_for(self.sizes) if self.source == "dummy" else None

    def at_sizes(
        self, architecture: Architecture, inputs: Sequence[TensorSpec], sizes: Sequence[int], rows: int, seed: int
    ) -> list[tuple[OpenSizes, Feed]]:
        """Random input of so many rows for each size of the open dimensions; this very input where none is asked for.

        Raises:
            BadSetting: sizes are asked for where nothing is open, or where the data has its own.
        """
        if not sizes:
            return [(self.sizes, self.feed)]
        if self.dynamic_size is None:
            raise _no_choice(sizes, of_data=self.source != "dummy")
        free = self.batching.free(inputs)
        told = [next(sizes_to_try(inputs, Sizes.every(size))) for size in sizes]
        return [(made, dummy_feed(architecture, free, rows, seed, made)) for made in told]

    def about(self, feed: Feed) -> dict[str, FedInput]:
        """What `feed`, all or some rows of the input, feeds to each of the model's inputs."""
        return {name: FedInput(array.shape, dtype_of(array), self.source) for name, array in feed.items()}


def _no_choice(sizes: Sequence[int], *, of_data: bool) -> BadSetting:
    why = "the data has its own" if of_data else "all dimensions but the batch are fixed"
    return BadSetting(
        f"Sizes {list(sizes)}: expected a model with open dimensions and random input, but {why}. Leave it out."
    )


def dtype_of(array: npt.NDArray[Any]) -> str:
    """The dtype by name; "string" for text and objects."""
    return "string" if array.dtype.kind in "OSU" else str(array.dtype)


def chosen_for(sizes: OpenSizes) -> int | None:
    """The one size that is assumed for what is open, an unknown rank included; None where nothing is."""
    return sizes.size or TRIED[sizes.attempt] if is_open(sizes.inputs) else None


def shapes_in_data(context: TaskContext, inputs: Sequence[TensorSpec]) -> dict[str, tuple[int, ...]]:
    """The shape of the job's data for each input, told from its first row; empty without data.

    Raises:
        StethoscopeError: the data cannot be read or does not fit.
    """
    file = next((context.files[role] for role in _DATA if role in context.files), None)
    if file is None:
        return {}
    rows = data_of(replace(context, files={"data": file}), most_rows=1)
    return {name: array.shape for name, array in bind(rows, inputs).items()}


_DATA = ("data", "current", "reference")


def foresee(context: TaskContext, inputs: Sequence[TensorSpec]) -> None:
    """Tells how large what the inputs leave open is in the job's data, if that can be told from its first row."""
    if open_axes(inputs):
        with contextlib.suppress(StethoscopeError):
            shapes = shapes_in_data(context, inputs)
            if shapes:
                context.foresee(next(sizes_to_try(inputs, data=shapes)).of_all)


def model_input(
    context: TaskContext,
    architecture: Architecture,
    runner: Predicts,
    samples: int,
    seed: int,
    batch_size: int,
    given: Sizes | None = None,
) -> ModelInput:
    """Makes or reads the input, and runs the model once on its first rows, so that what follows starts warm.

    Random input has `samples` rows; with 0, one batch. `given` are sizes of open dimensions that the user asks for.

    Raises:
        BadInput: the data does not fit, or the model accepts no random input that its specs allow.
        BadSetting: a size is given where nothing is open, or where the data has its own.
        OutOfMemory: one row alone is too much.
    """
    batching = Batching.of(runner.inputs)
    first = batching.fixed or 1
    returned = rows_of_outputs(architecture.outputs)
    asked, of_data = (given or Sizes()).sequence_length, "data" in context.files
    if asked is not None and (of_data or not is_open(runner.inputs)):
        raise _no_choice([asked], of_data=of_data)
    if of_data:
        file = context.files["data"]
        context.report("data", message=f"reading {file.name}")
        feed = bind(data_of(context), runner.inputs)
        context.report("trace", message="first call")
        together = rows_together(runner, batching, feed, batch_size, returned)
        batching = batching if together is None else batching.together(together)
        shapes = {name: array.shape for name, array in feed.items()}
        return ModelInput(feed, file.name, batching, next(sizes_to_try(runner.inputs, data=shapes)), together)
    failure: Exception | None = None
    free = batching.free(runner.inputs)
    for sizes in sizes_to_try(runner.inputs, given, of_file=sizes_of_file(architecture.layers)):
        size = chosen_for(sizes)
        context.report("trace", message="first call" if size is None else f"trying dynamic dimensions of {size}")
        context.foresee(sizes.of_all)
        feed = dummy_feed(architecture, free, max(samples or batching.fixed or batch_size, first), seed, sizes)
        try:
            together = rows_together(runner, batching, feed, batch_size, returned)
        except OutOfMemory:
            raise
        except Exception as error:  # noqa: BLE001 - kept, and raised again if no size is accepted
            failure = failure or error
            continue
        made = batching if together is None else batching.together(together)
        return ModelInput(feed, "dummy", made, sizes, together)
    assert failure is not None
    if isinstance(failure, StethoscopeError) and not isinstance(failure, BadInput):
        raise failure
    name = context.files["model"].name
    found = gist(failure).removeprefix(f"{name}: ")
    raise BadInput(
        f"{name}: expected random input made from its input specs to be accepted, got “{found}”. Upload real input."
    ) from failure
