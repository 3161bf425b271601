"""What a model format is, and what can be asked of it without running anything."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from stethoscope.errors import CannotRun, NeedsTrust
from stethoscope.types import Architecture, Hazard, Layer, ModelFile, Runner, WorkerKind

if TYPE_CHECKING:
    import numpy.typing as npt  # not at run time: numpy is half of a command's start

Pieces = Callable[[], "Iterator[npt.NDArray[Any]]"]
WeightsByLayer = dict[str, "list[StoredWeight]"]
"""Weights by the path of the layer that `describe` counts them for, or that reads them."""
RuntimeName = Literal["tensorflow", "onnxruntime", "litert"]


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


class Format(Protocol):
    """One model format. Everything but `open` is static: it executes nothing and imports no ML framework.

    Formats derive from it. What others want to know of a format they ask it here; nobody asks for its id.
    """

    id: str
    title: str
    """For people: "Keras 3 model (.keras)"."""
    extensions: tuple[str, ...]
    hint: str
    """What a place to drop models says that it takes: ".keras"."""
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
    only_weights: bool = False
    """Whether it holds named arrays and nothing that says how they are computed with."""

    @abstractmethod
    def sniff(self, file: ModelFile) -> bool:
        """Whether the content is of this format, whatever its suffix. Cheap; never raises for foreign bytes."""
        ...

    def holds(self, file: ModelFile) -> bool:
        """Of a file that several formats recognise by its container: whether it is of this one. Looks inside; asked in workers."""
        return True

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
        return on_disk(file)

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


ONLY_ALLOWED = "It is run only after its owner allows it for this file (--trust)."


def refuse(file: ModelFile, described: Architecture, *, trusted: bool) -> None:
    """Ends the opening of a model that cannot run, or does not run unasked; a yes is asked for only where it lets it run.

    Raises:
        CannotRun: it says so. Where code may still be given for what it names, also what a yes is needed for then.
        NeedsTrust: it reaches outside itself, and nobody said yes to that.
    """
    unasked = "" if trusted else code_inside(described.hazards)
    if described.runnable:
        reason = described.runnable.removeprefix(f"{file.name}: ")
        then = f" {unasked} {ONLY_ALLOWED}" if unasked and described.lacks_code else ""
        raise CannotRun(f"{file.name}: {reason[:1].lower()}{reason[1:]}{then}")
    if unasked:
        raise NeedsTrust(f"{file.name}: {unasked} {ONLY_ALLOWED}")


def code_inside(hazards: Sequence[Hazard]) -> str:
    """What a file holds that reaches outside it: the first in its own words, and how many there are; "" for none."""
    if not hazards:
        return ""
    return hazards[0].message + (f" ({len(hazards):,} such places in all.)" if len(hazards) > 1 else "")


def on_disk(file: ModelFile) -> int:
    """The size of a file, or of all files in a folder, in bytes."""
    if file.path.is_dir():
        return sum(path.stat().st_size for path in file.path.rglob("*") if path.is_file())
    return file.path.stat().st_size
