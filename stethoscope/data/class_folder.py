"""Files whose folder is their class: one row a file, read when it is looked at."""

from __future__ import annotations

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
from stethoscope.data.survey import ProblemList, is_split, split_of
from stethoscope.data.tables.field_rows import Column, FieldRows, stacked
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
