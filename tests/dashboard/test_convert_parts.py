"""What the page Convert says about conversions, from the answers of their jobs."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.deployment import convert_figures, convert_parts, convert_table, convert_targets
from stethoscope.convert import all_converters
from stethoscope.jobs.state import JobState
from stethoscope.types import Architecture, JobResult, Layer, Status
from tests.dashboard.visiting import HOSTILE, text

OUTPUT = {
    "name": "digit", "in_target": "digit", "shape": [8, 10], "max_abs_diff": 8.34e-7, "mean_abs_diff": 3e-8, "cosine": 1.0,
    "sqnr_db": 127.0, "top1_agreement": 1.0, "nonfinite": 0,
}  # fmt: skip
VALUE = {
    "target": "onnx", "title": "ONNX", "file": "model.onnx", "beside": [], "size_bytes": 89_804, "source_size_bytes": 296_011,
    "runs_in_target": True, "max_abs_diff": 8.34e-7, "top1_agreement": 1.0, "outputs": [OUTPUT], "unsupported": [],
    "notes": ["Largest 1e-05."], "rows": 8, "source": "dummy", "options": {"opset": 18}, "code": "import tf2onnx",
    "operators": {"before": {"Dense": 2}, "after": {"MatMul": 2, "Add": 2}}, "time_s": {"before": 0.003, "after": 0.0003, "rows": 8},
    "peak_bytes": {"before": 12_000_000, "after": 46_000_000},
    "estimated_peak_bytes": {"before": 14_000_000, "after": 12_000_000}, "convert_s": 1.4, "convert_peak_bytes": 37_000_000,
}  # fmt: skip
REFUSED = {
    "unsupported": [
        {"operator": "Svd", "layer": "spectrum", "message": "tf.Svd is no op", "way_round": "Compute it outside of the model."},
        {"operator": HOSTILE, "layer": HOSTILE, "message": "", "way_round": ""},
    ]
}  # fmt: skip


def state(value=None, status=Status.OK, error="", reason="", target="onnx", **params) -> JobState:
    result = JobResult(status, value or {}, reason, "", 0, 2.0, {}, error)
    asked = {"target": target, "options": {"opset": 17}, "rows": 8, "seed": 0, **params}
    return JobState(f"job-of-{target}-0123456789", "convert", "me", "model", 0.0, asked, "done", result=result)


def architecture(format_id: str = "keras") -> Architecture:
    layer = Layer("last", "Dense", (None, 3), 0, 0, "float32")
    return Architecture(format_id, "", 0, 0, (), (), (layer,))


@pytest.mark.parametrize(
    ("changed", "tone", "said"),
    [
        ({}, "good", "ONNX Runtime ran it on 8 rows; largest difference 8.34e−7, same class in all rows."),
        ({"top1_agreement": None, "max_abs_diff": 0.0}, "good", "ONNX Runtime ran it on 8 rows; its outputs are identical."),
        ({"top1_agreement": 0.75, "target": "tflite-int8"}, "careful", "LiteRT ran it on 8 rows; largest difference 8.34e−7, same class in 75.0 % of 8 rows."),
        ({"max_abs_diff": None, "target": "saved_model"}, "careful", "TensorFlow ran it on 8 rows; outputs that are no numbers differ, same class in all rows."),
        ({"outputs": [{**OUTPUT, "sqnr_db": 3.0}]}, "careful", "ONNX Runtime ran it on 8 rows; largest difference 8.34e−7, same class in all rows."),
    ],
)  # fmt: skip
def test_the_verdict_says_who_ran_it_and_how_far_it_is_off(changed, tone, said):
    assert convert_parts.verdict({**VALUE, **changed}) == (tone, "Converted", said)


def test_the_command_repeats_what_was_done_and_leaves_out_what_is_plain():
    said = convert_parts.command(state(VALUE), "cats.keras")
    assert said == "stethoscope convert cats.keras --to onnx --out cats.onnx --opset 17 --rows 8"
    other = state({**VALUE, "source": "rows.npz"}, target="tflite-int8", options={"integer_ends": True}, seed=3)
    assert convert_parts.command(other, "cats.keras") == (
        "stethoscope convert cats.keras --to tflite-int8 --out cats.tflite --data rows.npz --integer-ends --rows 8 --seed 3"
    )


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
        "onnx": state(VALUE),
        "tflite": state(REFUSED, Status.FAILED, "CannotConvert", "m.keras: no Svd."),
        "tflite-int8": state({}, Status.FAILED, "CannotConvert", "m.keras: it is too odd."),
        "saved_model": state({}, Status.CRASHED, reason="It died."),
        "frozen_graph": running,
        "tflite-fp16": waiting,
    }
    said = convert_table.table(states)["Result"]
    assert said[0] == "converted"
    assert said[1].startswith("not converted: no Svd, ")
    assert said[2:] == ["not converted: it is too odd.", "crashed", "running", "waiting"]


def page(kind, job, shape) -> None:
    import streamlit as st

    from dashboard.deployment import convert_failure, convert_parts
    from dashboard.session import View
    from stethoscope.store import store

    view = View("me-me-me-me", next(iter(store().list("me-me-me-me"))))
    if kind == "answer":
        convert_parts.answer(job, view)
    else:
        convert_failure.shown(job, view, shape, {"onnx": job}, lambda found: st.session_state.update(tried=list(found)))


@pytest.fixture
def shown(workspace, tmp_path):
    from stethoscope.store import store

    path = tmp_path / "m.keras"
    path.write_bytes(b"model")
    store().add_file(path, "m.keras", "me-me-me-me")

    def draw(kind: str, job: JobState) -> AppTest:
        app = AppTest.from_function(page, args=(kind, job, architecture()), default_timeout=90).run()
        assert not app.exception, app.exception
        return app

    return draw


def test_an_answer_has_its_pictures_differences_notes_and_code(shown):
    app = shown("answer", state(VALUE))
    said = text(app).replace("\\", "")
    assert "largest difference 8.34e−7" in said
    assert "Compared on random input" in said
    assert "Largest 1e−5." in said
    assert "not kept any more" in said  # no such job: nothing to download
    assert len(app.get("plotly_chart")) == 3
    assert app.dataframe[0].value["Same class"].tolist() == ["100 %"]
    assert app.code[0].value == "import tf2onnx"


def test_what_cannot_be_converted_names_operators_layers_and_ways_round(shown):
    app = shown("failure", state(REFUSED, Status.FAILED, "CannotConvert", "m.keras: ONNX has no Svd."))
    said = text(app)
    assert "ONNX lacks 2 operators of this model" in said
    assert "`Svd` in layer `spectrum`" in said
    assert "Compute it outside of the model" in said
    assert "tf.Svd is no op" in app.code[0].value
    outside = "".join(part for place, part in enumerate(said.split("`")) if place % 2 == 0)
    assert "<img" not in outside
    assert "Not tried yet: TFLite (float32)" in said.replace("\\", "")
    app.button("try-others").click().run()
    assert "saved_model" in app.session_state["tried"]
    assert "onnx" not in app.session_state["tried"]


def test_a_failure_without_operators_is_a_sentence(shown):
    app = shown("failure", state({}, Status.FAILED, "CannotConvert", "m.keras: its graph has no end."))
    assert "Its graph has no end" in text(app)


def test_a_cancelled_conversion_offers_nothing_else(shown):
    app = shown("failure", state({}, Status.CANCELLED))
    assert "This run was cancelled" in text(app)
    assert not app.button
