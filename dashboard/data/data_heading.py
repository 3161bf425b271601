"""The first lines about the data in view: what it is, how much, what was assumed, what is wrong with parts of it."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from dashboard import escape, session, words
from dashboard.data import chosen_data, data_jobs, data_use
from dashboard.session import View
from stethoscope.data.dataset import DataAbout, DataField
from stethoscope.jobs.store import Entry
from stethoscope.tasks.read_data import RowsRead

_KINDS = {
    "number": "number",
    "category": "category",
    "text": "text",
    "tokens": "token list",
    "image": "image",
    "mask": "mask",
    "audio": "sound",
    "sequence": "sequence",
    "array": "array",
}


def show(view: View, entry: Entry) -> DataAbout | None:
    """Draws the lines; returns what the data says about itself, None while it is read or where it cannot be."""
    job = data_jobs.reading(entry, {"start": 0, "data_options": chosen_data.options()})
    state = data_jobs.asked(job, entry, view)
    read = data_jobs.answer(state, job, RowsRead, entry, view)
    if read is None:
        if state.done:
            with st.container(horizontal=True, gap="small"):
                st.button("Choose other data", key="other-data", on_click=session.choose_data, args=(None,))
                if chosen_data.options():
                    st.button(
                        "Without the chosen target", key="no-target", on_click=data_use.choose_target, args=(None,)
                    )
        return None
    about = read.about
    chosen_data.keep_classes(entry, read.classes or about.classes)
    _line(entry, about)
    for note in about.notes[:6]:
        st.caption(escape.sentences(note))
    _problems(about)
    return about


def _line(entry: Entry, about: DataAbout) -> None:
    rows = words.plural(about.rows, "row") if about.rows_exact else f"about {words.plural(about.rows, 'row')}"
    parts = [f"**{escape.markdown(about.title, 60)}**", rows, *_fields(about)]
    if about.classes:
        parts.append(words.plural(len(about.classes), "class", "classes"))
    if about.splits:
        parts.append("splits " + ", ".join(escape.markdown(split, 20) for split in about.splits[:4]))
    parts.append(words.size(entry.size_bytes))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        st.markdown(f"{escape.code(entry.title or entry.name, 60)} · {' · '.join(parts)}", width="stretch")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            if _has_targets(about):
                _target(about)
            st.button("Other data", key="other-data", on_click=session.choose_data, args=(None,))


def _fields(about: DataAbout) -> list[str]:
    """What a row holds: "a 28 × 28 image", "12 numbers, 3 categories"."""
    inputs = [one for one in about.fields if one.role in ("input", "target")]
    if 0 < len(inputs) <= 3:
        return [", ".join(f"{escape.code(one.name, 30)} {_shape(one)}" for one in inputs)]
    kinds = Counter(_KINDS[one.kind] for one in inputs)
    return [", ".join(words.plural(count, kind, _several(kind)) for kind, count in kinds.items())] if kinds else []


def _shape(one: DataField) -> str:
    kind = _KINDS[one.kind]
    if not one.shape:
        return kind
    size = " × ".join("?" if part is None else f"{part:,}" for part in one.shape)
    return f"{size} {kind}" if any(part is not None for part in one.shape) else kind


def _several(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


def _has_targets(about: DataAbout) -> bool:
    return len(about.fields) > 1 and all(one.kind in ("number", "category", "text") for one in about.fields)


def _target(about: DataAbout) -> None:
    """Which column is the target, for tables."""
    names = [one.name for one in about.fields if one.kind != "text"][:2_000]
    now = next((one.name for one in about.fields if one.role == "target"), data_use.NO_TARGET)
    options = [*names, data_use.NO_TARGET] if now in (*names, data_use.NO_TARGET) else [now, *names, data_use.NO_TARGET]
    key = f"target-of-{about.title}-{now}"
    st.selectbox(
        "Target",
        options,
        index=options.index(now),
        key=key,
        on_change=_choose_target,
        args=(key,),
        width=240,
        format_func=lambda one: "No target" if one == data_use.NO_TARGET else f"Target: {escape.clip(one, 40)}",
        label_visibility="collapsed",
    )


def _choose_target(key: str) -> None:
    data_use.choose_target(str(st.session_state[key]))


def _problems(about: DataAbout) -> None:
    if not about.problem_count and not about.problems:
        return
    count = max(about.problem_count, len(about.problems))
    with st.expander(f"{words.plural(count, 'problem')} in this data; the rest is shown"):
        st.dataframe(
            {
                "Where": [escape.clip(one.where or "the whole", 160) for one in about.problems],
                "What": [escape.clip(one.sentence, 600) for one in about.problems],
            },
            hide_index=True,
            column_config={"What": st.column_config.TextColumn(width="large")},
        )
        if count > len(about.problems):
            st.caption(f"The first of each kind; {words.count(count - len(about.problems))} more are counted.")
