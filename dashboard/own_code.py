"""Code that comes with a model: what is inside its file, what the file only names, and the Python its owner gave for that."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from dashboard import escape, render, rerun, words
from dashboard.session import View
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.store import Entry, store
from stethoscope.models.own_code import MAX_BYTES
from stethoscope.types import Architecture

_SHOWN_PLACES = 5
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_ASKED = "_ask_for_code"
_EXPORT = 'model.export("exported")  # a SavedModel: it holds the computation, and needs none of its classes'


def allowed(view: View, architecture: Architecture, *, at_length: bool = False) -> bool:
    """Shows it, and lets the owner give or allow code; returns whether what the file holds may be run.

    Code that was given and defines all that the file names is a line, but where it is to be shown `at_length`.
    """
    entry = view.entry
    if entry is not None and (architecture.missing or (at_length and entry.code is not None)):
        _named(view, entry, architecture)
    elif entry is not None and entry.code is not None:
        st.caption(f"With code of its owner: {escape.code(entry.code.name)}. The overview shows it.")
    return _hazards(view, architecture)


def _named(view: View, entry: Entry, architecture: Architecture) -> None:
    missing = architecture.missing
    with st.container(border=True):
        if entry.code is not None:
            render.verdict(
                "plain", "Code given", f"{escape.code(entry.code.name)} is run with this model, as its owner said."
            )
        if missing:
            names = ", ".join(dict.fromkeys(escape.code(need.name) for need in missing[:_SHOWN_PLACES]))
            without = "runs, but cannot be trained as it was" if missing[0].only_training else "cannot be run"
            lacking = "which the code given does not define" if entry.code is not None else "and holds no code of it"
            render.verdict(
                "careful", "Names code", f"The file names {names} {lacking}: without it the model {without}."
            )
            for need in missing[:_SHOWN_PLACES]:
                of = f" of {escape.code(need.module)}" if need.module not in ("", "builtins", "__main__") else ""
                st.markdown(f"- {escape.code(need.where)} · {escape.code(need.name)}{of}")
            if len(missing) > _SHOWN_PLACES:
                st.caption(f"and {words.plural(len(missing) - _SHOWN_PLACES, 'more name')}")
        if view.mine:
            with st.container(horizontal=True):
                st.button(
                    "Add its code…" if entry.code is None else "Give other code…",
                    key="give",
                    on_click=_ask,
                    args=(entry.id,),
                )
                if entry.code is not None and st.button("Take it away", key="take-code"):
                    store().set_code(entry.id, view.owner, "", None)
                    rerun.whole_page()
            if st.session_state.get(_ASKED) == entry.id:
                _give(entry, view.owner)
        elif missing:
            st.caption("Only the owner of this model can add its code. Upload your own copy to do so.")
        if entry.code is not None:
            with st.expander("The code"):
                st.code(entry.code.path.read_text("utf-8", "replace")[:MAX_BYTES], language="python", height=320)
        elif architecture.lacks_code and not architecture.framework_version.startswith("Keras 1"):
            with st.expander("Without giving the code"):
                st.markdown("Where the code is, export the model and upload the folder that this writes:")
                st.code(_EXPORT, language="python")


def _ask(entry_id: str | None = None) -> None:
    st.session_state[_ASKED] = entry_id


@st.dialog("Code of this model", on_dismiss=_ask)
def _give(entry: Entry, owner: str) -> None:
    st.markdown(
        f"The Python file that defines the classes, losses and functions {escape.code(entry.name)} names. **It will be run**, "
        "each time this model is opened, in a contained process without network and without access to other files. "
        "Give only code that you know."
    )
    given = st.file_uploader("Python file", type=["py"], key="own-code", max_upload_size=1)
    pasted = st.text_area(
        "Or paste it", key="own-code-text", height=160, placeholder="class GatedDense(keras.layers.Layer): …"
    )
    source = given.getvalue() if given is not None else pasted.encode()
    if st.button("Add and run it", key="own-code-yes", type="primary", disabled=not source.strip(), width="stretch"):
        try:
            store().set_code(entry.id, owner, given.name if given is not None else "pasted.py", source)
        except StethoscopeError as error:
            st.error(escape.sentences(str(error)))
            return
        _ask()
        rerun.whole_page()


def _hazards(view: View, architecture: Architecture) -> bool:
    """Says what code is inside the file and, where the model then runs, lets its owner allow it; returns whether it may be run."""
    entry, items = view.entry, architecture.hazards
    if entry is None or not items:
        return True
    with st.container(border=True):
        places: dict[str, list[str]] = {}
        for hazard in items:
            places.setdefault(hazard.where or "model", []).append(hazard.message)
        many = words.plural(len(places), "place")
        if entry.trusted:
            render.verdict("plain", "Code allowed", f"This file holds code of its own in {many}; its owner allowed it.")
        elif architecture.runnable:
            render.verdict(
                "careful", "Holds code", f"This file holds code of its own in {many}. {_no_question(architecture)}"
            )
        else:
            render.verdict(
                "careful",
                "Holds code",
                f"This file holds code of its own in {many}. It is not run unless its owner says so.",
            )
        for where, messages in list(places.items())[:_SHOWN_PLACES]:
            st.markdown(f"- {escape.code(where)} · {escape.markdown(' '.join(_sentences(messages)), 600)}")
        if len(places) > _SHOWN_PLACES:
            st.caption(f"and {words.plural(len(places) - _SHOWN_PLACES, 'more place')}")
        if architecture.runnable and not entry.trusted:
            return False
        if view.mine and not entry.trusted:
            st.button("Run its code…", key="trust", on_click=_ask_to_trust, args=(entry.id,))
            if st.session_state.get("_ask_to_trust") == entry.id:
                _confirm_trust(entry, view.owner)
        elif view.mine:
            if st.button("Do not run its code any more", key="distrust"):
                store().set_trusted(entry.id, view.owner, False)
                rerun.whole_page()
        elif not entry.trusted:
            st.caption("Only the owner of this model can allow it. Upload your own copy to decide for yourself.")
    return entry.trusted


def _no_question(architecture: Architecture) -> str:
    """Why nobody is asked to allow it."""
    if architecture.lacks_code:
        return "Once the code that it only names is there too, its owner is asked whether to run it."
    return "The model cannot be run here even so."


def _sentences(messages: Sequence[str]) -> list[str]:
    """Every sentence of several messages once, in order."""
    return list(dict.fromkeys(sentence for message in messages for sentence in _SENTENCE.split(message)))


def _ask_to_trust(entry_id: str | None = None) -> None:
    st.session_state["_ask_to_trust"] = entry_id


@st.dialog("Run the code inside this file?", on_dismiss=_ask_to_trust)
def _confirm_trust(entry: Entry, owner: str) -> None:
    st.markdown(
        f"{escape.code(entry.name)} contains code that runs when the model is loaded. It will run in a contained process "
        "without network and without access to other files. Say yes only if you know where the file comes from."
    )
    yes, no = st.columns(2)
    if yes.button("Yes, run its code", key="trust-yes", type="primary", width="stretch"):
        store().set_trusted(entry.id, owner)
        _ask_to_trust()
        rerun.whole_page()
    if no.button("No", key="trust-no", width="stretch"):
        _ask_to_trust()
        rerun.whole_page()
