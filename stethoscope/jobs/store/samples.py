"""The sample models as shared entries that everybody can read."""

from __future__ import annotations

import json
import re
from pathlib import Path

from stethoscope.errors import BadSetting
from stethoscope.jobs.store.schema import Entry
from stethoscope.jobs.store.store import Store
from stethoscope.types import UploadKind

MANIFEST = "manifest.json"
_ABOUT = ("title", "behaviour", "description")


def register_samples(store: Store, folder: Path) -> tuple[Entry, ...]:
    """Makes the files that `folder/manifest.json` lists shared entries, with ids like "sample-digits".

    Registering again changes nothing; what the manifest no longer lists is removed. Without a manifest (samples not
    built yet) nothing is registered. A listed file that is missing is left out: big samples are built on demand.

    Raises:
        BadSetting: the manifest is not a list of {"file", "title", "behaviour", "description"}, with "kind" for what is no model.
    """
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return ()
    found: dict[str, Entry] = {}
    for file, about in _rows(manifest):
        entry_id = _free_id(file, found)
        if (folder / file).exists():
            found[entry_id] = store.share_sample(entry_id, folder / file, about)
    store.keep_samples(found)
    return tuple(found.values())


def _rows(manifest: Path) -> list[tuple[str, dict[str, str]]]:
    wrong = BadSetting(
        f"{manifest}: expected a list of objects with file, title, behaviour and description, got something else. "
        "Build the samples again."
    )
    try:
        rows = json.loads(manifest.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise wrong from error
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("file"), str) for row in rows
    ):
        raise wrong
    kinds = [str(row.get("kind") or UploadKind.MODEL) for row in rows]
    if not set(kinds) <= set(UploadKind):
        raise wrong
    return [
        (row["file"], {"kind": kind, **{key: str(row.get(key) or "") for key in _ABOUT}})
        for row, kind in zip(rows, kinds, strict=True)
    ]


def _free_id(file: str, taken: dict[str, Entry]) -> str:
    path = Path(file)
    for name in (path.stem, path.name, file):
        entry_id = "sample-" + re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:60]
        if entry_id not in taken:
            return entry_id
    raise BadSetting(f"{file}: the sample manifest lists it twice. Build the samples again.")
