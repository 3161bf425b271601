"""What is registered with Streamlit for a folder."""

from __future__ import annotations

import streamlit as st

from dashboard import components
from dashboard.architecture import graph_view, layer_table


def test_a_folder_is_registered_once_under_its_own_name(monkeypatch):
    made = []
    monkeypatch.setattr(st.components.v2, "component", lambda name, **parts: made.append((name, parts)) or name)
    components._registered.cache_clear()
    try:
        asked = [components.component(module.FOLDER) for module in (graph_view, layer_table, graph_view)]
        both = components.component(layer_table.FOLDER, ("../../choices.js", "component.js"))
    finally:
        components._registered.cache_clear()
    assert asked == [
        "stethoscope_architecture_graph_view",
        "stethoscope_architecture_layer_table",
        "stethoscope_architecture_graph_view",
    ]
    assert len(made) == 3
    assert both == asked[1]
    assert made[2][1]["js"].startswith((layer_table.FOLDER.parents[1] / "choices.js").read_text("utf-8"))


def test_data_is_wrapped_as_it_is():
    assert components.as_it_is({"a": 1}) == ({"a": 1},)
