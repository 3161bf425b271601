"""What the page Parity says about comparisons, from the answers of their jobs."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.architecture import layer_measures
from dashboard.deployment import (
    parity_edges,
    parity_figures,
    parity_layers,
    parity_parting,
    parity_parts,
    parity_rows,
    parity_scores,
    parity_table,
    parity_ways,
)
from dashboard.deployment.parity_parts import Compared
from stethoscope.architecture.open_sizes import Sizes
from stethoscope.codec import decode
from stethoscope.compare.parity.comparison import Comparison
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Architecture, Layer, Status
from tests.answers import answer, change, row_of, state_of
from tests.dashboard.visiting import HOSTILE, add, text
from tests.small_models import tiny_onnx

OUTPUT = row_of(
    "compare",
    "outputs",
    a="label",
    b="label",
    shape=[32, 5],
    max_abs_diff=0.00164,
    mean_abs_diff=0.00083,
    nrmse=0.0044,
    top1_agreement=0.75,
    top5_agreement=None,
    within=False,
)


def row(a: str, b: str, nrmse: float | None, how: str = "name", *, same: bool = True, **more) -> dict:
    told = {
        "key": a,
        "a": a,
        "b": b,
        "how": how,
        "nrmse": nrmse,
        "max_abs": nrmse,
        "sqnr_db": 60.0,
        "same": same,
        **more,
    }
    return row_of("compare", "layers", **told)


LAYERS = [
    row("image", "in", 0.0),
    row("conv_0", "Conv_19", 0.93, "structure", same=False, merged=True),
    row("norm_0", "Conv_19", 6e-8, "values"),
    row("conv_1", "Conv_21", 1.46, "structure", same=False, merged=True),
    row("relu_1", "Relu", 0.063, same=False),
    row("conv_2", "Conv_23", 1.67, "structure", same=False, merged=True),
    row("norm_2", "mul", 0.042, "structure"),
    row("label", "label", 0.0044),
]


def guess(**changes) -> dict:
    return row_of("compare", "first_divergence.guesses", **changes)


PARTING = {
    "a": "norm_1",
    "b": "Conv_21",
    "layer": "norm_1",
    "seen_at": {"a": "norm_1", "b": "Conv_21"},
    "group": ["conv_1", "norm_1"],
    "cause": "Another epsilon",
    "cause_id": "epsilon",
    "confidence": 0.98,
    "sentence": "It explains 100.0% of it.",
    "fix": "Give both the same epsilon.",
    "nrmse": 0.09,
    "guesses": [
        guess(cause="Another epsilon", cause_id="epsilon", sentence="Again.", confidence=0.9, layer="norm_1", fix=""),
        guess(
            cause="The weights are others", cause_id="weights", sentence="So.", confidence=0.3, layer="conv_1", fix=""
        ),
    ],
}
WORST = [
    row_of(
        "compare", "worst_rows", place=12, max_abs_diff=0.0016, label="1", top_a=1, top_b=4, value_a=0.5, value_b=0.25
    ),
    row_of("compare", "worst_rows", place=3, max_abs_diff=None, top_a=None, top_b=None, value_a=None, value_b=None),
]
"""The second as a model that gives no classes has it."""
LABELS = {"a": 0.9, "b": 0.7, "change": -0.2, "low": -0.3, "high": -0.1, "only_a_right": 7}
VALUE = answer(
    "compare",
    summary="b.onnx answers otherwise than a.keras: off by at most 0.0016.",
    sentence="b.onnx answers otherwise than a.keras: off by at most 0.0016. They part at norm_1: It explains it.",
    outputs=[OUTPUT],
    top1_agreement=0.75,
    first_divergence=PARTING,
    layers=LAYERS,
    unmatched={"a": ["norm_1", "odd"]},
    source="rows.npz",
    inputs=[row_of("compare", "inputs", a="image", b="in", orientation="channels first")],
    preprocessing=None,
    worst_rows=WORST[:1],
    labels=LABELS,
    time_s={"a": 0.8, "b": 0.019},
    notes=["Largest 1e-05."],
)


def changed(**changes) -> dict:
    return change("compare", VALUE, **changes)


def compared(**changes) -> Comparison:
    return decode(Comparison, changed(**changes))


NAMES = ["image", "conv_0", "norm_0", "conv_1", "norm_1", "relu_1", "conv_2", "norm_2", "label"]
MODEL = Architecture(
    "keras",
    "",
    0,
    0,
    (),
    (),
    tuple(
        Layer(name, "Layer", (None, 3), 0, 0, "float32", tuple(NAMES[max(0, place - 1) : place]))
        for place, name in enumerate(NAMES)
    ),
)


def state(value=VALUE, status=Status.OK, **params) -> JobState:
    asked = {"rows": 32, "layers": True, "seed": 0, "other_id": "b", **params}
    return state_of("compare", value, status, **asked)


def test_layers_that_the_other_model_computes_with_a_neighbour_are_no_differences():
    found = parity_layers.pairs(compared(), MODEL)
    assert [one.a for one in found if one.merged] == ["conv_0", "conv_1", "conv_2"]
    assert parity_layers.errors(compared(), MODEL) == {
        "image": 0.0,
        "norm_0": 6e-8,
        "norm_1": 0.09,
        "relu_1": 0.063,
        "norm_2": 0.042,
        "label": 0.0044,
    }


def test_the_layer_where_they_part_stands_in_its_place_and_what_reads_it_follows():
    found = parity_layers.pairs(compared(), MODEL)
    assert [one.a for one in found if one.parted] == ["norm_1"]
    assert [one.a for one in found][3:6] == ["conv_1", "norm_1", "relu_1"]
    assert [one.a for one in found if one.follows] == ["relu_1", "conv_2", "norm_2", "label"]


def test_a_layer_with_a_row_of_its_own_is_marked_and_not_doubled():
    parting = {**PARTING, "a": "relu_1", "seen_at": {"a": "relu_1", "b": "Relu"}, "group": ["relu_1"]}
    found = parity_layers.pairs(compared(first_divergence=parting), MODEL)
    assert [one.a for one in found if one.parted] == ["relu_1"]
    assert len(found) == len(LAYERS)


def test_layers_as_csv_have_every_number_and_start_no_formula():
    layer = row("=cmd", "+b", 1e-9, clipped=0.25, range=[0.0, 1.5], step=0.01, sqnr_db=None)
    found = parity_layers.pairs(compared(layers=[layer], first_divergence=None))
    (told,) = csv.DictReader(io.StringIO(parity_layers.as_csv(found).decode()))
    assert (told["layer"], told["in_the_other"], told["relative_difference"]) == ("'=cmd", "'+b", "1e-09")
    assert (told["clipped_fraction"], told["highest"], told["signal_to_noise_db"]) == ("0.25", "1.5", "")


def test_architecture_is_coloured_by_the_last_comparison(app, tmp_path, monkeypatch):
    entry = add(tmp_path, tiny_onnx)
    monkeypatch.setattr(
        layer_measures.analysis, "last", lambda _entry, kind, saying: state() if kind == "compare" else None
    )
    measure = layer_measures.of(entry, MODEL, 1, Sizes())["parity"]
    assert measure.values["norm_1"] == 0.09
    assert "conv_1" not in measure.values
    assert [measure.text(value) for value in (0.0, 0.09)] == ["identical", "0.0900"]


@pytest.mark.parametrize(
    ("changes", "tone", "badge", "said"),
    [
        ({}, "bad", "Different", "at most 0.0016"),
        (
            {"verdict": "equal", "sentence": "b answers as a does, to the bit.", "first_divergence": None},
            "good",
            "Equal",
            "to the bit",
        ),
        (
            {"verdict": "within_tolerance", "summary": "same class in 100.0% of 8 rows."},
            "good",
            "Within tolerance",
            "100 %",
        ),
        ({"sentence": ""}, "bad", "Different", "layers were not"),
    ],
)
def test_the_verdict_is_a_sentence_without_what_the_card_says(changes, tone, badge, said):
    found = parity_parts.verdict(compared(**changes))
    sentence = found[2].replace("\\", "")
    assert found[:2] == (tone, badge)
    assert said in sentence
    assert "They part" not in sentence


def test_other_guesses_are_told_once_and_without_the_chosen_one():
    assert [one.cause_id for one in parity_parting.guesses(compared().first_divergence)] == ["weights"]


def test_a_change_of_accuracy_has_its_sign_and_interval():
    scores = compared().labels
    assert parity_scores.change(scores) == "−20.0 points"
    assert parity_scores.interval(scores) == "−30.0 points to −10.0 points"
    assert parity_scores.interval(replace(scores, low=-math.inf, high=math.inf)) == "not known"


def test_the_command_repeats_what_was_done():
    names = Compared("a b.keras", "b.onnx", MODEL)
    said = parity_parts.command(state(seed=3, layers=False, batch_size=4), names)
    assert (
        said == "stethoscope compare 'a b.keras' b.onnx --data rows.npz --rows 32 --batch-size 4 --seed 3 --no-layers"
    )


def test_rows_say_both_answers_and_numbers_that_are_none():
    found = parity_rows.table(compared(worst_rows=WORST).worst_rows, "a.keras", "b.onnx")
    assert found["a.keras says"] == ["class 1, 0.5000", "—"]
    assert found["Same class"][0] == "no"
    assert found["Largest difference"] == ["0.00160", "no number"]


def test_several_models_are_rows_of_a_table():
    running = JobState("running-0123456789", "compare", "me", "model", 0.0, status="running")
    found = parity_table.table(
        {"b": state(), "c": running, "d": state({}, Status.OUT_OF_MEMORY)}, {"b": "b.onnx", "c": "c.tflite"}
    )
    assert found["Answer"] == ["different", "running", "out of memory"]
    assert found["They part at"] == ["norm_1", "—", "—"]


def draw_depth(layers, tolerance) -> None:
    import streamlit as st

    from dashboard.deployment import parity_figures

    st.plotly_chart(parity_figures.by_depth(layers, tolerance))


def test_identical_layers_and_those_without_numbers_are_drawn_too():
    layers = [row("same", "b", 0.0), row("nan", "b2", None, same=False)]
    found = parity_layers.pairs(compared(layers=layers, first_divergence=None))
    app = AppTest.from_function(draw_depth, args=(found, 1e-4), default_timeout=60).run()
    assert not app.exception, app.exception
    assert "identical" in parity_figures._said(found[0])
    assert "no number" in parity_figures._said(found[1])


def page(job, model) -> None:
    from dashboard.deployment import parity_parts
    from dashboard.deployment.parity_parts import Compared
    from dashboard.session import View
    from tests.dashboard.visiting import HOSTILE

    parity_parts.answer(job, View("me", None), Compared("a.keras", HOSTILE, model))


def drawn(job: JobState) -> AppTest:
    # Without the layer where they part: a page alone has no other page to link it to.
    model = replace(MODEL, layers=tuple(layer for layer in MODEL.layers if layer.path != "norm_1"))
    app = AppTest.from_function(page, args=(job, model), default_timeout=90).run()
    assert not app.exception, app.exception
    return app


def test_an_answer_says_where_why_and_what_else(workspace):
    app = drawn(state())
    said = text(app).replace("\\", "")
    assert "part at** `norm_1`" in said and "other `Conv_21`" in said
    assert "98 % sure" in said
    assert "100 %" in said
    assert PARTING["fix"] in said
    assert "`conv_1` and `norm_1`" in said
    assert "3 layers" in said
    assert "No counterpart: `odd`." in said
    assert "Largest 1e−5." in said
    assert "by 3e−5" in said
    assert "8 rows" in said
    assert len(app.get("plotly_chart")) == 1
    assert app.dataframe[0].value["Same class"].tolist() == ["75.0 %"]


def test_names_from_files_stay_names(workspace):
    parting = {
        **PARTING,
        "a": HOSTILE,
        "b": HOSTILE,
        "group": [HOSTILE, HOSTILE],
        "cause": HOSTILE,
        "sentence": HOSTILE,
        "fix": HOSTILE,
    }
    layers = [row(HOSTILE, HOSTILE, 1.0, same=False)]
    app = drawn(state(changed(first_divergence=parting, summary=HOSTILE, layers=layers, notes=[HOSTILE])))
    outside = "".join(part for place, part in enumerate(text(app).split("`")) if place % 2 == 0)
    assert not re.search(r"(?<!\\)<img", outside)


def test_quantised_layers_show_noise_and_clipping(workspace):
    layers = [
        row("a", "b", 0.01, sqnr_db=40.0, clipped=0.25, range=[0, 3.5], step=0.0138),
        row("c", "d", 0.0, sqnr_db=None, clipped=0.0, range=[0, 1], step=0.004),
    ]
    app = drawn(state(changed(verdict="within_tolerance", first_divergence=None, layers=layers, worst_rows=[])))
    found = next(one.value for one in app.dataframe if "Clipped" in one.value)
    assert found["Signal to noise"].tolist() == ["40.0 dB", "identical"]
    assert found["Clipped"].tolist() == ["25.0 %", "0 %"]


def test_a_run_that_ended_badly_says_so_and_keeps_what_was_found(workspace):
    app = drawn(state({}, Status.OUT_OF_MEMORY))
    assert "its limit" in text(app)
    assert not app.dataframe
    partial = {
        key: one for key, one in VALUE.items() if key not in ("sentence", "summary", "first_divergence", "layers")
    }
    app = drawn(state(partial, Status.TIMED_OUT))
    assert "before the run" in text(app)
    assert "layers were not" in text(app)
    assert app.dataframe


def test_edge_cases_that_differ_are_shown_with_what_both_answer():
    edges = [
        row_of("compare", "edges", case="all zeros", within=True, max_abs_diff=0.0),
        row_of("compare", "edges", case="NaN", within=False, max_abs_diff=None, a="NaN"),
    ]
    found = parity_edges.table(compared(edges=edges).edges)
    assert found["All values are"] == ["zeros", "NaN"]
    assert found["Within tolerance"] == ["yes", "no"]
    assert found["The other answers"] == ["finite", "finite"]
    assert found["Largest difference"][1] == "no number"


def test_the_ways_are_those_that_the_format_has():
    keras, onnx = model_of("keras"), model_of("onnx")
    assert "way-call-predict" in parity_ways.ways(keras)
    assert list(parity_ways.ways(onnx)) == ["way-threads-1"]
    assert parity_ways.settings_of("some-model") is None
    assert parity_ways.title("way-threads-1") == "1 thread"


def model_of(format_id: str) -> Architecture:
    return Architecture(format_id, "", 0, None, (), (), ())
