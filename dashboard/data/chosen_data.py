"""The data in view: an upload, one of the sets to try, or what comes with the sample model in view."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import escape, runs, session
from dashboard.data import data_use
from stethoscope.errors import NotFound
from stethoscope.jobs.store import SAMPLES_OWNER, Entry, store
from stethoscope.types import UploadKind


def current(view: session.View) -> Entry | None:
    """The data of the address or of this browser tab; None where nothing is chosen.

    Raises:
        NotFound: what the address names is gone, or belongs to another model.
    """
    chosen = session.data_in_view()
    if not chosen:
        return None
    if chosen != session.WITH_MODEL:
        try:
            entry = store().get(chosen)
        except NotFound as error:
            gone = "The data in this link is not here: its owner removed it, it expired, or the link is incomplete."
            raise NotFound(f"{gone} Choose other data.") from error
        store().touch(entry.id)
        return entry
    found = None if view.entry is None else with_model(view.entry)
    if found is None:
        raise NotFound("The data in this link came with a sample model that is not chosen any more. Choose other data.")
    return found


def with_model(model: Entry) -> Entry | None:
    """The data that comes with a sample model, as an entry of its own; None for other models."""
    file = runs.sample_data(model)
    if file is None:
        return None
    facts = file.path.stat()
    when = datetime.fromtimestamp(facts.st_mtime, UTC)
    return Entry(
        id=f"{model.id}-data",
        sha256=_digest(file.path, facts.st_mtime_ns),
        name=file.name,
        size_bytes=facts.st_size,
        owner=SAMPLES_OWNER,
        format_id="",
        created=when,
        last_used=when,
        sample=True,
        trusted=False,
        path=file.path,
        kind=UploadKind.DATA,
    )


@functools.lru_cache(64)
def _digest(path: Path, _changed_ns: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def options() -> dict[str, Any]:
    """What the visitor said about the data, as `DataReader.open` takes it."""
    target = data_use.target()
    return {"target": target} if target else {}


def steps() -> list[dict[str, Any]]:
    """The steps in view that prepare the data."""
    return data_use.preparation().to_json()


def step_words() -> list[str]:
    """Each step in a few words, escaped."""
    return [escape.markdown(word, 80) for word in data_use.preparation().words()]


def keep_classes(entry: Entry, classes: Sequence[str]) -> None:
    """Keeps the classes of the data in view while a page is drawn."""
    st.session_state["_classes"] = (entry.id, list(classes))


def classes(entry: Entry) -> list[str]:
    """The classes of the data, those included that only its rows name."""
    of, found = st.session_state.get("_classes") or ("", [])
    return list(found) if of == entry.id else []
