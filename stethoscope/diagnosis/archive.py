"""Diagnoses on disk: one JSON file each, in a folder per model, newest last."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stethoscope.diagnosis.report import Report, report_from_json, report_to_json
from stethoscope.errors import NotFound, StethoscopeError

_ID = re.compile(r"[0-9]{13}-[A-Za-z0-9_-]{8,40}")
_ENTRY = re.compile(r"[A-Za-z0-9_-]{1,80}")
MOST_KEPT = 50
"""Diagnoses kept for one model; the oldest go first."""


@dataclass(frozen=True)
class Kept:
    """One diagnosis in the history."""

    id: str
    owner: str
    report: Report


class Archive:
    """Reads and writes diagnoses. Safe for many threads: each file is replaced whole."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, entry_id: str, kept: Kept) -> None:
        """Writes or replaces one diagnosis, and drops the oldest of its model beyond `MOST_KEPT`."""
        path = self._path(entry_id, kept.id)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        value = {"id": kept.id, "owner": kept.owner, "report": report_to_json(kept.report)}
        temporary.write_text(json.dumps(value))
        temporary.replace(path)
        if kept.report.done:
            for old in sorted(path.parent.glob("*.json"))[:-MOST_KEPT]:
                old.unlink(missing_ok=True)

    def load(self, entry_id: str, diagnosis_id: str) -> Kept:
        """One diagnosis.

        Raises:
            NotFound: there is none with this id, or it was written by a version that kept it differently.
        """
        found = _read(self._path(entry_id, diagnosis_id))
        if found is None:
            raise NotFound("This diagnosis is not kept any more. Run it again.")
        return found

    def list(self, entry_id: str) -> list[Kept]:
        """The diagnoses of a model, newest first; unreadable ones are left out."""
        if not _ENTRY.fullmatch(entry_id):
            return []
        paths = sorted((self._folder / entry_id).glob("*.json"), reverse=True)
        return [kept for path in paths if (kept := _read(path)) is not None]

    def remove(self, entry_id: str) -> None:
        """Forgets everything about a model."""
        if _ENTRY.fullmatch(entry_id):
            shutil.rmtree(self._folder / entry_id, ignore_errors=True)

    def _path(self, entry_id: str, diagnosis_id: str) -> Path:
        if not (_ENTRY.fullmatch(entry_id) and _ID.fullmatch(diagnosis_id)):
            raise NotFound("This diagnosis is not kept any more. Run it again.")
        return self._folder / entry_id / f"{diagnosis_id}.json"


def _read(path: Path) -> Kept | None:
    try:
        value: dict[str, Any] = json.loads(path.read_text())
        return Kept(str(value["id"]), str(value["owner"]), report_from_json(value["report"]))
    except (OSError, ValueError, KeyError, TypeError, StethoscopeError):
        return None
