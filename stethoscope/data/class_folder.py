"""Files whose folder is their class: one row a file, read when it is looked at.

Arrays in folders by class: one .npy, one sample (spectrograms, volumes, embeddings).

Recordings: a WAV file, or many in folders by class.
"""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import dataset
from stethoscope.data.dataset import DataAbout, DataField, Sample
from stethoscope.data.members import Members, open_members
from stethoscope.data.streams.numpy_rows import ArrayRows
from stethoscope.data.streams.text_source import is_single
from stethoscope.data.streams.wav_sound import read_wav
from stethoscope.data.survey import ProblemList, is_split, split_of, survey
from stethoscope.data.tables.field_rows import Column, FieldRows, stacked
from stethoscope.data.tables.table_guesses import channels_first, kind_of
from stethoscope.errors import StethoscopeError, UnreadableFile
from stethoscope.types import ModelFile

_TRIED = 12
"""Files read when the data is opened, to see what they hold."""
LABEL = "label"


@dataclass(frozen=True)
class ClassedFile:
    """One file with what its folders say."""

    name: str
    label: str
    split: str


def classed(names: Sequence[str]) -> list[ClassedFile]:
    """The files with their class and split: the class is the folder a file lies in, where there are several."""
    folders = {name: name.rpartition("/")[0] for name in names}
    # A folder that holds other folders of files is no class: a readme lies in it.
    above = {folder.rpartition("/")[0] for folder in set(folders.values())}
    while more := {folder.rpartition("/")[0] for folder in above} - above:
        above |= more
    words = {
        folder: folder.rpartition("/")[2]
        for folder in set(folders.values())
        if folder and folder not in above and not is_split(folder.rpartition("/")[2])
    }
    several = len(set(words.values())) > 1
    splits = {folder: split_of(f"{folder}/file") for folder in set(folders.values())}
    return [
        ClassedFile(name, words.get(folder, "") if several else "", splits[folder]) for name, folder in folders.items()
    ]


class ClassFolder(FieldRows):
    """Files as rows. A reader says how one file is read."""

    def __init__(
        self,
        reader_id: str,
        title: str,
        file: ModelFile,
        names: Sequence[str],
        budget_bytes: int,
        options: Mapping[str, Any],
    ) -> None:
        self._budget, self._subject = budget_bytes, file.name
        self.opened = ExitStack()
        self._members: Members = self.opened.enter_context(open_members(file))
        files = classed(names)
        order = {"": 0, "train": 0, "training": 0}
        self._files = sorted(files, key=lambda one: (order.get(one.split.lower(), 1), one.split, one.name))
        self._said: dict[int, list[str]] = {}
        self.classes = tuple(sorted({one.label for one in files if one.label}))[: dataset.MAX_CLASSES]
        if str(options.get("target") or "") == "none":
            self.classes = ()
        splits = tuple(dict.fromkeys(one.split for one in self._files if one.split))
        self.about = DataAbout(reader_id, title, len(files), True, (), self.classes, splits)
        try:
            self.about = replace(self.about, **self._seen())
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def read_file(self, content: bytes, where: str) -> tuple[npt.NDArray[Any], str]:
        """One file's value, and what is wrong with it ("" for nothing). Raises a `StethoscopeError` for an unreadable one."""

    @abstractmethod
    def field_of(self, values: Sequence[npt.NDArray[Any]]) -> DataField:
        """What the files hold, by the first ones."""

    def columns(self, start: int, stop: int, names: Sequence[str] | None = None) -> Mapping[str, Column]:
        """See `Dataset.columns`."""
        found: dict[str, Column] = {}
        for field in self.about.fields:
            if names is not None and field.name not in names:
                continue
            rows = self._files[start:stop]
            if field.name == LABEL and field.role == "target":
                found[LABEL] = np.array([one.label for one in rows], dtype=str)
            else:
                found[field.name] = stacked([self._read(place) for place in range(start, start + len(rows))])
        return found

    def row_problems(self, start: int, stop: int) -> Mapping[int, Sequence[str]]:
        """What is wrong with these files, as far as they were read."""
        return {place: said for place, said in self._said.items() if start <= place < stop}

    def outlines(self, places: Sequence[int]) -> list[Sample]:
        """Names, classes and splits without reading the files."""
        return [
            Sample(place, self._files[place].name, {}, self._files[place].label, (), self._files[place].split)
            for place in places
            if 0 <= place < len(self._files)
        ]

    def name_of(self, values: Mapping[str, Column], place: int) -> str:
        """The file's name."""
        return self._files[place].name

    def split_of(self, place: int) -> str:
        """The split its folders name."""
        return self._files[place].split

    def _read(self, place: int) -> npt.NDArray[Any] | None:
        name = self._files[place].name
        try:
            limit = min(dataset.MAX_MEMBER_BYTES, self._budget // 8)
            value, remark = self.read_file(self._members.read(name, limit), name)
        except StethoscopeError as error:
            self._said[place] = [str(error)]
            return None
        if remark:
            self._said[place] = [remark]
        return value

    def _seen(self) -> dict[str, Any]:
        step = max(1, len(self._files) // _TRIED)
        tried = range(0, len(self._files), step)
        values = [value for place in tried if (value := self._read(place)) is not None]
        if not values:
            first = next(iter(self._said.values()), ["it is empty"])[0]
            raise UnreadableFile(
                f"{self._subject}: none of the files that were tried can be read ({first[:200]}). Check them."
            )
        problems = ProblemList()
        for place, said in self._said.items():
            problems.add("file", self._files[place].name, said[0])
        fields = [self.field_of(values)]
        if self.classes:
            fields.append(DataField(LABEL, "category", "string", (), "target"))
        return {"fields": tuple(fields), "problems": problems.kept, "problem_count": problems.count}


class NpyFolderReader:
    """Reads .npy files in folders."""

    id = "npy_folder"
    title = "Arrays in folders (.npy)"
    extensions = ()
    priority = 60

    def sniff(self, file: ModelFile) -> bool:
        """Whether most files are .npy, in folders; a .npz has them at its top."""
        if file.suffix == ".npz" or is_single(file):
            return False
        found = survey(file)
        arrays = found.ending(".npy")
        return 2 * len(arrays) > len(found.names) and (file.path.is_dir() or any("/" in name for name in arrays))

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> NpyFolder:
        """Opens the folder; see `DataReader.open`."""
        return NpyFolder(self.id, self.title, file, survey(file).ending(".npy"), budget_bytes, options)


class NpyFolder(ClassFolder):
    """One array a row."""

    def read_file(self, content: bytes, where: str) -> tuple[npt.NDArray[Any], str]:
        """The array whole; pickles are refused."""
        return ArrayRows(where, io.BytesIO(content), len(content), self._budget).all(), ""

    def field_of(self, values: Sequence[npt.NDArray[Any]]) -> DataField:
        """By the first arrays."""
        first = values[0]
        ranks, shapes = {value.ndim for value in values}, {value.shape for value in values}
        shape = first.shape if len(shapes) == 1 else (None,) * first.ndim if len(ranks) == 1 else None
        alike = np.stack(values) if len(shapes) == 1 else first[None]
        kind = kind_of("x", first.shape, alike, "input")
        details: dict[str, Any] = {}
        if kind == "image":
            ahead = channels_first(first.shape)
            details = {"channels": first.shape[0] if ahead else first.shape[2] if first.ndim == 3 else 1}
            details |= {"channels_first": True} if ahead else {}
        dtype = "string" if first.dtype.kind in "US" else first.dtype.name
        return DataField("x", kind, dtype, shape, "input", details=details)


_SUFFIXES = (".wav", ".wave")
_MAGIC = (b"RIFF", b"RF64")


class WavReader:
    """Reads WAV files."""

    id = "wav"
    title = "WAV recordings"
    extensions = _SUFFIXES
    priority = 60

    def sniff(self, file: ModelFile) -> bool:
        """Whether the content is WAV, or most files of an archive or folder are."""
        if file.path.is_file():
            with file.path.open("rb") as stream:
                head = stream.read(12)
            if head[:4] in _MAGIC and head[8:12] == b"WAVE":
                return True
        found = survey(file)
        return found.names != (file.name,) and 2 * len(found.ending(*_SUFFIXES)) > len(found.names)

    def open(self, file: ModelFile, budget_bytes: int, options: Mapping[str, Any]) -> WavFolder:
        """Opens the recordings; see `DataReader.open`."""
        found = survey(file)
        names = found.ending(*_SUFFIXES) or found.names
        return WavFolder(self.id, self.title, file, names, budget_bytes, options)


class WavFolder(ClassFolder):
    """One recording a row: (time,) of one channel, (time, channels) of several; float32 from -1 to 1."""

    _rates: dict[str, int]

    def read_file(self, content: bytes, where: str) -> tuple[npt.NDArray[Any], str]:
        """Decodes one recording."""
        sound = read_wav(content, where)
        if not hasattr(self, "_rates"):
            self._rates = {}
        self._rates[where] = sound.rate_hz
        usual = next(iter(self._rates.values()))
        differs = f"Recorded at {sound.rate_hz:,} Hz, the first one at {usual:,} Hz." if sound.rate_hz != usual else ""
        return sound.samples, " ".join(filter(None, (sound.remark, differs)))

    def field_of(self, values: Sequence[npt.NDArray[Any]]) -> DataField:
        """Audio at the rate of the first recording."""
        shapes = {value.shape for value in values}
        ranks = {value.ndim for value in values}
        shape = (
            shapes.pop()
            if len(shapes) == 1 and len(values) == self.about.rows
            else (None,) * (min(ranks) if len(ranks) == 1 else 1)
        )
        if len(shapes) > 1 and ranks == {2} and len({value.shape[1] for value in values}) == 1:
            shape = (None, values[0].shape[1])
        rate = next(iter(self._rates.values()))
        channels = values[0].shape[1] if values[0].ndim == 2 else 1
        return DataField(
            "audio", "audio", "float32", shape, "input", "", {"sample_rate_hz": rate, "channels": channels}
        )


READERS = (NpyFolderReader(), WavReader())
