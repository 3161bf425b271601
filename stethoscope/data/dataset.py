"""What data looks like to the rest of the program: fields, samples with what is marked on them, rows as arrays.

Bounds on data: what one row, one picture and one look may cost. Beyond them data is sampled, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeAlias, runtime_checkable

from stethoscope.types import Feed, ModelFile, Shape

if TYPE_CHECKING:
    import numpy.typing as npt


FieldKind = Literal["number", "category", "text", "tokens", "image", "mask", "audio", "sequence", "array"]
"""`number` and `category` hold one value a row; `tokens` whole numbers of a vocabulary; `sequence` numbers over time
(time, or time × channels); `mask` a class number for each pixel; `array` anything else."""
Role = Literal["input", "target", "split", "other"]


@dataclass(frozen=True)
class DataField:
    """One column, array or kind of file: what a row holds under one name."""

    name: str
    """As the file has it. Hostile text: escape before showing."""
    kind: FieldKind
    dtype: str
    """numpy's name for it, or "string"; "" where only decoding would tell."""
    shape: Shape | None
    """Of one row, without the rows' own dimension: () for one value, None for a size that differs; None where it is not known."""
    role: Role = "input"
    unit: str = ""
    """"Hz" for a sampling rate, … where the file says so."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """JSON values: {"sample_rate_hz"} of audio, {"channels"} …"""


@dataclass(frozen=True)
class Problem:
    """Something wrong with one part of the data; the rest is shown."""

    where: str
    """The member, line or row; "" for the data as a whole."""
    sentence: str


@dataclass(frozen=True)
class DataAbout:
    """What data says about itself before its rows are read."""

    reader_id: str
    title: str
    """For people: "Images in folders", "CSV table", "COCO annotations"."""
    rows: int
    rows_exact: bool
    """False where counting them would mean reading all of it: `rows` is then an estimate."""
    fields: tuple[DataField, ...]
    classes: tuple[str, ...] = ()
    """Names of the classes in the order of their numbers; empty where the data names none."""
    splits: tuple[str, ...] = ()
    """"train", "val", … where the data is divided."""
    problems: tuple[Problem, ...] = ()
    """At most `MAX_PROBLEMS`, the first of each kind; `problem_count` counts all."""
    problem_count: int = 0
    notes: tuple[str, ...] = ()
    """What was assumed or left out, one sentence each ("Only the first 8 columns …", "Masks are not read")."""
    any_order: bool = False
    """Whether any row is read as fast as the next one: a part of them can be chosen at random."""

    def field(self, name: str) -> DataField | None:
        """The field of this name."""
        return next((one for one in self.fields if one.name == name), None)


MAX_PROBLEMS = 50


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels of the image as stored (x to the right, y down, from the upper left corner of the image)."""

    label: str
    x: float
    y: float
    width: float
    height: float
    angle_degrees: float = 0.0
    """Turned clockwise about its centre."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """JSON values: {"crowd", "difficult", "truncated", "score"} …"""


@dataclass(frozen=True)
class Polygon:
    """A closed outline in pixels; several rings (holes, parts) share a label."""

    label: str
    rings: tuple[tuple[tuple[float, float], ...], ...]
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Points:
    """Key points or scribbles in pixels."""

    label: str
    points: tuple[tuple[float, float], ...]
    joined: bool = False
    """Drawn as a line rather than as dots."""


@dataclass(frozen=True)
class Region:
    """An area given pixel by pixel (a run-length mask, one object of a mask image)."""

    label: str
    bits: npt.NDArray[Any]
    """(height, width) bool, of the image's size."""


Mark: TypeAlias = Box | Polygon | Points | Region


@dataclass(frozen=True)
class Sample:
    """One row: what it holds, what is marked on it, what is wrong with it."""

    place: int
    """Which row it is, from 0."""
    name: str
    """A file's name, or "" where rows have none."""
    values: Mapping[str, npt.NDArray[Any]]
    """One array per field, without the rows' dimension. Images: (height, width, channels) uint8 (or as stored, for deep
    ones), within `bounds.MAX_PIXELS`. Text: a 0-dimensional array of str."""
    label: str = ""
    """Its class in words; several are joined by ", "."""
    marks: tuple[Mark, ...] = ()
    split: str = ""
    problems: tuple[str, ...] = ()
    """One sentence each; the values that could not be read are left out of `values`."""
    remarks: tuple[str, ...] = ()
    """What is worth knowing and nothing wrong: how it was stored, what a viewer would do. One sentence each."""
    canvas: bool = False
    """Its picture is an empty canvas for its marks: the image itself is not in the data."""


@runtime_checkable
class Dataset(Protocol):
    """Opened data. Lives in a worker only; use as a context manager. Reads what is asked for, never everything."""

    about: DataAbout

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def samples(self, places: Sequence[int]) -> list[Sample]:
        """The rows at `places`, in that order; a row that cannot be read comes with its problem, never as an error.

        Places beyond the end are left out.
        """
        ...

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Any]:
        """Rows `start` to `stop` of each field (all, or `names`).

        Returns:
            Per field an array with the rows first where all of them have one shape, else a list of one array per row
            (rows that cannot be read are None in it).
        """
        ...

    def feed(self, start: int, stop: int) -> Feed | Mapping[str, Any]:
        """The same rows as a model would get them: "x" and "y" (or "x" and "y" with a name), beside every field by its own name.

        A table's input columns of numbers are also the columns of one matrix "x"; its target is "y"; classes are numbers in
        the order of `about.classes`. Images of one size are one array; of several sizes a list. Rows that cannot be read
        are left out of every array.
        """
        ...

    def whole(self) -> Feed | None:
        """Every array at once where they are not the rows of one table (a .npz of x_train and x_test); None elsewhere.

        Raises:
            TooLarge: they take more than the budget.
        """
        ...


@runtime_checkable
class Outlined(Protocol):
    """What a `Dataset` may offer besides: its rows without decoding them, to look for classes, splits or problems in all of it."""

    def outlines(self, places: Sequence[int]) -> list[Sample]:
        """As `samples`, without values (and without what only decoding would tell)."""
        ...


class DataReader(Protocol):
    """One kind of data. One file in `stethoscope/data/` per kind, its `READER`."""

    id: str
    title: str
    extensions: tuple[str, ...]
    """Of single files; () where a folder or an archive is meant."""
    priority: int
    """Which reader is asked first (lowest); plain ones (image folders) come after annotated ones."""

    def sniff(self, file: ModelFile) -> bool:
        """Whether the content is of this kind. Cheap: names and first bytes; never raises for foreign bytes.

        The server asks it of each upload that holds no pictures, in its own process: what decodes belongs into `open`.
        """
        ...

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> Dataset:
        """Opens the data for reading; what it holds in memory stays below `budget_bytes`.

        Args:
            file: a file, an archive, or a folder.
            budget_bytes: of memory.
            options: what the user said about it, all optional: {"target": column, "delimiter": …}.

        Raises:
            UnreadableFile: not of this kind, or damaged as a whole; says where.
            UnsafeFile: pickled objects, names that escape, links.
            TooLarge: it declares more than the bounds allow.
            BadSetting: an option that makes no sense ("target" names no column).
        """
        ...


MAX_MEMBERS = 200_000
"""Files in one archive or folder of data."""
MAX_PIXELS = 50_000_000
"""Of one image that is decoded."""
MAX_MEMBER_BYTES = 256 << 20
"""Of one image, sound or text file in an archive."""
MAX_ANNOTATION_BYTES = 512 << 20
"""Of one annotation file (COCO of a million boxes is about 400 MB)."""
MAX_MARKS = 5_000
"""Boxes, polygons and regions drawn on one image; more are counted."""
MAX_COLUMNS = 10_000
MAX_TEXT = 1 << 20
"""Characters of one text value."""
MAX_CLASSES = 10_000
MAX_SOUND_S = 3_600.0
"""Of one recording that is decoded whole."""
