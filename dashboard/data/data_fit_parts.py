"""What the model expects beside what the data is, and the steps that make them fit: one click applies what was found to work."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import asking, escape, recipes, render, words
from dashboard.data import data_fit_preview, data_fit_steps, data_use
from dashboard.session import View
from stethoscope.codec import answer_of
from stethoscope.data.dataset import DataAbout
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.data_fit.expected_input import Mode
from stethoscope.evidence.data_fit.report import DataFit, GivenLabels, GivenValues, InputFit, OutputFit
from stethoscope.jobs.store import Entry
from stethoscope.types import Architecture, Budget, Job

_MEMORY_BYTES, _LIMIT_S = 4 << 30, 120.0
_Row = tuple[str, str, str, bool]
"""What it is about, what the model expects, what the data gives, whether they differ."""
_FITS, _DIFFERS = ":green-badge[fits]", ":red-badge[differs]"


def show(view: View, architecture: Architecture, entry: Entry, about: DataAbout) -> None:
    """Draws the comparison of the model in view with the data `entry`.

    Args:
        view: with a model.
        architecture: of that model.
        entry: the data.
        about: what the data says about itself.
    """
    assert view.entry is not None
    use = data_use.of_view(entry)
    job = Job("fit_data", {"model": view.entry.file, "data": entry.file}, use.params(), Budget(_MEMORY_BYTES, _LIMIT_S))
    result = asking.answer(job, view, entry.name, slot="fit-data")
    if result is None:
        if use.preparation.steps:
            data_fit_steps.draw(use.preparation, None)
        return
    found = answer_of(result, DataFit)
    _verdict(found, view.entry, about)
    for side in found.sides:
        _side(side, use.preparation)
    st.markdown("**Steps**")
    data_fit_steps.draw(use.preparation, found)
    data_fit_preview.draw(result, found)
    if use.preparation.steps:
        _code(found, view.entry, entry, use)


def _verdict(found: DataFit, model: Entry, about: DataAbout) -> None:
    if found.broken:
        sentence = f"Step {found.broken.place + 1} does not apply. {escape.markdown(found.broken.sentence, 400)}"
        render.verdict("bad", "Does not apply", sentence)
        return
    count = len(found.problems)
    read, rows = found.rows_read, about.rows
    on = f"all {words.plural(rows, 'row')}" if read >= rows else f"{words.count(read)} of {words.plural(rows, 'row')}"
    name = escape.code(model.name, 40)
    if count:
        render.verdict(
            "careful", "Does not fit", f"{words.plural(count, 'thing')} to change before {name} takes this data."
        )
    else:
        unlabelled = not any(output.has for output in found.outputs)
        rest = " It holds no labels for it." if unlabelled else ""
        render.verdict(
            "good", "Fits", f"{name} takes this data{' as it is prepared' if found.steps else ' as it is'}.{rest}"
        )
    st.caption(f"Compared with {on}. Nothing was executed: the model's file says what it expects.")


def _side(side: InputFit | OutputFit, preparation: Preparation) -> None:
    if side.has is None and side.ok is None:
        return
    with st.container(border=True):
        named = f" ← {escape.code(side.has.name, 40)}" if side.has else ""
        what = "Input" if isinstance(side, InputFit) else "Labels for"
        st.markdown(f"**{what} {escape.code(side.name, 60)}**{named}")
        if isinstance(side, InputFit):
            rows, why = _input_rows(side), side.expects.why_range
        else:
            rows, why = _label_rows(side), side.expects.why
        if rows:
            st.markdown(_table(rows))
        if why:
            st.caption(escape.sentences(why))
        for problem in side.problems:
            st.markdown(f":red-badge[{escape.markdown(problem.what, 20)}] {escape.sentences(problem.sentence)}")
        _offers(side, preparation)


def _table(rows: Sequence[_Row]) -> str:
    lines = ["| | Model expects | Data gives | |", "|---|---|---|---|"]
    for title, expects, gives, wrong in rows:
        mark = "" if expects == "anything" else _DIFFERS if wrong else _FITS
        lines.append(f"| {title} | {expects} | {gives} | {mark} |")
    return "\n".join(lines)


def _input_rows(side: InputFit) -> list[_Row]:
    expects, has = side.expects, side.has
    if has is None:
        return []
    wrong = {problem.what for problem in side.problems}
    rows = [
        ("Shape", _shape(expects.shape), _data_shape(has), "shape" in wrong),
        (
            "Dtype",
            escape.markdown(expects.dtype or "anything"),
            escape.markdown(has.dtype),
            bool(wrong & {"dtype", "text"}),
        ),
        ("Values", _expected_values(expects.mode, expects.range), _span(has), "range" in wrong),
    ]
    if expects.channels and has.channels:
        rows.insert(1, ("Channels", str(expects.channels), str(has.channels), expects.channels != has.channels))
    if has.nan:
        rows.append(("Missing", "none", words.count(has.nan), "missing" in wrong))
    return rows


def _label_rows(side: OutputFit) -> list[_Row]:
    expects, has = side.expects, side.has
    if has is None:
        return []
    wrong = {problem.what for problem in side.problems}
    rows = [
        ("Shape", _shape(expects.shape), _shape(has.shape), "shape" in wrong),
        (
            "Coding",
            escape.markdown(expects.encoding or "anything"),
            escape.markdown(_LABELS.get(has.kind, has.kind or has.dtype)),
            bool(wrong & {"text", "range", "missing"}),
        ),
    ]
    if expects.classes:
        classes = words.count(has.classes) if has.classes else "—"
        rows.append(("Classes", words.count(expects.classes), classes, (has.classes or 0) > expects.classes))
    if has.min is not None and expects.code == "values":
        rows.append(("Values", _expected_values("any", expects.range), _span(has), "range" in wrong))
    return rows


_LABELS = {
    "binary": "two values",
    "classes": "class numbers",
    "one-hot": "one-hot rows",
    "multi-hot": "rows of several ones",
    "distribution": "rows that sum to 1",
    "continuous": "real numbers",
    "text": "text",
    "empty": "nothing",
}
_MODES: dict[Mode, str] = {
    "pixels": "pixels, 0 … 255",
    "unit": "0 … 1",
    "signed": "−1 … 1",
    "caffe": "pixels less mean colour, BGR",
    "torch": "standardized per channel",
    "around 0": "around 0, about 1 in size",
}


def _expected_values(mode: Mode, span: tuple[float, float] | None) -> str:
    if mode in _MODES:
        return escape.markdown(_MODES[mode])
    if span is None:
        return "anything"
    whole = "whole numbers, " if mode in ("tokens", "quantised") else ""
    return escape.markdown(f"{whole}{span[0]:,.4g} … {span[1]:,.4g}")


def _span(has: GivenValues | GivenLabels) -> str:
    if has.min is None or has.max is None:
        return "—"
    mean = f", mean {has.mean:,.3g}" if has.mean is not None else ""
    return escape.markdown(f"{has.min:,.4g} … {has.max:,.4g}{mean}")


def _shape(shape: Sequence[int | None] | None) -> str:
    if shape is None:
        return "anything"
    inner = " × ".join("any" if size is None else words.count(size) for size in shape[1:])
    return inner or "one value"


def _data_shape(has: GivenValues) -> str:
    if has.shape != "several":
        return _shape(has.shape)
    examples = ", ".join(_shape([None, *shape]) for shape in has.examples)
    return f"{words.count(has.shapes)} shapes: {examples} …"


def _offers(side: InputFit | OutputFit, preparation: Preparation) -> None:
    """A button for each way that was found to work."""
    superfluous = side.superfluous if isinstance(side, InputFit) else ()
    places = [place for place in superfluous if 0 <= place < len(preparation.steps)]
    if not places and not side.suggested:
        if side.problems:
            st.caption("No step found here makes it fit.")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("Make it fit:", width="content")
        said = preparation.words()
        for place in places[:2]:
            st.button(
                f"Remove {escape.markdown(said[place], 60)}",
                key=f"fit-remove-{side.name}-{place}",
                type="primary",
                on_click=data_fit_steps.change,
                args=(preparation.without(place),),
            )
        for number, steps in enumerate(side.suggested[: 4 - len(places[:2])]):
            try:
                wanted = Preparation.from_json([*preparation.to_json(), *steps])
            except StethoscopeError as error:
                st.caption(escape.sentences(error))
                continue
            label = ", ".join(wanted.words()[len(preparation.steps) :])
            st.button(
                escape.markdown(label, 120),
                key=f"fit-{side.name}-{number}",
                on_click=data_fit_steps.change,
                args=(wanted,),
                type="primary" if number == 0 and not places else "secondary",
            )


def _code(found: DataFit, model: Entry, entry: Entry, use: data_use.DataUse) -> None:
    with st.expander("The same as code"):
        st.code(found.code, language="python", wrap_lines=False)
        st.markdown("Command line: every command that takes `--data` takes the steps too.")
        options = {"data": entry.name, **data_use.command_options(use.params())}
        st.code(recipes.command_line("predict", model.name, options), language="bash", wrap_lines=True)
