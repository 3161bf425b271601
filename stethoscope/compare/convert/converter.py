"""What a conversion is, what it gets, and what it leaves.

What to do after a conversion whose process ended without an answer.

What can be chosen about a conversion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.task import Reporter
from stethoscope.types import Architecture, Feed, ModelFile, Runner, Status


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


_ADVICE = {
    Status.CRASHED: (
        "Convert it once more. If it ends the same way, fix the number of rows (batch size 1) or choose another target: some operators "
        "end the converter's whole process."
    ),
    Status.TIMED_OUT: "Give it more time, or fewer rows for the ranges.",
}


def what_to_do(status: Status) -> str:
    """A sentence; "" where the ending itself says it."""
    return _ADVICE.get(status, "")


OPSETS = tuple(range(13, 19))
"""ONNX operator sets that can be written: tf2onnx 1.17 ends at 18, and 13 is what old runtimes have."""
DEFAULT_OPSET = 18


@dataclass(frozen=True)
class Options:
    """Settings of a conversion; each counts only where the target has it."""

    opset: int = DEFAULT_OPSET
    """ONNX."""
    batch_size: int | None = None
    """Rows in every call, None to leave them open."""
    integer_ends: bool = False
    """Full int8: inputs and outputs are integers too, for accelerators without floats."""
    allow_float: bool = False
    """Full int8: TensorFlow's converter is told that float operators are welcome; it leaves some in float without that, too."""
    calibration_rows: int = 100
    """Rows of the data by which ranges are found."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Reads `to_json`'s form; what is left out has its default.

        Raises:
            BadSetting: an unknown name, or a value that makes no sense.
        """
        unknown = sorted(set(value) - set(cls.__dataclass_fields__))
        if unknown:
            raise BadSetting(
                f"Conversion: there is no option {unknown[0]!r}. Choose of {', '.join(cls.__dataclass_fields__)}."
            )
        made = cls(**value)
        if made.opset not in OPSETS:
            raise BadSetting(f"Opset {made.opset!r}: expected {OPSETS[0]} to {OPSETS[-1]}.")
        for name in ("batch_size", "calibration_rows"):
            found = getattr(made, name)
            if not (found is None and name == "batch_size") and not (type(found) is int and 1 <= found <= 100_000):
                raise BadSetting(f"{name}: expected a whole number from 1 to 100,000, got {found!r}.")
        for name in ("integer_ends", "allow_float"):
            if not isinstance(getattr(made, name), bool):
                raise BadSetting(f"{name}: expected true or false, got {getattr(made, name)!r}.")
        return made

    def to_json(self) -> dict[str, Any]:
        """JSON values by name."""
        return asdict(self)
