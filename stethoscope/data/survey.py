"""What is in a data set, by the names of its files and the first bytes of those that are not images: for recognising it.

Problems found while data is read: counted all, kept few, the first of each kind.

Which part of a divided data set a file belongs to, by the names of its folders.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stethoscope.data.dataset import MAX_PROBLEMS, Problem
from stethoscope.data.members import Members, is_image, open_members
from stethoscope.errors import StethoscopeError
from stethoscope.models.containers.damage import ARCHIVE
from stethoscope.types import ModelFile

_HEAD_BYTES = 64 << 10
_OF_ONE_FOLDER = 3
"""Of files that stand one beside each image."""
_OF_ONE_KIND = 24
"""Of files that speak of many images."""
_MOST_HEADS = 300
_TEXTS = (".json", ".xml", ".csv", ".txt", ".yaml", ".yml", ".names", ".data", ".tsv")


@dataclass(frozen=True)
class Survey:
    """Names of all files, and how some of them begin."""

    names: tuple[str, ...]
    images: tuple[str, ...]
    """Those that end like an image."""
    heads: Mapping[str, bytes] = field(default_factory=dict)
    """The first bytes of annotation-like text files: of each folder and suffix the first few."""

    def heads_of(self, *suffixes: str) -> Iterable[tuple[str, bytes]]:
        """(name, first bytes) of the text files looked into that end so."""
        return ((name, head) for name, head in self.heads.items() if name.lower().endswith(suffixes))

    def ending(self, *suffixes: str) -> list[str]:
        """All names that end so."""
        return [name for name in self.names if name.lower().endswith(suffixes)]


_NOTHING = Survey((), ())
_latest: list[tuple[ModelFile, Survey]] = []
"""The last one made, with the very object it was made for: every reader asks for it in turn."""


def survey(file: ModelFile) -> Survey:
    """Looks through a file, folder or archive once; an unreadable one gives an empty answer, never an error."""
    if _latest and _latest[0][0] is file:
        return _latest[0][1]
    try:
        with open_members(file) as members:
            made = _survey(members)
    except (StethoscopeError, OSError):
        made = _NOTHING
    _latest[:] = [(file, made)]
    return made


def forget() -> None:
    """Lets the last one go: a server that only recognises files need not keep it."""
    _latest.clear()


def _survey(members: Members) -> Survey:
    images = tuple(name for name in members.names if is_image(name))
    heads: dict[str, bytes] = {}
    seen: dict[tuple[str, str], int] = {}
    for name in members.names:
        suffix = f".{name.rpartition('.')[2].lower()}"
        if suffix not in _TEXTS or len(heads) >= _MOST_HEADS:
            continue
        place = (name.rpartition("/")[0], suffix)
        seen[place] = seen.get(place, 0) + 1
        if seen[place] > (_OF_ONE_FOLDER if suffix in (".xml", ".txt") else _OF_ONE_KIND):
            continue
        try:
            with members.open(name) as stream:
                heads[name] = stream.read(_HEAD_BYTES)
        except (*ARCHIVE, StethoscopeError):
            heads[name] = b""
    return Survey(members.names, images, heads)


_PROBLEMS_OF_ONE_KIND = 8


class ProblemList:
    """Collects problems. Of each kind the first few are kept, so that one frequent kind does not hide the others."""

    def __init__(self) -> None:
        self._kept: list[Problem] = []
        self._seen: dict[str, int] = {}
        self.count = 0

    def add(self, kind: str, where: str, sentence: str) -> None:
        """Counts one; keeps it while there is room.

        Args:
            kind: what kinds are told apart by; never shown.
            where: the member, line or row.
            sentence: for people.
        """
        self.count += 1
        self._seen[kind] = self._seen.get(kind, 0) + 1
        if self._seen[kind] <= _PROBLEMS_OF_ONE_KIND and len(self._kept) < MAX_PROBLEMS:
            self._kept.append(Problem(where, sentence))

    @property
    def kept(self) -> tuple[Problem, ...]:
        """At most `MAX_PROBLEMS`."""
        return tuple(self._kept)


_SPLIT = re.compile(
    r"(train|training|trn|val|valid|validation|dev|test|testing|eval|holdout)(?:[-_]?(?:set|data|\d{4}))?", re.I
)
_IN_STEM = re.compile(
    r"(?:^|[^a-z])(train|training|val|valid|validation|test|testing|dev|eval)(\d{4})?(?:$|[^a-z])", re.I
)


@functools.lru_cache(4_096)
def is_split(word: str) -> bool:
    """Whether a folder's name is that of a split: train, val2017, test_set …"""
    return _SPLIT.fullmatch(word) is not None


def split_of(name: str) -> str:
    """The split in a member's folders ("data/train/cat/1.jpg" → "train"); "" where none is named."""
    return next((part for part in name.split("/")[:-1] if is_split(part)), "")


def split_in_stem(name: str) -> str:
    """The split in a file's own name ("instances_val2017.json" → "val2017"), else in its folders."""
    last = name.rpartition("/")[2]
    found = _IN_STEM.search(last.rpartition(".")[0] or last)
    return found[1] + (found[2] or "") if found else split_of(name)
