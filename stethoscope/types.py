"""The nouns: frozen dataclasses and protocols. Standard library only; numpy where arrays are made."""

from __future__ import annotations

import enum
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy.typing as npt  # not at run time: numpy is half of a command's start

C = TypeVar("C", bound="Runner")
Shape = tuple[int | None, ...]
Feed: TypeAlias = "dict[str, npt.NDArray[Any]]"
"""One array per tensor name: what goes into a model, or what comes out."""
WorkerKind = Literal["light", "tensorflow"]
"""`light` workers import no ML framework up front; `tensorflow` ones are forked from a server that has it imported."""


class Status(enum.StrEnum):
    """How a job ended."""

    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"
    OUT_OF_MEMORY = "out_of_memory"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    CANCELLED = "cancelled"
    REFUSED = "refused"

    @property
    def words(self) -> str:
        """For people: "out of memory"."""
        return self.value.replace("_", " ")


class UploadKind(enum.StrEnum):
    """What a file that somebody sent is."""

    MODEL = "model"
    DATA = "data"
    LOGS = "logs"
    SCRIPT = "script"


@dataclass(frozen=True)
class ModelFile:
    """Untrusted bytes on disk. `path` is a file, or a folder for an unpacked SavedModel given on the command line."""

    path: Path
    name: str
    """What the user called it, with its suffix. Hostile text: escape before showing."""
    sha256: str = ""
    """Hex digest of the content where it is known (files in the store); "" otherwise."""
    code: Self | None = None
    """Python that defines a model's own classes and functions. Its owner gave it to be run, in workers only."""

    @property
    def suffix(self) -> str:
        """The lower-case suffix of the user's name for it, with the dot."""
        return Path(self.name).suffix.lower()

    @classmethod
    def at(cls, path: Path | str) -> Self:
        """A file known by its own name."""
        return cls(Path(path), Path(path).name)


@dataclass(frozen=True)
class TensorSpec:
    """A tensor's name, shape and dtype.

    `shape` has None for a dynamic dimension and is None itself when the rank is unknown.
    `dtype` is numpy's name for it, or "bfloat16", "string", "resource", "variant", or "" when the file does not say.
    """

    name: str
    shape: Shape | None
    dtype: str


class Operand(NamedTuple):
    """One tensor that a layer reads. `path` is that of the layer that yields it, "" for a weight, a constant or the outside."""

    path: str
    shape: Shape | None


@dataclass(frozen=True)
class Layer:
    """A Keras layer, or an operator of a graph.

    `path` is unique within the model: nested models join names with "/". `inputs` are paths of the layers it reads.
    `config` holds what helps a reader (activation, kernel size, …), as JSON values.
    """

    path: str
    type: str
    output_shape: Shape | None
    parameters: int
    trainable_parameters: int
    dtype: str
    inputs: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    operands: tuple[Operand, ...] = ()
    """Every tensor it reads, in the order of the call, weights of a graph's operators included; a layer that is called several
    times has those of one call after those of another. Empty where the format does not say."""
    calls: int = 1
    """How often one run of the model calls it (shared layers)."""


@dataclass(frozen=True)
class CompileSettings:
    """What the file says about training. Names as the file has them; None when it does not say."""

    loss: Any
    optimizer: str | None
    learning_rate: float | None
    metrics: Sequence[Any] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    """"loss", "optimizer", "metrics", "loss_weights" as serialised, with their configs: what it takes to train again; "jit_compile"
    as the file has it."""


@dataclass(frozen=True)
class Hazard:
    """Code or file access inside a model: it is run only after the owner's explicit yes for this file."""

    rule: str
    """A stable id: lambda, unknown-class, file-access, python-function, custom-operator, path-value …"""
    where: str
    message: str
    """One sentence: what it is, and what running it could do."""


@dataclass(frozen=True)
class MissingCode:
    """A class or function of somebody's own that a file holds the name of, and nobody has given the code of."""

    name: str
    module: str
    """Where its author had it; "" where the file does not say."""
    where: str
    """The layer that needs it."""
    only_training: bool = False
    """Whether the model runs without it: a loss, a metric, an optimizer."""


@dataclass(frozen=True)
class GivenCode:
    """The Python file that was given beside a model, and what the model takes of it."""

    file: str
    """What its owner calls it."""
    names: tuple[str, ...]

    @property
    def statement(self) -> str:
        """The line of Python that imports them."""
        return f"from {Path(self.file).stem} import {', '.join(self.names)}"

    @property
    def objects(self) -> str:
        """What `load_model` is told of them, as the last of its arguments."""
        return ", custom_objects={" + ", ".join(f'"{name}": {name}' for name in self.names) + "}"


@dataclass(frozen=True)
class Architecture:
    """What a model file says about itself, read without executing anything."""

    format_id: str
    framework_version: str
    """For example "Keras 3.15.1", "TensorFlow 2.14.0", "TFLite schema 3", "ONNX IR 8, opset 17"; "" when unknown."""
    parameters: int
    trainable_parameters: int | None
    """None where the format does not know what is trainable (TFLite, ONNX, frozen graphs)."""
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    layers: tuple[Layer, ...]
    compile: CompileSettings | None = None
    warnings: tuple[str, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    weight_bytes: int = 0
    """Bytes of stored weights, as declared by their shapes and dtypes."""
    display_format: str = ""
    """What to call it on screen, for example "Keras 2 HDF5"."""
    runnable: str = ""
    """Empty when the installed runtimes should be able to run it, else one sentence that says why not."""
    output_layers: tuple[str, ...] = ()
    """For each of `outputs`, the path of the layer that yields it; empty where the format does not say."""
    missing: tuple[MissingCode, ...] = ()
    """What the file only names."""
    given: GivenCode | None = None
    """Where that was given."""
    keeps_state: tuple[str, ...] = ()
    """Paths of layers that keep a state between calls: what is asked changes what is answered next."""

    @property
    def of_keras_2(self) -> bool:
        """Whether Keras 2 or 1 saved it: tf_keras loads it."""
        return self.framework_version.startswith(("Keras 1", "Keras 2"))

    @property
    def lacks_code(self) -> bool:
        """Whether it names code that it is run with and nobody has given: that may still be given for the same file."""
        return any(not need.only_training for need in self.missing)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(source path, target path) for each connection."""
        return tuple((source, layer.path) for layer in self.layers for source in layer.inputs)


@dataclass(frozen=True)
class Budget:
    """What a job may use: memory it adds to its worker, wall-clock time, and bytes it may write."""

    memory_bytes: int
    timeout_s: float
    disk_bytes: int = 8 << 30


@dataclass(frozen=True)
class Job:
    """One unit of work for a contained process.

    `files` are read-only inputs by role (always "model"; "data" where the task reads data); `params` are JSON values.
    `after` are jobs that are done first, by the role in which this one gets the folder of what each left; where one of
    them fails, this one ends as it did.
    """

    kind: str
    files: Mapping[str, ModelFile]
    params: Mapping[str, Any]
    budget: Budget
    worker: WorkerKind = "light"
    after: Mapping[str, Job] = field(default_factory=dict)


_MOST_OF_MESSAGE = 80


@dataclass(frozen=True)
class Progress:
    """The last thing a worker said about itself."""

    phase: str = "queued"
    fraction: float | None = None
    """0 … 1, or None while the end is not known."""
    message: str = ""

    @property
    def where(self) -> str:
        """How to say it in a sentence: the phase, and what was being done in it."""
        doing = self.message if len(self.message) <= _MOST_OF_MESSAGE else f"{self.message[: _MOST_OF_MESSAGE - 1]}…"
        return f"while in phase “{self.phase}”" + (f" ({doing})" if doing else "")


@dataclass(frozen=True)
class JobResult:
    """How a job ended and what it left.

    `value` is the task's JSON answer (validated to be JSON, nothing more: a worker may have run a hostile model).
    `files` are the arrays and blobs it left, by name.
    """

    status: Status
    value: Mapping[str, Any]
    reason: str
    """Empty for OK; otherwise a sentence for the user."""
    phase: str
    peak_rss_bytes: int
    """The most memory the job added to its process, in bytes."""
    wall_s: float
    files: Mapping[str, Path] = field(default_factory=dict)
    error: str = ""
    """The name of the `StethoscopeError` behind a FAILED or REFUSED, if there was one."""
    incident: str = ""
    """The short id under which the traceback or worker output was logged."""


@dataclass(frozen=True)
class Refusal:
    """Something that a runner cannot do."""

    reason: str
    """A sentence for people."""


class Runner(Protocol):
    """An opened model. Lives in a worker only; use as a context manager.

    Runners derive from it, or from those of `capabilities` that they are.
    """

    lacking: ClassVar[str] = ""
    """Of a capability: what to say of a model without it."""
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, *exc: object) -> None: ...

    @abstractmethod
    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        """Runs the model once on `feed` (leading dimension: batch), one array per input name.

        Raises:
            BadInput: names, shapes or dtypes do not fit `inputs`.
            CannotRun: `training=True` where the format has no training mode.
        """
        ...

    @abstractmethod
    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed:
        """Returns the output of each layer (all that can be seen, or those named), in execution order."""
        ...

    def forget(self) -> None:
        """Puts back the state that it keeps between calls, as in a runner that was just opened; most models keep none."""
        return None

    def can(self, capability: type[C]) -> C | Refusal:
        """This model as something that not every model is, or the reason why it is not."""
        return self if isinstance(self, capability) else Refusal(capability.lacking)
