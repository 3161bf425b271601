"""What the model expects beside what the data is, and the steps that make them fit: one click applies what was found to work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import asked_job, escape, recipes, render, words
from dashboard.data import data_fit_preview, data_fit_steps, data_use
from dashboard.session import View
from stethoscope.data.dataset import DataAbout
from stethoscope.errors import StethoscopeError
from stethoscope.preprocessing.preparation import Preparation
from stethoscope.store import Entry
from stethoscope.types import Architecture, Budget, Job

_MEMORY_BYTES, _LIMIT_S = 4 << 30, 120.0
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
    result = asked_job.answer(job, view, entry.name, slot="fit-data")
    if result is None:
        if use.preparation.steps:
            data_fit_steps.draw(use.preparation, None)
        return
    found = result.value
    _verdict(found, view.entry, about)
    sides = [*((one, "Input") for one in found["inputs"]), *((one, "Labels for") for one in found["outputs"])]
    for one, what in sides:
        _side(one, what, use.preparation)
    st.markdown("**Steps**")
    data_fit_steps.draw(use.preparation, found)
    data_fit_preview.draw(result, found)
    if use.preparation.steps:
        _code(found, view.entry, entry, use)


def _verdict(found: Mapping[str, Any], model: Entry, about: DataAbout) -> None:
    broken = found.get("broken")
    if broken:
        sentence = f"Step {int(broken['place']) + 1} does not apply. {escape.markdown(broken['sentence'], 400)}"
        render.verdict("bad", "Does not apply", sentence)
        return
    sides = [*found["inputs"], *found["outputs"]]
    count = sum(len(one["problems"]) for one in sides)
    read, rows = int(found["rows_read"]), about.rows
    on = f"all {words.plural(rows, 'row')}" if read >= rows else f"{words.count(read)} of {words.plural(rows, 'row')}"
    name = escape.code(model.name, 40)
    if count:
        render.verdict(
            "careful", "Does not fit", f"{words.plural(count, 'thing')} to change before {name} takes this data."
        )
    else:
        unlabelled = not any(one["has"] for one in found["outputs"])
        rest = " It holds no labels for it." if unlabelled else ""
        render.verdict(
            "good", "Fits", f"{name} takes this data{' as it is prepared' if found['steps'] else ' as it is'}.{rest}"
        )
    st.caption(f"Compared with {on}. Nothing was executed: the model's file says what it expects.")


def _side(one: Mapping[str, Any], what: str, preparation: Preparation) -> None:
    has = one.get("has")
    if has is None and one.get("ok") is None:
        return
    with st.container(border=True):
        named = f" ← {escape.code(has['name'], 40)}" if has else ""
        st.markdown(f"**{what} {escape.code(one['name'], 60)}**{named}")
        if has:
            st.markdown(_table(one, labels=what != "Input"))
        why = one["expects"].get("why_range") or one["expects"].get("why") or ""
        if why:
            st.caption(escape.sentences(why))
        for problem in one["problems"]:
            st.markdown(f":red-badge[{escape.markdown(problem['what'], 20)}] {escape.sentences(problem['sentence'])}")
        _offers(one, preparation)


def _table(one: Mapping[str, Any], *, labels: bool) -> str:
    rows = _label_rows(one) if labels else _input_rows(one)
    lines = ["| | Model expects | Data gives | |", "|---|---|---|---|"]
    for title, expects, gives, wrong in rows:
        mark = "" if expects == "anything" else _DIFFERS if wrong else _FITS
        lines.append(f"| {title} | {expects} | {gives} | {mark} |")
    return "\n".join(lines)


def _input_rows(one: Mapping[str, Any]) -> list[tuple[str, str, str, bool]]:
    expects, has = one["expects"], one["has"]
    wrong = {problem["what"] for problem in one["problems"]}
    rows = [
        ("Shape", _shape(expects["shape"]), _data_shape(has), "shape" in wrong),
        (
            "Dtype",
            escape.markdown(expects["dtype"] or "anything"),
            escape.markdown(has["dtype"]),
            bool(wrong & {"dtype", "text"}),
        ),
        ("Values", _expected_values(expects), _span(has), "range" in wrong),
    ]
    if expects["channels"] and has["channels"]:
        differs = expects["channels"] != has["channels"]
        rows.insert(1, ("Channels", str(expects["channels"]), str(has["channels"]), differs))
    if has["nan"]:
        rows.append(("Missing", "none", words.count(int(has["nan"])), "missing" in wrong))
    return rows


def _label_rows(one: Mapping[str, Any]) -> list[tuple[str, str, str, bool]]:
    expects, has = one["expects"], one["has"]
    wrong = {problem["what"] for problem in one["problems"]}
    classes = words.count(int(has["classes"])) if has["classes"] else "—"
    rows = [
        ("Shape", _shape(expects["shape"]), _shape([None, *has["shape"][1:]]), "shape" in wrong),
        (
            "Coding",
            escape.markdown(expects["encoding"] or "anything"),
            escape.markdown(_LABELS.get(has["kind"], has["kind"] or has["dtype"])),
            bool(wrong & {"text", "range", "missing"}),
        ),
    ]
    if expects["classes"]:
        more = bool(has["classes"]) and int(has["classes"]) > int(expects["classes"])
        rows.append(("Classes", words.count(int(expects["classes"])), classes, more))
    if has["min"] is not None and expects["code"] == "values":
        rows.append(("Values", _expected_values(expects), _span(has), "range" in wrong))
    return rows


_LABELS = {
    "binary": "two values", "classes": "class numbers", "one-hot": "one-hot rows", "multi-hot": "rows of several ones",
    "distribution": "rows that sum to 1", "continuous": "real numbers", "text": "text", "empty": "nothing",
}  # fmt: skip
_MODES = {
    "pixels": "pixels, 0 … 255", "unit": "0 … 1", "signed": "−1 … 1", "caffe": "pixels less mean colour, BGR",
    "torch": "standardized per channel", "around 0": "around 0, about 1 in size",
}  # fmt: skip


def _expected_values(expects: Mapping[str, Any]) -> str:
    said = _MODES.get(expects.get("mode") or "")
    if said:
        return escape.markdown(said)
    if expects.get("range"):
        low, high = (f"{float(value):,.4g}" for value in expects["range"])
        whole = "whole numbers, " if expects.get("mode") in ("tokens", "quantised") else ""
        return escape.markdown(f"{whole}{low} … {high}")
    return "anything"


def _span(has: Mapping[str, Any]) -> str:
    if has["min"] is None or has["max"] is None:
        return "—"
    low, high = (f"{float(has[key]):,.4g}" for key in ("min", "max"))
    mean = f", mean {float(has['mean']):,.3g}" if has.get("mean") is not None else ""
    return escape.markdown(f"{low} … {high}{mean}")


def _shape(shape: Sequence[int | None] | None) -> str:
    if shape is None:
        return "anything"
    inner = " × ".join("any" if size is None else words.count(int(size)) for size in shape[1:])
    return inner or "one value"


def _data_shape(has: Mapping[str, Any]) -> str:
    if has["shape"] != "several":
        return _shape([None, *has["shape"][1:]])
    examples = ", ".join(_shape([None, *shape]) for shape in has["examples"])
    return f"{words.count(int(has['shapes']))} shapes: {examples} …"


def _offers(one: Mapping[str, Any], preparation: Preparation) -> None:
    """A button for each way that was found to work."""
    places = [place for place in one.get("superfluous") or () if 0 <= place < len(preparation.steps)]
    suggested: Sequence[Sequence[Mapping[str, Any]]] = one.get("suggested") or ()
    if not places and not suggested:
        if one["problems"]:
            st.caption("No step found here makes it fit.")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("Make it fit:", width="content")
        said = preparation.words()
        for place in places[:2]:
            st.button(
                f"Remove {escape.markdown(said[place], 60)}", key=f"fit-remove-{one['name']}-{place}", type="primary",
                on_click=data_fit_steps.change, args=(preparation.without(place),),
            )  # fmt: skip
        for number, steps in enumerate(suggested[: 4 - len(places[:2])]):
            try:
                wanted = Preparation.from_json([*preparation.to_json(), *steps])
            except StethoscopeError as error:
                st.caption(escape.sentences(error))
                continue
            label = ", ".join(wanted.words()[len(preparation.steps) :])
            st.button(
                escape.markdown(label, 120), key=f"fit-{one['name']}-{number}", on_click=data_fit_steps.change, args=(wanted,),
                type="primary" if number == 0 and not places else "secondary",
            )  # fmt: skip


def _code(found: Mapping[str, Any], model: Entry, entry: Entry, use: data_use.DataUse) -> None:
    with st.expander("The same as code"):
        st.code(str(found["code"]), language="python", wrap_lines=False)
        st.markdown("Command line: every command that takes `--data` takes the steps too.")
        options = {"data": entry.name, **data_use.command_options(use.params())}
        st.code(recipes.command_line("predict", model.name, options), language="bash", wrap_lines=True)
