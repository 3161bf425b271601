"""The tab Label doubts: rows whose label the model's own prediction speaks against, the most doubtful first."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import (
    analysis,
    described,
    escape,
    figures,
    own_code,
    progress,
    render,
    rerun,
    run_limits,
    session,
    words,
)
from dashboard.data import chosen_data, data_jobs, data_samples, sample_grid
from dashboard.session import View
from stethoscope.data.dataset import DataAbout
from stethoscope.data.view.shown import RowTable
from stethoscope.evidence.judged_labels import Doubt, DoubtedPair, JudgedLabels
from stethoscope.jobs.store import Entry
from stethoscope.tasks.read_data import RowsRead
from stethoscope.types import Architecture, Budget, Job

_PER_PAGE = 24
_MOST_ROWS = 200_000
_WEAK = 0.8
"""Below this share of right predictions most doubts are the model's own errors."""


def show(view: View, entry: Entry, about: DataAbout) -> None:
    """Draws the tab."""
    if view.entry is None:
        _asked(_without_a_model(entry), view, entry, about, _SIMPLE, allowed=True)
        return
    architecture = described.architecture(view)
    if architecture is None:
        return
    allowed = own_code.allowed(view, architecture)
    run_limits.cannot_run(architecture.runnable)
    if architecture.runnable:
        return
    _asked(_job(view.entry, architecture, entry), view, entry, about, _MODEL, allowed=allowed)


def _asked(job: Job, view: View, entry: Entry, about: DataAbout, how: str, *, allowed: bool) -> None:
    """The answer of a job, or the button that begins it."""
    state = data_jobs.find(job, entry)
    if state is None or st.session_state.pop("_doubts_again", False):
        st.caption(how)
        if st.button("Look for doubtful labels", type="primary", key="run-doubts", disabled=not allowed):
            progress.start(job, owner=view.owner, entry_id=entry.id)
            rerun.whole_page()
        return
    judged = data_jobs.answer(state, job, JudgedLabels, entry, view)
    if judged is not None:
        _answer(judged, view, entry, about)


_MODEL = (
    "The model predicts every row. Where it is sure of another class than the label says, the label may be wrong: such rows are worth "
    "a look before anything is trained."
)
_SIMPLE = (
    "Simple models that have not seen a row say which class it belongs to. Where they are sure of another class than the label says, "
    "the label may be wrong. With a model of yours in view, that one is asked instead."
)


def _without_a_model(data: Entry) -> Job:
    params = {"rows": 10_000, "data_options": chosen_data.options(), "preparation": chosen_data.steps()}
    return Job("label_doubts", {"data": data.file}, params, Budget(data_jobs.MEMORY_BYTES, data_jobs.TIME_S))


def _job(model: Entry, architecture: Architecture, data: Entry) -> Job:
    params = {
        "of": model.sha256,
        "rows": min(_MOST_ROWS, 50_000),
        "data_options": chosen_data.options(),
        "preparation": chosen_data.steps(),
    }
    return analysis.model_job("label_doubts", model, architecture.format_id, params, data=data.file)


def _answer(judged: JudgedLabels, view: View, entry: Entry, about: DataAbout) -> None:
    if not judged.possible:
        render.verdict("plain", "Not for this", "Doubts cannot be told for this model and data.")
        st.markdown(escape.sentences(judged.why_not))
        return
    rows, count = judged.rows, judged.count
    extent = (
        f"all {words.count(rows)} rows"
        if rows >= judged.of
        else f"{words.count(rows)} of {words.count(judged.of)} rows, from all parts of the data"
    )
    if not count:
        render.verdict("good", "Nothing stands out", f"{_who(judged)} of no other class than the label on {extent}.")
    else:
        render.verdict(
            "careful",
            words.plural(count, "doubt"),
            f"{_who(judged)} of another class than the label says on {words.plural(count, 'row')} of {words.count(rows)}.",
        )
    for sentence in _how_sure(judged, extent):
        st.caption(sentence)
    if count:
        _rows(judged, view, entry, about)
        with st.expander("By class", expanded=False):
            _classes(judged)


def _who(judged: JudgedLabels) -> str:
    return "The model is sure" if judged.by == "model" else "Simple models that had not seen the row are sure"


def _how_sure(judged: JudgedLabels, extent: str) -> list[str]:
    """What the doubts are worth, in words."""
    said = [f"Judged {extent}; the most probable class is the label on {words.share(judged.accuracy, 1)} of them."]
    count, right = judged.count, judged.expected_right
    if count:
        said.append(
            f"If the model's probabilities could be taken at their word, {_about(right)} of these {words.count(count)} labels would "
            "be right after all. Look at each before changing it."
        )
    if judged.accuracy < _WEAK:
        said.append(
            "The model itself is often wrong here: most of these are likely its errors, not the labels'. Train a better one first."
        )
    elif judged.accuracy > 0.995 and judged.by == "model":
        said.append(
            "If the model was trained on these very rows, it may have learned wrong labels by heart: then more are wrong than stand out here."
        )
    if judged.scores == "logits":
        said.append("The model yields logits; they were turned into probabilities.")
    if judged.left_out:
        said.append(f"{words.plural(judged.left_out, 'row')} could not be read.")
    return said


def _about(number: float) -> str:
    return "none" if number < 0.5 else f"about {words.count(round(number))}"


def _rows(judged: JudgedLabels, view: View, entry: Entry, about: DataAbout) -> None:
    doubts: Sequence[Doubt] = judged.doubts
    pairs = {f"{one.given} → {one.predicted}": one for one in judged.pairs}
    left, middle, right = st.columns([4, 1, 1], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Labelled → predicted",
        ["", *pairs],
        key=f"doubt-pair-{entry.id}",
        format_func=lambda one: f"{escape.clip(one, 70)} ({pairs[one].count:,})" if one else "All pairs",
    )
    if chosen:
        doubts = [one for one in doubts if f"{one.given} → {one.predicted}" == chosen]
    right.download_button("CSV", _csv(doubts), "label_doubts.csv", "text/csv", key="doubts-csv", width="stretch")
    pages = max(1, -(-len(doubts) // _PER_PAGE))
    at = 0
    if pages > 1:
        at = int(middle.number_input(f"Page of {pages}", 1, pages, 1, key=f"doubt-page-{entry.id}-{chosen}")) - 1
    shown = doubts[at * _PER_PAGE : (at + 1) * _PER_PAGE]
    if judged.count > len(judged.doubts):
        st.caption(f"The {words.count(len(judged.doubts))} most doubtful are kept.")
    params = {"places": [one.place for one in shown], "data_options": chosen_data.options()}
    job = data_jobs.reading(entry, params)
    state = data_jobs.asked(job, entry, view)
    read = data_jobs.answer(state, job, RowsRead, entry, view)
    if read is None or state.result is None:
        return
    notes = {
        one.place: f"→ {escape.clip(one.predicted, 24)} ({words.share(one.probability_predicted, 1)})" for one in shown
    }
    if read.table is not None:
        _table(shown, read.table, read.places)
        return
    key = f"doubts-{entry.id}"
    now = sample_grid.show(
        state.result,
        state.id,
        read.samples,
        about.classes,
        data_samples.look(),
        size="medium",
        large=False,
        key=key,
        notes=notes,
    )
    data_samples.remember_look(now)
    choice = sample_grid.opened(key)
    if choice is not None and isinstance(choice.value, int):
        session.remember("place", str(choice.value))
        st.session_state["_data_tab"] = "samples"
        rerun.whole_page()


def _table(shown: Sequence[Doubt], table: RowTable, places: Sequence[int]) -> None:
    """Doubtful rows of a table: the label and what the model says, then the row."""
    rows = dict(zip(places, table.rows, strict=True))
    columns: dict[str, list[Any]] = {
        "Row": [one.place for one in shown],
        "Label": [escape.clip(one.given, 40) for one in shown],
        "Predicted": [escape.clip(one.predicted, 40) for one in shown],
        "Probability of the label": [round(one.probability_given, 4) for one in shown],
        "of the prediction": [round(one.probability_predicted, 4) for one in shown],
    }
    for at, column in enumerate(table.columns):
        name = escape.clip(column.name, 40) or str(at)
        columns.setdefault(
            name if name not in columns else f"{name} ({at})",
            [
                None if one.place not in rows or rows[one.place][at] is None else escape.clip(rows[one.place][at], 60)
                for one in shown
            ],
        )
    st.dataframe(columns, hide_index=True)


def _classes(judged: JudgedLabels) -> None:
    classes = [one for one in judged.classes if one.rows]
    st.dataframe(
        {
            "Class": [escape.clip(one.name, 60) for one in classes],
            "Rows": [one.rows for one in classes],
            "Doubts": [one.doubts for one in classes],
            "Doubted": [words.share(one.doubts, one.rows) for one in classes],
            "Mean probability of the label": [words.significant(one.threshold) for one in classes],
        },
        hide_index=True,
    )
    if judged.pairs:
        st.plotly_chart(
            _pairs(judged.pairs), config=figures.CONFIG, key="doubt-pairs", alt="Doubts by label and prediction"
        )
    st.caption(
        "A row is doubted where another class is more probable than the label, and than 0.9 or the mean probability of that class "
        "over the rows labelled with it, whichever is less (after confident learning, Northcutt et al. 2021)."
    )


def _pairs(pairs: Sequence[DoubtedPair]) -> go.Figure:
    shown = list(reversed(pairs[:12]))
    figure = figures.base(80 + 26 * len(shown))
    figure.add_bar(
        x=[one.count for one in shown],
        y=list(range(len(shown))),
        orientation="h",
        marker_color=figures.BLUE,
        hovertemplate="%{x} rows<extra></extra>",
    )
    names = [f"{escape.figure(one.given, 24)} → {escape.figure(one.predicted, 24)}" for one in shown]
    figure.update_yaxes(tickvals=list(range(len(shown))), ticktext=names)
    figure.update_xaxes(title_text="Rows (number), label → prediction")
    return figure


def _csv(doubts: Sequence[Doubt]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["row", "label", "predicted", "probability_of_label", "probability_of_prediction"])
    for one in doubts:
        texts = [_cell(one.given), _cell(one.predicted)]
        writer.writerow([one.place, *texts, one.probability_given, one.probability_predicted])
    return out.getvalue().encode()


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text
