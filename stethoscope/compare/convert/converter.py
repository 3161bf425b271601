"""What a conversion is, what it gets, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from stethoscope.compare.convert.options import Options
from stethoscope.errors import StethoscopeError
from stethoscope.task import Reporter
from stethoscope.types import Architecture, Feed, ModelFile, Runner


@dataclass(frozen=True)
class Unsupported:
    """An operator that the target does not have."""

    operator: str
    layer: str
    """The layer of the source that it came from; "" where that cannot be told."""
    message: str = ""
    """What the target's own tools say."""
    way_round: str = ""
    """What to do about it, a sentence; "" where we know of nothing."""


@dataclass(frozen=True)
class NotConverted:
    """What is known of a conversion that was refused."""

    unsupported: tuple[Unsupported, ...] = ()
    """Operators that stand in the way, where it is they."""


class CannotConvert(StethoscopeError):
    """The model cannot be brought into this form; says why, and which operators are to blame.

    Attributes:
        unsupported: the operators, where it is they.
    """

    def __init__(self, message: str, unsupported: Sequence[Unsupported] = ()) -> None:
        self.unsupported = tuple(unsupported)
        super().__init__(message, asdict(NotConverted(self.unsupported)))


class Calibration(Protocol):
    """Rows by which the ranges of a quantised model are found."""

    source: str
    """"dummy" or the data file's name."""
    rows: int

    def feeds(self) -> Iterator[Feed]:
        """Yields one feed after another, each of as many rows as the converted model takes in a call."""
        ...


@dataclass(frozen=True)
class Source:
    """A model that is opened, to be converted."""

    file: ModelFile
    architecture: Architecture
    runner: Runner
    calibration: Calibration


@dataclass(frozen=True)
class Made:
    """What a conversion left, and which of its inputs and outputs are which of the source's."""

    path: Path
    """A file, or a folder (SavedModel)."""
    notes: tuple[str, ...] = ()
    """What the user must know of how it was made."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """The source's name for names in the new file that are not the same."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    input_order: tuple[str, ...] = ()
    """The source's names in the new file's order, for names that are in neither."""
    output_order: tuple[str, ...] = ()
    options: Options | None = None
    """What it was made with, where that is not what was asked for."""


class Converter(Protocol):
    """One target."""

    id: str
    title: str
    suffix: str
    """Of the file it leaves, with the dot; "" for a folder."""
    about: str
    """What it is good for, a sentence."""
    place: int
    """Where it stands in the list of targets."""
    calibrated: bool
    """Whether rows are needed to find ranges."""
    options: tuple[str, ...]
    """Fields of `Options` that count for it."""

    def refusal(self, architecture: Architecture) -> str:
        """Why a model of this format cannot be converted, before anything is run; "" where it can be tried."""
        ...

    def convert(self, source: Source, options: Options, folder: Path, report: Reporter) -> Made:
        """Writes the model into `folder`.

        Raises:
            CannotConvert: the target cannot express it.
        """
        ...

    def code(self, architecture: Architecture, options: Options) -> str:
        """Python that does the same by hand."""
        ...
