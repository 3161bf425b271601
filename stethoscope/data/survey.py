"""What is in a data set, by the names of its files and the first bytes of those that are not images: for recognising it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stethoscope.data.images.image_decoding import is_image
from stethoscope.data.members import Members, open_members
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
