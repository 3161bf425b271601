"""What the Devices page shows: the machine with its memory now, and the code for the chosen settings."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from dashboard import cards, escape, figures, fragments, words
from stethoscope.devices import Machine
from stethoscope.errors import CannotRun
from stethoscope.memory.card_programs import who_holds
from stethoscope.memory.container_recipes import docker_run, dockerfile, kubernetes
from stethoscope.memory.recipes import program_for
from stethoscope.memory.refusals import put_right
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import Architecture

REFRESH_S = 2.0


@fragments.part(run_every=REFRESH_S)
def machine_now(look: object) -> None:
    """The host and its cards, with their memory as it is now."""
    assert callable(look)
    machine: Machine = look()
    cores = f"{words.plural(machine.cores, 'core')}" + (
        f", {machine.core_limit:g} allowed" if machine.core_limit else ""
    )
    cards.facts(
        [
            ("Processor", cores, escape.clip(machine.processor, 60)),
            ("Memory", words.size(machine.usable_bytes), f"{words.size(machine.available_bytes)} available now"),
            ("Cards", words.count(len(machine.gpus)), escape.clip(machine.gpus_reason, 90) if not machine.gpus else ""),
        ]
    )
    rows = [("Host", machine.usable_bytes - machine.available_bytes, machine.usable_bytes)]
    rows += [(f"{gpu.index}: {gpu.name}", gpu.used_bytes, gpu.total_bytes) for gpu in machine.gpus]
    st.plotly_chart(used(rows), config=figures.CONFIG, key="machine", alt="Memory in use")


def _holders(machine: Machine) -> dict[str, list[str]]:
    held = [(card, holder) for card in machine.gpus for holder in card.holders]
    return {
        "Card": [f"{card.index}: {escape.clip(card.name, 40)}" for card, _ in held],
        "Process": [str(holder.pid or "hidden") for _, holder in held],
        "Holds": ["not told" if holder.used_bytes is None else words.size(holder.used_bytes) for _, holder in held],
    }


def used(rows: Sequence[tuple[str, int, int]]) -> go.Figure:
    """One bar for each device: in use, and what is left."""
    figure = figures.base(70 + 26 * len(rows), barmode="stack")
    names = [escape.figure(name, 32) for name, _, _ in rows]
    for title, values, colour in (
        ("in use", [taken for _, taken, _ in rows], figures.BLUE),
        ("free", [total - taken for _, taken, total in rows], "rgba(138,143,152,0.25)"),
    ):
        figure.add_bar(
            x=[value / 2**30 for value in values],
            y=names,
            orientation="h",
            marker_color=colour,
            customdata=[words.size(value) for value in values],
            hovertemplate=f"%{{y}}: %{{customdata}} {title}<extra></extra>",
        )
    figure.update_yaxes(autorange="reversed")
    most = max((total for _, _, total in rows), default=1)
    figure.update_xaxes(ticksuffix=" GiB", range=[0, most / 2**30])
    return figure


def code(name: str, architecture: Architecture, chosen: RunSettings, machine: Machine) -> None:
    """The chosen settings as Python, for Docker and for Kubernetes; what TensorFlow refuses anywhere is put right first."""
    accepted = put_right(chosen, machine)
    if accepted != chosen:
        st.caption("Written for the nearest settings that TensorFlow accepts.")
    python, docker, kube = st.tabs(["Python", "Docker", "Kubernetes"])
    with python:
        try:
            st.code(program_for(name, architecture, chosen, machine), language="python", wrap_lines=True)
        except CannotRun as error:
            st.caption(escape.sentences(error))
    with docker:
        st.caption("Memory and processors are limited by the container; the limit includes TensorFlow itself.")
        st.code(dockerfile(name, accepted, keras_2=architecture.of_keras_2), language="docker", wrap_lines=True)
        st.code(docker_run(name, accepted, cores=machine.cores), language="bash", wrap_lines=True)
    with kube:
        st.code(kubernetes(name, accepted, cores=machine.cores), language="yaml", wrap_lines=True)


def who_has_the_card(machine: Machine) -> None:
    """Who holds a card's memory now, and how to see it on any machine."""
    with st.expander("Who holds the card now"):
        holders = _holders(machine)
        if holders["Card"]:
            st.dataframe(holders, hide_index=True)
        for snippet in who_holds():
            st.markdown(f"**{escape.markdown(snippet.title)}**")
            if snippet.note:
                st.caption(escape.sentences(snippet.note))
            st.code(snippet.code, language=snippet.language, wrap_lines=True)
