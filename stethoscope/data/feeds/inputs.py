"""The input of a job: the user's data if there is some, else random input of the first size the model accepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from stethoscope.data.feeds.batching import Batching, bind
from stethoscope.data.feeds.dummy import DYNAMIC_SIZES, dummy_feed
from stethoscope.data.rows import data_of
from stethoscope.errors import BadInput, OutOfMemory, StethoscopeError
from stethoscope.framework_errors import gist
from stethoscope.out_of_memory import explain
from stethoscope.shortage_report import named_by
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, TensorSpec

if TYPE_CHECKING:
    import numpy.typing as npt


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
