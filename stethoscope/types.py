"""The nouns: frozen dataclasses and protocols. Standard library only; numpy where arrays are made."""

from __future__ import annotations

import enum
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy.typing as npt  # not at run time: numpy is half of a command's start

C = TypeVar("C", bound="Runner")
Shape = tuple[int | None, ...]
Feed: TypeAlias = "dict[str, npt.NDArray[Any]]"
"""One array per tensor name: what goes into a model, or what comes out."""
Pieces = Callable[[], "Iterator[npt.NDArray[Any]]"]
WeightsByLayer = dict[str, "list[StoredWeight]"]
"""Weights by the path of the layer that `describe` counts them for, or that reads them."""
RuntimeName = Literal["tensorflow", "onnxruntime", "litert"]
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


@dataclass(frozen=True)
class ModelFile:
    """Untrusted bytes on disk. `path` is a file, or a folder for an unpacked SavedModel given on the command line."""

    path: Path
    name: str
    """What the user called it, with its suffix. Hostile text: escape before showing."""
    sha256: str = ""
    """Hex digest of the content where it is known (files in the store); "" otherwise."""

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


@dataclass(frozen=True)
class Operand:
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

    def can(self, capability: type[C]) -> C | Refusal:
        """This model as something that not every model is, or the reason why it is not."""
        return self if isinstance(self, capability) else Refusal(capability.lacking)


@dataclass(frozen=True)
class Ends:
    """How the inputs and outputs of a model stand for real numbers where they are integers: (scale, zero point) by name."""

    inputs: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    outputs: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The lowest and the highest real number that an input holds, of those that cut values off."""


@dataclass(frozen=True)
class Program:
    """Lines of Python that run a model: what is imported, what loads it, and what calls it on `batch`, arrays by input name."""

    imports: tuple[str, ...]
    load: tuple[str, ...]
    call: tuple[str, ...]
    """Appends what comes out to `results`."""


@dataclass(frozen=True)
class StoredWeight:
    """One tensor of a layer, and a way to read it piece by piece.

    Attributes:
        name: in the file, shortened to what tells it from the layer's others.
        shape, dtype: as stored.
        trainable: None where the format does not say.
        pieces: yields its values in order, flat, a bounded number at a time, dequantised where it is quantised.
        quantisation: scale and zero point, for quantised tensors.
        unreadable: why `pieces` cannot be read; "" where they can.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool | None
    pieces: Pieces
    quantisation: Mapping[str, Any] = field(default_factory=dict)
    unreadable: str = ""

    @property
    def count(self) -> int:
        """Number of values."""
        return math.prod(self.shape)


class Format(Protocol):
    """One model format. Everything but `open` is static: it executes nothing and imports no ML framework.

    Formats derive from it. What others want to know of a format they ask it here; nobody asks for its id.
    """

    id: str
    title: str
    """For people: "Keras 3 model (.keras)"."""
    extensions: tuple[str, ...]
    worker: WorkerKind
    """Which kind of worker `open` needs."""
    is_program: bool
    """Whether the file is a program in itself, which no scan can vouch for (SavedModel, frozen graph)."""
    runtime: RuntimeName = "tensorflow"
    """What runs it."""
    one_way: str = ""
    """Why nothing leads back from it to a graph of TensorFlow, the first part of a sentence; "" where TensorFlow runs it."""
    live: bool = False
    """Whether it opens as a live Keras model: its layers are Keras', and can be trained, rebuilt and called in several ways."""
    trainable: bool = False
    """Whether what it holds can be trained further."""
    channels_first: bool = False
    """Whether arrays of images have their channels before their places."""
    lists_inputs: bool = True
    """Whether inputs are among its layers: else a layer without sources may read one."""
    packs_weights: bool = False
    """Whether weights may be stored in fewer bytes than they are computed in."""
    weights_judged: bool = False
    """Whether its weights are read by layer and judged as those of a training."""
    keeps_batch: bool = False
    """Whether a conversion leaves the sizes of its inputs as they are."""
    numbered_nodes: bool = False
    """Whether the drawn graph knows its operators by their positions only."""
    nameless_nodes: bool = False
    """Whether operators without a name are called by their kind and position."""
    opens_inside: bool = False
    """Whether the drawn graph opens on another graph than the one that is served."""

    @abstractmethod
    def sniff(self, file: ModelFile) -> bool:
        """Whether the content is of this format, whatever its suffix. Cheap; never raises for foreign bytes."""
        ...

    @abstractmethod
    def describe(self, file: ModelFile) -> Architecture:
        """Reads the architecture without loading the model.

        Raises:
            UnreadableFile: truncated or malformed; says how.
            UnsafeFile: it breaks a rule no honest model breaks (links, overlap, escaping paths).
            TooLarge: it declares more than the budget.
        """
        ...

    @abstractmethod
    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """Returns (file name for Netron, bytes): the same graph with the weights left out, shapes kept."""
        ...

    @abstractmethod
    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """Loads the model for running; only ever called in a worker. `scratch` is an empty folder it may fill.

        `trusted` is the owner's explicit yes to run the code this very file holds.

        Raises:
            CannotRun: no installed runtime can execute it; says what is missing.
        """
        ...

    def plain_file(self, file: ModelFile, folder: Path) -> ModelFile:
        """The file as other tools read it: itself, or what is taken out of it into an empty folder."""
        return file

    @abstractmethod
    def program(self, name: str, architecture: Architecture) -> Program:
        """Python that runs a file of this name."""
        ...

    @abstractmethod
    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """Yields the weights of every layer; none is read before its `pieces` are asked for.

        Raises:
            UnreadableFile, UnsafeFile, TooLarge: as `describe`.
        """
        ...

    def size_bytes(self, file: ModelFile) -> int:
        """What it takes on disk, with what lies beside it."""
        if file.path.is_dir():
            return sum(path.stat().st_size for path in file.path.rglob("*") if path.is_file())
        return file.path.stat().st_size

    def ends(self, file: ModelFile) -> Ends:
        """How its inputs and outputs stand for real numbers where they are integers."""
        return Ends()

    def loads_plainly(self, file: ModelFile) -> bool:
        """Whether the runtime alone loads and calls the file as it lies there."""
        return False

    def as_keras_lies(self, values: npt.NDArray[Any], layer: Layer) -> npt.NDArray[Any]:
        """A kernel with its axes as Keras has them, (…places, inputs, outputs); as it is where that is so or is not known.

        Args:
            values: one of the layer's weights, as it lies in the file.
            layer: what reads it.
        """
        return values
