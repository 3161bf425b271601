"""What the store knows about one upload, and how the user's name for it is made harmless to handle."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PureWindowsPath

from stethoscope.types import ModelFile, UploadKind

SAMPLES_OWNER = "samples"
"""The owner of the sample models: everybody may read them, nobody may change them."""
_ID = re.compile(r"[A-Za-z0-9_-]{8,80}")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@dataclass(frozen=True)
class Entry:
    """One upload of one file by one owner. Equal files are stored once, at `path`, however many entries name them."""

    id: str
    """Unguessable: who has it may read the model."""
    sha256: str
    name: str
    """What the user called it. Hostile text: escape before showing."""
    size_bytes: int
    owner: str
    format_id: str
    """Empty until the file has been described."""
    created: datetime
    last_used: datetime
    sample: bool
    trusted: bool
    """The owner said yes to running the code inside this file."""
    path: Path
    kind: UploadKind = UploadKind.MODEL
    """What its content is; a model where nothing recognises it."""
    title: str = ""
    behaviour: str = ""
    description: str = ""

    @property
    def file(self) -> ModelFile:
        """The bytes on disk under the user's name for them."""
        return ModelFile(self.path, self.name, self.sha256)


def new_id() -> str:
    """Returns an unguessable id of 22 characters; without "_", as Streamlit refuses two of them in a widget's key."""
    return secrets.token_urlsafe(16).replace("_", "-")


def is_id(value: str) -> bool:
    """Whether `value` looks like an id; anything else never reaches a query or a path."""
    return _ID.fullmatch(value) is not None


def clean_name(name: str) -> str:
    """Returns the last part of `name` without characters that cannot be seen, at most 200 bytes, suffix kept."""
    last = _UNSEEN.sub("", PureWindowsPath(name.replace("/", "\\")).name).strip()
    if last in ("", ".", ".."):
        return "model"
    stem, suffix = Path(last).stem, Path(last).suffix
    if len(suffix.encode()) > 20:
        stem, suffix = last, ""
    while len((stem + suffix).encode()) > 200:
        stem = stem[:-1]
    return stem + suffix
