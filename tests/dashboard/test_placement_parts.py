"""The two trials about devices, as their answers are shown."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from stethoscope.jobs.protocol import JobState
from tests.answers import answer, row_of, state_of
from tests.dashboard.visiting import badges, text

TWO = [
    row_of(
        "placement",
        "attempts",
        title="Compile without XLA",
        works=False,
        equal=None,
        reason="It clashes.",
        note="",
        code="a = 1",
    ),
    row_of("placement", "attempts", title="Clone", note="Costs memory.", code="b = 2", max_abs_diff=0.0),
]
CURVES = [
    row_of("replicas", "curves", title="One device", losses=[2.0, 1.0]),
    row_of("replicas", "curves", title="2 devices", losses=[2.0, 1.1]),
]


def page(which: str, job) -> None:
    import streamlit as st

    from dashboard.cost import placement_parts

    st.number_input("Devices", key="replicas")
    getattr(placement_parts, which)(job)


def shown(which: str, job: JobState) -> AppTest:
    app = AppTest.from_function(page, args=(which, job), default_timeout=90).run()
    assert not app.exception
    return app


def test_the_clash_its_remedies_and_whether_outputs_are_equal():
    sentence = "As saved it does not clash; compiled with XLA it does. 1 of 2 ways gives the same outputs: clone."
    app = shown("clash", state_of("placement", answer("placement", attempts=TWO, sentence=sentence)))
    said = text(app).replace("\\", "")
    assert f"**{sentence.partition('. ')[0]}.**" in said
    assert badges(app)["It clashes"] == "orange"
    assert "identical" in said
    assert "Costs memory." in said
    assert "It clashes." in said
    assert "site-packages" in answer("placement")["clash"]["message"]
    assert "site-packages" not in app.code[0].value
    assert [one.proto.expanded for one in app.expander] == [False, True]  # the first that works is open


def test_curves_on_one_device_and_on_several():
    value = answer("replicas", curves=CURVES, sentence="They agree: 1e-05 % apart.")
    app = shown("replicas", state_of("replicas", value))
    assert badges(app) == {"They agree": "green"}
    assert "1e−5 %" in text(app).replace("\\", "")
    assert len(app.get("plotly_chart")) == 1
    apart = shown("replicas", state_of("replicas", {**value, "agree": False}))
    assert badges(apart) == {"They differ": "orange"}
