"""What the page Convert says about conversions, from the answers of their jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.deployment import convert_figures, convert_parts, convert_table, convert_targets
from stethoscope.codec import decode
from stethoscope.compare.convert import all_converters
from stethoscope.jobs.protocol import JobState
from stethoscope.tasks.convert import Conversion
from stethoscope.types import Architecture, Layer, Status
from tests.answers import answer, row_of, state_of, typed
from tests.dashboard.visiting import HOSTILE, text

REFUSED = answer(
    "convert-refused",
    unsupported=[
        row_of(
            "convert-refused",
            "unsupported",
            operator="Svd",
            layer="spectrum",
            message="tf.Svd is no op",
            way_round="Compute it outside.",
        ),
        row_of("convert-refused", "unsupported", operator=HOSTILE, layer=HOSTILE, message="", way_round=""),
    ],
)


def converted(**changes) -> dict:
    same = {"max_abs_diff": 8.34e-7, "top1_agreement": 1.0}
    return answer(
        "convert", **{"notes": ["Largest 1e-05."], "outputs": [row_of("convert", "outputs", **same)], **same, **changes}
    )


def state(value=None, status=Status.OK, error="", reason="", target="onnx", **params) -> JobState:
    asked = {"target": target, "options": {"opset": 17}, "rows": 8, "seed": 0, **params}
    return state_of(
        "convert", value or {}, status, reason=reason, error=error, job_id=f"job-of-{target}-0123456789", **asked
    )


def architecture(format_id: str = "keras") -> Architecture:
    layer = Layer("last", "Dense", (None, 3), 0, 0, "float32")
    return Architecture(format_id, "", 0, 0, (), (), (layer,))


@pytest.mark.parametrize(
    ("changed", "tone", "said"),
    [
        ({}, "good", "ONNX Runtime ran it on 8 rows; largest difference 8.34e−7, same class in all rows."),
        (
            {"top1_agreement": None, "max_abs_diff": 0},
            "good",
            "ONNX Runtime ran it on 8 rows; its outputs are identical.",
        ),
        (
            {"top1_agreement": 0.75, "target": "tflite-int8"},
            "careful",
            "LiteRT ran it on 8 rows; largest difference 8.34e−7, same class in 75.0 % of 8 rows.",
        ),
        (
            {"max_abs_diff": None, "target": "saved_model"},
            "careful",
            "TensorFlow ran it on 8 rows; outputs that are no numbers differ, same class in all rows.",
        ),
        (
            {"outputs": [row_of("convert", "outputs", sqnr_db=3.0)]},
            "careful",
            "ONNX Runtime ran it on 8 rows; largest difference 8.34e−7, same class in all rows.",
        ),
    ],
)
def test_the_verdict_says_who_ran_it_and_how_far_it_is_off(changed, tone, said):
    assert convert_parts.verdict(decode(Conversion, converted(**changed))) == (tone, "Converted", said)


def test_the_command_repeats_what_was_done_and_leaves_out_what_is_plain():
    said = convert_parts.command(state(converted(options={"opset": 18})), "cats.keras")
    assert said == "stethoscope convert cats.keras --to onnx --out cats.onnx --opset 17 --rows 8"
    other = state(converted(source="rows.npz"), target="tflite-int8", options={"integer_ends": True}, seed=3)
    assert convert_parts.command(other, "cats.keras") == (
        "stethoscope convert cats.keras --to tflite-int8 --out cats.tflite --data rows.npz --integer-ends --rows 8 --seed 3"
    )


def test_the_command_writes_what_the_target_leaves():
    for target, one in all_converters().items():
        written = convert_parts.command(state(converted(), target=target), "cats.keras").split()[6]
        assert Path(written).suffix == one.suffix and written.startswith("cats") and written != "cats", target


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [(100, 30, "70 % less"), (100, 150, "50 % more"), (100, 290, "2.9 × as much"), (100, 100, "the same"), (0, 5, "")],
)
def test_a_change_in_words(before, after, said):
    assert convert_figures.change(before, after) == said


def test_every_target_has_a_title_a_runtime_and_what_it_is_good_for():
    for key, one in all_converters().items():
        assert convert_targets.title(key) == one.title
        assert convert_targets.runtime(key) in ("ONNX Runtime", "LiteRT", "TensorFlow")
        assert one.about.endswith(".")


def test_only_the_options_that_count_for_a_target_are_asked_for():
    assert convert_targets.options_of("onnx", architecture()) == ("batch_size", "opset")
    assert convert_targets.options_of("onnx", architecture("tflite")) == ("opset",)
    assert convert_targets.options_of("tflite", architecture()) == ("batch_size",)
    assert "calibration_rows" in convert_targets.options_of("tflite-int8", architecture())


def test_a_table_of_targets_says_of_each_how_it_stands():
    running = JobState("running-0123456789", "convert", "me", "model", 0.0, status="running")
    waiting = JobState("waiting-0123456789", "convert", "me", "model", 0.0)
    states = {
        "onnx": state(converted()),
        "tflite": state(REFUSED, Status.FAILED, "CannotConvert", "m.keras: no Svd."),
        "tflite-int8": state({}, Status.FAILED, "CannotConvert", "m.keras: it is too odd."),
        "saved_model": state({}, Status.CRASHED, reason="It died."),
        "frozen_graph": running,
        "tflite-fp16": waiting,
    }
    said = convert_table.table(states)["Result"]
    assert [one.partition(": ")[0] for one in said] == [
        "converted",
        *["not converted"] * 2,
        "crashed",
        "running",
        "waiting",
    ]
    assert "Svd" in said[1]
    assert "too odd" in said[2]


def page(kind, job, shape) -> None:
    import streamlit as st

    from dashboard.deployment import convert_failure, convert_parts
    from dashboard.session import View
    from stethoscope.jobs.store import store

    view = View("me-me-me-me", next(iter(store().list("me-me-me-me"))))
    if kind == "answer":
        convert_parts.answer(job, view)
    else:
        convert_failure.shown(job, view, shape, {"onnx": job}, lambda found: st.session_state.update(tried=list(found)))


@pytest.fixture
def shown(workspace, tmp_path):
    from stethoscope.jobs.store import store

    path = tmp_path / "m.keras"
    path.write_bytes(b"model")
    store().add_file(path, "m.keras", "me-me-me-me")

    def draw(kind: str, job: JobState) -> AppTest:
        app = AppTest.from_function(page, args=(kind, job, architecture()), default_timeout=90).run()
        assert not app.exception, app.exception
        return app

    return draw


def test_an_answer_has_its_pictures_differences_notes_and_code(shown):
    app = shown("answer", state(converted()))
    said = text(app).replace("\\", "")
    assert "8.34e−7" in said
    assert any("random input" in one.value for one in app.caption)
    assert "Largest 1e−5." in said
    assert "not kept" in said  # no such job: nothing to download
    assert len(app.get("plotly_chart")) == 3
    assert app.dataframe[0].value["Same class"].tolist() == ["100 %"]
    assert app.code[0].value == typed("convert").code.strip()
    own = shown("answer", state(converted(source="rows.npz")))
    assert not [one for one in own.caption if "random" in one.value]


def test_what_cannot_be_converted_names_operators_layers_and_ways_round(shown):
    app = shown("failure", state(REFUSED, Status.FAILED, "CannotConvert", "m.keras: ONNX has no Svd."))
    said = text(app).replace("\\", "")
    assert "ONNX lacks 2 operators" in said
    assert {"Svd", "spectrum"} <= set(said.split("`")[1::2])
    assert "Compute it outside." in said
    assert "tf.Svd is no op" in app.code[0].value
    outside = "".join(part for place, part in enumerate(said.split("`")) if place % 2 == 0)
    assert "<img" not in outside
    assert "TFLite (float32)" in said
    app.button("try-others").click().run()
    assert "saved_model" in app.session_state["tried"]
    assert "onnx" not in app.session_state["tried"]


def test_a_failure_without_operators_is_a_sentence(shown):
    app = shown("failure", state({}, Status.FAILED, "CannotConvert", "m.keras: its graph has no end."))
    assert "Its graph has" in text(app)
    assert "m.keras" not in text(app)


def test_a_cancelled_conversion_offers_nothing_else(shown):
    app = shown("failure", state({}, Status.CANCELLED))
    assert "cancelled" in text(app)
    assert not app.button
