"""The Planner's settings and answer: what each device holds under each plan, which fit, and the code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, linked, render, session, words
from stethoscope.errors import BadSetting
from stethoscope.memory.planner.plan import Plan, Settings
from stethoscope.memory.planner.presets import DEVICES, device
from stethoscope.memory.planner.remarks import milliseconds
from stethoscope.memory.planner.states import OPTIMIZERS, PRECISIONS
from stethoscope.memory.planner.strategy_code import StrategyCode
from stethoscope.memory.planner.tpu_limits import TpuLimits

OWN = "other"
_PARTS = (
    ("weights", "Weights", figures.BLUE),
    ("gradients", "Gradients", figures.ORANGE),
    ("optimizer", "Optimizer", figures.PURPLE),
    ("activations", "Activations", figures.GREEN),
    ("buffers", "Buffers", figures.GREY),
)
_VERDICTS = {"fits": "fits", "too_near": "too near to say", "does_not_fit": "does not fit"}
_MOST_BARS = 12
_NAMES = {
    "single": "one device",
    "data": "data parallel",
    "tensor": "tensor parallel",
    "pipeline": "pipeline",
    "zero1": "ZeRO 1",
    "zero2": "ZeRO 2",
    "zero3": "ZeRO 3",
    "recompute": "recompute",
    "selective-recompute": "selective recompute",
}


def settings(*, usual_length: int | None) -> tuple[Settings, int | None] | None:
    """Draws the form; returns the settings and the sequence length, or None after saying what is wrong.

    Args:
        usual_length: the sequence length that is taken where none is given; None where the model leaves none open.
    """
    first = st.grid(4, min_column_width=150, vertical_alignment="bottom")
    with first.cell():
        titles = {key: preset.title for key, preset in DEVICES.items()} | {OWN: "Another size"}
        chosen = linked.select("Device", titles, "a100-40", "device")
    if chosen == OWN:
        with first.cell():
            own = st.text_input("Its memory", "16GB", key="device-memory", bind="query-params")
    else:
        own = ""
    with first.cell():
        count = st.number_input("Devices", 1, 65_536, 8, key="devices", bind="query-params")
    with first.cell():
        modes = {"training": "training", "inference": "inference"}
        training = linked.select("For", modes, "training", "mode") == "training"
    with first.cell():
        batch = st.number_input(
            "Batch size", 1, 1_000_000, 32, key="plan-batch", bind="query-params", help="Over all devices together"
        )
    with first.cell():
        precision = linked.select("Precision", _or_as_in_the_file(PRECISIONS), "auto", "precision")
    optimizer = "auto"
    if training:
        with first.cell():
            optimizer = linked.select("Optimizer", _or_as_in_the_file(OPTIMIZERS), "auto", "optimizer")
    length = None
    if usual_length is not None:
        with first.cell():
            length = st.number_input(
                "Sequence length",
                1,
                10_000_000,
                None,
                key="sequence",
                bind="query-params",
                placeholder=str(usual_length),
                help="For inputs whose length is open",
            )
    with st.popover("More"):
        recompute = st.toggle("With recomputed activations", value=True, key="recompute", bind="query-params")
    try:
        asked = Settings(
            device(own if chosen == OWN else chosen), int(count), training, optimizer, precision, int(batch), recompute
        )
    except BadSetting as error:
        st.warning(escape.sentences(error))
        return None
    return asked, int(length) if length else None


def _or_as_in_the_file(names: Iterable[str]) -> dict[str, str]:
    return {"auto": "as in the file"} | {name: name for name in names}


def answer(plans: Sequence[Plan], asked: Settings) -> Plan | None:
    """The verdict, the picture, and the choice of a plan to look at."""
    runnable = [plan for plan in plans if plan.available]
    if not runnable:
        render.empty("There is no plan for this model: its layers say nothing about their shapes.")
        return None
    fitting = [plan for plan in runnable if plan.fits]
    best = fitting[0] if fitting else min(runnable, key=lambda plan: plan.bytes_per_device.total)
    room = words.size(asked.device.usable_bytes)
    need, more = words.size(best.bytes_per_device.total), words.size(best.margin_bytes)
    step = f"A step takes about {milliseconds(best.time.total_s)}, as reckoned below."
    if fitting and best.devices == 1:
        render.verdict("good", "It fits", f"One device is enough: {need} of its {room}. {step}")
    elif fitting:
        where = f"on each of {best.devices:,} devices"
        alone = " One device alone has room too." if any(plan.devices == 1 for plan in fitting) else ""
        how = name(best.kind)
        render.verdict("good", "It fits", f"{how[:1].upper()}{how[1:]}: {need} of {room} {where}. {step}{alone}")
    elif best.verdict == "too_near":
        render.verdict(
            "plain",
            "Too near to say",
            f"The smallest plan, {name(best.kind)}, needs {need} of {room} a device, and may need {more} more: it is reckoned, "
            "not run. The Memory page measures training.",
        )
    else:
        render.verdict(
            "bad", "It does not fit", f"The smallest plan, {name(best.kind)}, needs {need} a device; {room} are usable."
        )
    st.plotly_chart(
        picture(runnable, asked.device.usable_bytes), config=figures.CONFIG, key="plans", alt="Memory of each plan"
    )
    elsewhere = [plan for plan in plans if not plan.available]
    if elsewhere:
        each = "; ".join(
            f"{name(plan.kind)} {words.size(plan.bytes_per_device.total)}, {milliseconds(plan.time.total_s)}"
            for plan in elsewhere
        )
        st.caption(f"Not in TensorFlow or Keras, arithmetic to compare with: {escape.markdown(each, 400)}.")
    titles = {plan.kind: _line(plan) for plan in runnable}
    if st.session_state.get("_plan-best") not in (None, best.kind):
        st.session_state.pop("plan", None)  # other settings, another best plan
        session.remember("plan", None)
    st.session_state["_plan-best"] = best.kind
    chosen = linked.select("Plan", titles, best.kind, "plan")
    return next(plan for plan in runnable if plan.kind == chosen)


def name(kind: str) -> str:
    """A kind of plan as people call it: "tensor+zero1" is tensor parallel + ZeRO 1."""
    return " + ".join(_NAMES.get(part, part) for part in kind.split("+"))


def _line(plan: Plan) -> str:
    need = words.size(plan.bytes_per_device.total)
    return (
        f"{name(plan.kind)}: {words.plural(plan.devices, 'device')}, {need} each, {_VERDICTS[plan.verdict]}, "
        f"{milliseconds(plan.time.total_s)} a step"
    )


def picture(plans: Sequence[Plan], usable_bytes: int) -> go.Figure:
    """Stacked bars: what the fullest device holds under each plan, against what it has."""
    shown = list(plans[:_MOST_BARS])[::-1]
    longest = max(plan.bytes_per_device.total for plan in shown)
    far = usable_bytes > 4 * longest
    unit, divisor = ("GiB", 2**30) if longest >= 2**30 else ("MiB", 2**20)
    figure = figures.base(110 + 26 * len(shown), barmode="stack")
    for field, title, colour in _PARTS:
        sizes = [getattr(plan.bytes_per_device, field) for plan in shown]
        figure.add_bar(
            x=[size / divisor for size in sizes],
            y=list(range(len(shown))),
            orientation="h",
            name=title,
            marker_color=colour,
            customdata=[[words.size(size), name(plan.kind)] for size, plan in zip(sizes, shown, strict=True)],
            hovertemplate=f"%{{customdata[1]}}<br>{title}: %{{customdata[0]}}<extra></extra>",
        )
    if not far:
        figure.add_vline(x=usable_bytes / divisor, line={"color": figures.LIMIT, "width": 2, "dash": "dash"})
    figure.add_annotation(
        x=longest / divisor if far else usable_bytes / divisor,
        y=1,
        yref="paper",
        yanchor="bottom",
        xanchor="right" if far or usable_bytes > 0.5 * longest else "left",
        showarrow=False,
        text=f"usable {words.size(usable_bytes)}{' →' if far else ''}",
        font={"color": figures.LIMIT},
    )
    figure.update_yaxes(
        tickvals=list(range(len(shown))), ticktext=[escape.figure(name(plan.kind), 60) for plan in shown]
    )
    figure.update_xaxes(title_text=f"Memory of the fullest device ({unit})")
    return figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "yref": "container", "y": 1.0, "yanchor": "top", "x": 0, "traceorder": "normal"},
        margin_t=64,
    )


def details(plan: Plan, codes: Sequence[StrategyCode], assumptions: Sequence[str]) -> None:
    """One plan: what it holds, what was assumed, and its code."""
    held = plan.bytes_per_device
    st.dataframe(
        {
            "On each device": [*(title for _, title, _ in _PARTS), "Total"],
            "Memory": [*(words.size(getattr(held, field)) for field, _, _ in _PARTS), words.size(held.total)],
        },
        hide_index=True,
    )
    for note in dict.fromkeys((*plan.notes, *assumptions)):
        st.markdown(f"- {escape.sentences(note)}")
    for place, code in enumerate(codes):
        with st.expander(escape.markdown(code.title), expanded=place == 0):
            if code.note:
                st.caption(escape.sentences(code.note))
            st.code(code.code, language="python", wrap_lines=True)
            st.caption(f"Runs on {escape.markdown(code.runs_on)}. It was not run here.")


def on_tpu(limits: TpuLimits) -> None:
    """What stands against the model on a TPU."""
    st.markdown("**On a TPU**")
    for sentence in limits.sentences():
        st.markdown(f"- {escape.sentences(sentence)}")
