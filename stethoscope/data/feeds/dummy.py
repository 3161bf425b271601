"""Random input for a model, made from its input specs with a seed; as arrays, and as the Python that makes the same.

The input of a job: the user's data if there is some, else random input of the first size the model accepts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from stethoscope.data.feeds.batching import Batching, bind
from stethoscope.data.rows import data_of
from stethoscope.errors import BadInput, OutOfMemory, StethoscopeError
from stethoscope.framework_errors import gist
from stethoscope.out_of_memory import explain, named_by
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, TensorSpec

DYNAMIC_SIZES = (16, 64, 32, 128, 224, 256, 299, 8, 1)
"""Sizes tried, in this order, for dynamic dimensions other than the batch; the first the model accepts is used."""
UNKNOWN_RANK_SHAPES: tuple[tuple[int, ...], ...] = ((16,), (), (16, 16), (16, 16, 3))
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
    architecture: Architecture, inputs: Sequence[TensorSpec], batch_size: int, seed: int, dynamic_size: int = 16
) -> Feed:
    """Returns random input: one array per input, leading dimension `batch_size` where it is dynamic."""
    return {
        spec.name: draw.array(shape_of(spec, batch_size, dynamic_size), np.random.default_rng([seed, place]))
        for place, (spec, draw) in enumerate(zip(inputs, draws(architecture, inputs), strict=True))
    }


def shape_of(spec: TensorSpec, batch_size: int, dynamic_size: int) -> tuple[int, ...]:
    """The shape drawn for a spec: dynamic dimensions filled in, an unknown rank guessed."""
    if spec.shape is None:
        return (batch_size, *UNKNOWN_RANK_SHAPES[DYNAMIC_SIZES.index(dynamic_size) % len(UNKNOWN_RANK_SHAPES)])
    return tuple(
        size if size is not None else batch_size if place == 0 else dynamic_size
        for place, size in enumerate(spec.shape)
    )


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
    return Draw("integers", kind, 0, vocabulary) if vocabulary else Draw("normal", kind)


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


class Predicts(Protocol):
    """What is needed of a runner here: also a `Caller` has it."""

    inputs: tuple[TensorSpec, ...]

    def predict(self, feed: Feed) -> Feed:
        """Runs the model once."""
        ...


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
    dynamic_size: int | None
    """The size chosen for dynamic dimensions of dummy input."""

    def about(self, feed: Feed) -> dict[str, FedInput]:
        """What `feed`, all or some rows of the input, feeds to each of the model's inputs."""
        return {name: FedInput(array.shape, dtype_of(array), self.source) for name, array in feed.items()}


def dtype_of(array: npt.NDArray[Any]) -> str:
    """The dtype by name; "string" for text and objects."""
    return "string" if array.dtype.kind in "OSU" else str(array.dtype)


def model_input(
    context: TaskContext, architecture: Architecture, runner: Predicts, samples: int, seed: int, batch_size: int
) -> ModelInput:
    """Makes or reads the input, and runs the model once on its first rows, so that what follows starts warm.

    Random input has `samples` rows; with 0, one batch.

    Raises:
        BadInput: the data does not fit, or the model accepts no random input that its specs allow.
        OutOfMemory: one row alone is too much.
    """
    batching = Batching.of(runner.inputs)
    first = batching.fixed or 1
    if "data" in context.files:
        file = context.files["data"]
        feed = bind(data_of(context), runner.inputs)
        context.report("trace", message="first call")
        _try(runner, batching, batching.take(feed, first))
        return ModelInput(feed, file.name, batching, None)
    dynamic = any(spec.shape is None or None in spec.shape[1:] for spec in runner.inputs)
    failure: Exception | None = None
    for size in DYNAMIC_SIZES if dynamic else DYNAMIC_SIZES[:1]:
        context.report("trace", message=f"trying dynamic dimensions of {size}" if dynamic else "first call")
        feed = dummy_feed(
            architecture, batching.free(runner.inputs), max(samples or batching.fixed or batch_size, first), seed, size
        )
        try:
            _try(runner, batching, batching.take(feed, first))
        except OutOfMemory:
            raise
        except Exception as error:  # noqa: BLE001 - kept, and raised again if no size is accepted
            failure = failure or error
            continue
        return ModelInput(feed, "dummy", batching, size if dynamic else None)
    assert failure is not None
    if isinstance(failure, StethoscopeError) and not isinstance(failure, BadInput):
        raise failure
    name = context.files["model"].name
    found = gist(failure).removeprefix(f"{name}: ")
    raise BadInput(
        f"{name}: expected random input made from its input specs to be accepted, got “{found}”. Upload real input."
    ) from failure


def _try(runner: Predicts, batching: Batching, feed: Feed) -> None:
    try:
        runner.predict(feed)
    except Exception as error:
        cause = explain(error)
        if cause is not None:
            raise OutOfMemory(
                f"Already with {batching.rows(feed)} row(s), {cause.sentence}",
                {"oom": named_by(cause, batching.rows(feed))},
            ) from error
        raise
