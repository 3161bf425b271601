"""Conversions as contained jobs: what is called converted has run in its own runtime, and what is not says why."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.codec import answer_of, partial_of
from stethoscope.compare.convert.converter import NotConverted, Unsupported
from stethoscope.tasks.convert import Conversion
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status
from tests.tasks.test_samples import BUILT, submit


def made(engine, name: str, target: str, **params) -> JobResult:
    return submit(engine, "convert", name, target=target, **params)


def ok(result: JobResult) -> Conversion:
    assert result.status is Status.OK, result.reason
    return answer_of(result, Conversion)


def unsupported(result: JobResult) -> tuple[Unsupported, ...]:
    refused = partial_of(result, NotConverted)
    assert refused is not None
    return refused.unsupported


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "rows.npz"
    with np.load(BUILT / "digits_sample.npz") as stored:
        np.savez(path, x=stored["x"][:40], y=stored["y"][:40])
    return path


def with_data(engine, target: str, data, **params) -> JobResult:
    files = {"model": ModelFile.at(BUILT / "digits_cnn.keras"), "data": ModelFile.at(data)}
    job = Job("convert", files, {"target": target, **params}, Budget(4 << 30, 120), "tensorflow")
    return engine.wait(engine.submit(job))


def test_says_what_it_gained(engine):
    result = made(engine, "digits_cnn", "tflite-dynamic")
    conversion = ok(result)
    assert conversion.runs_in_target and conversion.file == "model.tflite"
    assert conversion.size_bytes == result.files["model.tflite"].stat().st_size < conversion.source_size_bytes / 2
    for measured in (conversion.time_s, conversion.peak_bytes, conversion.estimated_peak_bytes):
        assert measured.before > 0 and measured.after > 0
    assert conversion.operators.before["Conv2D"] >= 1 and conversion.operators.after["CONV_2D"] >= 1
    assert 0 < conversion.max_abs_diff < 0.1 and conversion.top1_agreement == 1.0
    assert "Optimize.DEFAULT" in conversion.code and conversion.convert_s > 0
    assert conversion.source == "dummy" and conversion.rows == 8


def test_ranges_come_from_the_data_or_it_says_that_they_do_not(engine, images):
    with_rows = ok(with_data(engine, "tflite-int8", images, options={"calibration_rows": 30}, rows=40))
    assert with_rows.source == "rows.npz" and with_rows.rows == 40
    assert with_rows.top1_agreement >= 0.95 and not with_rows.notes
    assert "range(30)" in with_rows.code
    without = ok(made(engine, "digits_cnn", "tflite-int8", options={"calibration_rows": 4}))
    assert any("random input" in note for note in without.notes)


def test_integer_ends_are_integers(engine, images):
    result = with_data(engine, "tflite-int8", images, options={"integer_ends": True, "calibration_rows": 30})
    from stethoscope.models.formats import detect

    described = detect(ModelFile.at(result.files["model.tflite"])).describe(ModelFile.at(result.files["model.tflite"]))
    assert {spec.dtype for spec in (*described.inputs, *described.outputs)} == {"int8"}
    assert ok(result).max_abs_diff < 0.15  # compared as the real numbers that they stand for


def test_recurrent_layers_get_one_row_where_the_runtime_asks_for_it(engine):
    conversion = ok(made(engine, "reviews_lstm", "tflite"))
    assert conversion.options.batch_size == 1
    assert any("1 row(s)" in note for note in conversion.notes)
    assert conversion.max_abs_diff < 1e-5


def test_a_loop_of_open_length_cannot_be_calibrated(engine):
    result = made(engine, "reviews_lstm", "tflite-int8")
    assert result.status is Status.FAILED
    assert "layer reader" in result.reason and "unroll=True" in result.reason
    assert (unsupported(result)[0].operator, unsupported(result)[0].layer) == ("While", "reader")


def test_a_model_that_draws_random_numbers_is_told_apart_from_a_bad_conversion(engine):
    conversion = ok(made(engine, "unseeded_noise", "saved_model"))
    assert any("differently" in note for note in conversion.notes)


@pytest.mark.parametrize("target", ["onnx", "frozen_graph"])
def test_a_state_that_changes_in_every_call_is_named(engine, target):
    result = made(engine, "dropout_at_inference", target)
    assert result.status is Status.FAILED
    assert "always_on_dropout" in result.reason and "SavedModel" in result.reason
    assert unsupported(result)[0].layer == "always_on_dropout"


def test_the_same_state_is_kept_by_a_saved_model(engine):
    assert ok(made(engine, "dropout_at_inference", "saved_model")).runs_in_target


@pytest.mark.parametrize(
    ("name", "target", "why"),
    [("digits_cnn_onnx", "onnx", "ONNX model already"), ("digits_cnn_tflite", "saved_model", "for one runtime")],
)
def test_what_cannot_be_a_source_says_so(engine, name, target, why):
    result = made(engine, name, target)
    assert result.status is Status.FAILED and why in result.reason


@pytest.mark.parametrize(
    ("target", "options", "why"),
    [
        ("coreml", {}, "expected one of"),
        ("onnx", {"opset": 7}, "13 to 18"),
        ("onnx", {"speed": 1}, "no option 'speed'"),
    ],
)
def test_a_wrong_choice_says_what_there_is(engine, target, options, why):
    result = made(engine, "digits_cnn", target, options=options)
    assert result.status is Status.FAILED and why in result.reason


def test_integers_of_a_quantised_file_are_compared_as_what_they_stand_for(engine):
    assert ok(made(engine, "digits_cnn_int8", "onnx")).max_abs_diff < 0.02
