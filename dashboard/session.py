"""Who is looking, at which model, in which view. The view is the address: paste it and see the same."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from dashboard.identity import current_owner
from stethoscope.errors import NotFound
from stethoscope.jobs.store import SAMPLES_OWNER, Entry, store
from stethoscope.jobs.store.samples import MANIFEST
from stethoscope.settings import settings
from stethoscope.types import UploadKind

_MODEL = "model"
_DATA = "data"
SCRIPT = "script"
"""What the address calls a training script."""
LOG = "log"
"""What the address calls a training log."""
_OF_ONE_MODEL = ("layer", "job", "logs", "diagnosis", "compare", "study", "prep", "other", "twin", "whole")
"""Parts of the address that mean nothing for another model."""
_OF_ONE_DATA = ("prep", "target", "place", "start", "seed", "class", "split", "find", "bad", "hide")
"""Parts of the address that mean nothing for other data."""
WITH_MODEL = "with-model"
"""What the address says for the data that comes with a sample model."""


@dataclass(frozen=True)
class View:
    """What the address says: a model, or why there is none."""

    owner: str
    """Who looks."""
    entry: Entry | None
    problem: str = ""
    """Why the model in the address cannot be shown: one sentence, or empty."""

    @property
    def mine(self) -> bool:
        """Whether the viewer may rename, remove or trust the model; everybody with the link may look and run."""
        return self.entry is not None and self.entry.owner == self.owner and not self.entry.sample


def current() -> View:
    """The viewer and the model of the address, else the model of this browser tab; keeps both in step."""
    who = current_owner()
    model = st.query_params.get(_MODEL) or st.session_state.get("_model")
    if not model:
        return View(who, None)
    try:
        entry = store().get(str(model))
    except NotFound:
        return View(
            who,
            None,
            "The model in this link is not here: its owner removed it, it expired, or the link is incomplete. "
            "Choose another one, or upload it again.",
        )
    st.session_state["_model"] = entry.id
    if st.query_params.get(_MODEL) != entry.id:
        st.query_params[_MODEL] = entry.id
    store().touch(entry.id)
    return View(who, entry)


def choose(entry_id: str) -> None:
    """Makes another model the current one; what belonged to the old one leaves the address."""
    _leave_model()
    st.session_state["_model"] = entry_id
    remember(_MODEL, entry_id)


def forget() -> None:
    """Leaves no model chosen."""
    _leave_model()
    st.session_state.pop("_model", None)
    remember(_MODEL, None)


def _leave_model() -> None:
    for name in _OF_ONE_MODEL:
        remember(name, None)
    if WITH_MODEL in (recalled(_DATA), st.session_state.get(f"_{_DATA}")):
        choose_data(None)


def remember(name: str, value: str | None) -> None:
    """Puts one part of the view into the address, or takes it out."""
    said = st.query_params.get(name)
    if said == value:
        return
    unheard = _unheard()
    known = unheard.get(name)
    before = {said} if known is None else {said, known.value, *known.before}
    unheard[name] = _Unheard(value, frozenset(before - {value}))
    _put(name, value)


def settle(page: str) -> None:
    """At the start of a run: puts back into the address what the browser had not heard of when it asked for this run.

    A click that follows quickly on another comes with the address from before the first.
    """
    unheard = _unheard()
    if st.session_state.get("_page") != page:
        st.session_state["_page"] = page
        unheard.clear()
    for name, one in list(unheard.items()):
        if st.query_params.get(name) in one.before:
            _put(name, one.value)
        else:
            del unheard[name]


class _Unheard(NamedTuple):
    """A part of the view that was changed, and what the browser may still say it is."""

    value: str | None
    before: frozenset[str | None]


def _unheard() -> dict[str, _Unheard]:
    found: dict[str, _Unheard] = st.session_state.setdefault("_unheard", {})
    return found


def _put(name: str, value: str | None) -> None:
    if value is None:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = value


def recalled(name: str) -> str | None:
    """One part of the view from the address."""
    return st.query_params.get(name) or None


def data_in_view() -> str | None:
    """The id of the data in the address, else of this browser tab; keeps both in step. `WITH_MODEL` is not an entry's id."""
    here = recalled(_DATA)
    if here:
        st.session_state[f"_{_DATA}"] = here
    known = here or st.session_state.get(f"_{_DATA}")
    if known:
        remember(_DATA, str(known))
    return str(known) if known else None


def choose_data(data_id: str | None) -> None:
    """Makes other data the current one, or none; what belonged to the old one leaves the address."""
    for name in _OF_ONE_DATA:
        st.session_state.pop(name, None)
        remember(name, None)
    st.session_state[f"_{_DATA}"] = data_id
    remember(_DATA, data_id)


def choose_log(log_id: str) -> None:
    """Makes an upload the log that the page Training shows."""
    st.session_state[f"_{LOG}"] = log_id
    remember(LOG, log_id)


def script_in_view() -> Entry | None:
    """The training script in the address, else of this browser tab; keeps both in step."""
    here = recalled(SCRIPT) or st.session_state.get(f"_{SCRIPT}")
    if not here:
        return None
    try:
        entry = store().get(str(here))
    except NotFound:
        choose_script(None)
        return None
    choose_script(entry.id)
    store().touch(entry.id)
    return entry


def choose_script(script_id: str | None) -> None:
    """Makes another training script the current one, or none."""
    st.session_state[f"_{SCRIPT}"] = script_id
    remember(SCRIPT, script_id)


def recent_models(owner: str) -> list[Entry]:
    """The viewer's own models, last used first."""
    return list(store().list(owner, UploadKind.MODEL))


def linked_models(ids: Iterable[str]) -> list[Entry]:
    """The models that an address names: whoever has the link may see them, as with the model itself."""
    found = []
    for entry_id in ids:
        try:
            found.append(store().get(entry_id))
        except NotFound:
            continue
    return [entry for entry in found if entry.kind is UploadKind.MODEL]


def recent_data(owner: str) -> list[Entry]:
    """The viewer's own data, last used first."""
    return list(store().list(owner, UploadKind.DATA))


def sample_models() -> tuple[Entry, ...]:
    """The samples everybody may try, in the order of their manifest."""
    return _samples(UploadKind.MODEL)


def sample_data_sets() -> tuple[Entry, ...]:
    """The data sets everybody may try, in the order of their manifest."""
    return _samples(UploadKind.DATA)


def _samples(kind: UploadKind) -> tuple[Entry, ...]:
    rows = _manifest(settings().samples_dir / MANIFEST)
    places = {Path(row["file"]).name: place for place, row in enumerate(rows)}
    found = store().list(SAMPLES_OWNER, kind)
    return tuple(sorted(found, key=lambda entry: (places.get(entry.name, len(places)), entry.name)))


def _manifest(manifest: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(manifest.read_text("utf-8")) if manifest.is_file() else []
    return rows
