"""The models that should answer as the one in view does: from the library, by link, or uploaded here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import streamlit as st

from dashboard import described, escape, render, rerun, session, upload_view
from dashboard.deployment import parity_ways
from dashboard.deployment.parity_jobs import MOST
from dashboard.session import View
from stethoscope.errors import NotFound
from stethoscope.jobs.store import Entry, store
from stethoscope.types import Architecture

ADDRESS = "other"
"""The chosen models in the address, as ids with commas between them."""
_SAMPLE, _SAMPLE_OTHER = "sample-digits-cnn", "sample-digits-cnn-int8"
_PENDING = "_parity-arrived"


def choose(view: View, compared: Sequence[str]) -> list[Entry]:
    """Draws the choice; returns the chosen ones.

    Args:
        view: with a model.
        compared: ids of the models whose comparisons are shown; they are chosen where the address names none.
    """
    assert view.entry is not None
    key = _key(view.entry.id)
    if key not in st.session_state and not _asked():
        session.remember(ADDRESS, ",".join(compared) or None)
    if _asked() and _asked() != st.session_state.get(_told(view.entry.id), _asked()):
        st.session_state.pop(key, None)  # another link was followed: it says what is chosen
    _take_arrived(view.entry.id)
    found = {
        one.id: one
        for one in (*session.linked_models(_asked()), *session.recent_models(view.owner), *_samples(view.entry))
    }
    found.pop(view.entry.id, None)
    titles = {key: escape.clip(one.title or one.name, 60) for key, one in found.items()}
    box, upload = st.columns([5, 2], vertical_alignment="bottom")
    asked = st.session_state[key] if key in st.session_state else _asked()
    st.session_state[key] = [one for one in asked if one in titles]
    chosen = box.multiselect(
        "Compare it with",
        list(titles),
        format_func=lambda one: titles.get(one, one),
        key=key,
        max_selections=MOST,
        placeholder="Choose one that should answer the same, or several",
    )
    session.remember(ADDRESS, ",".join(chosen) or None)
    st.session_state[_told(view.entry.id)] = list(chosen)
    with upload.popover("Upload it", width="stretch"):
        arrived = upload_view.show(key="parity-upload", title="Drop the other model here")
    if arrived and st.session_state.get(f"{_PENDING}-before") != arrived:
        st.session_state[f"{_PENDING}-before"] = arrived
        st.session_state[_PENDING] = arrived[0]
        rerun.whole_page()
    return [found[key] for key in chosen if key in found]


def architectures(view: View, others: Sequence[Entry]) -> dict[str, Architecture]:
    """Those of the other models that are read, by id; draws why one is not (yet)."""
    found = {}
    for one in others:
        architecture = described.architecture(View(view.owner, one))
        if architecture is not None:
            found[one.id] = architecture
    return found


def names(ids: Sequence[str]) -> dict[str, str]:
    """The file names of models by id, numbered where two have the same; ways are named after the first model. Hostile."""
    found: dict[str, str] = {}
    for key in ids:
        try:
            name = store().get(key).name if parity_ways.settings_of(key) is None else _itself(found, key)
        except NotFound:
            name = "a model that is gone"
        number = 1
        while name in found.values():
            number += 1
            path = PurePath(name)
            name = f"{path.stem} ({number}){path.suffix}"
        found[key] = name
    return found


def _itself(found: Mapping[str, str], key: str) -> str:
    return f"{next(iter(found.values()), 'itself')}, {parity_ways.title(key)}"


def invitation(view: View) -> None:
    """The empty state: what to choose, and a pair to try."""
    assert view.entry is not None
    with st.container(border=True):
        st.markdown(
            "**Choose the model that should answer the same**, above: the file on the phone, the export, last week's version. Both get "
            "the same rows. You see how far their outputs are apart, the first layer at which they part, and why."
        )
        here, there = (_sample(key) for key in (_SAMPLE, _SAMPLE_OTHER))
        if here is not None and there is not None:
            st.button(
                "Try it on a sample and its 8-bit conversion",
                key="parity-sample",
                on_click=_try,
                args=(here.id, there.id),
            )


def sentence_of_untrusted(view: View, entry: Entry, architecture: Architecture) -> bool:
    """Says so where another model holds code that nobody allowed; returns whether it may be run."""
    if not architecture.hazards or entry.trusted:
        return True
    with st.container(border=True):
        st.markdown(
            f"{escape.code(entry.name)} holds code of its own, which is not run unless its owner says so. "
            + (
                "Open it to see the code and to allow it."
                if entry.owner == view.owner
                else "Upload your own copy to decide for yourself."
            )
        )
        if entry.owner == view.owner:
            render.go_to("overview", "Open it →", model=entry.id)
    return False


def _try(model: str, other: str) -> None:
    if session.recalled("model") != model:
        session.choose(model)
    st.session_state[_key(model)] = [other]
    session.remember(ADDRESS, other)


def _take_arrived(model: str) -> None:
    """A model that was uploaded here joins the choice, before the choice is drawn."""
    arrived = st.session_state.pop(_PENDING, None)
    if arrived is None:
        return
    chosen = [*_asked(), str(arrived)][-MOST:]
    session.remember(ADDRESS, ",".join(chosen))
    st.session_state[_key(model)] = chosen


def _asked() -> list[str]:
    return [one for one in (session.recalled(ADDRESS) or "").split(",") if one][:MOST]


def _key(model: str) -> str:
    return f"parity-with-{model}"


def _told(model: str) -> str:
    """Where this tab remembers what it has put into the address."""
    return f"_parity-told-{model}"


def _samples(entry: Entry) -> list[Entry]:
    """The samples, first those whose names begin like the model's: they are likely made from it."""
    start = PurePath(entry.name).name.split("_", 1)[0].split(".", 1)[0]
    return sorted(session.sample_models(), key=lambda one: not one.name.startswith(start))


def _sample(key: str) -> Entry | None:
    try:
        return store().get(key)
    except NotFound:
        return None
