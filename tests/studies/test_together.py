"""Several models at once in contained processes."""

from __future__ import annotations

import json

import pytest

from stethoscope.codec import decode, plain
from stethoscope.errors import BadSetting
from stethoscope.memory.lowering_report import TogetherReport, at_once
from stethoscope.memory.run_settings import RunSettings
from stethoscope.studies.together import Tenant, Together, TogetherRequest
from stethoscope.types import ModelFile
from tests.memory.test_sharing import BUILT, GIB
from tests.small_models import hungry_onnx


def tenant(name, batch_size=8, **more):
    return Tenant(name, ModelFile.at(BUILT / name), RunSettings(batch_size=batch_size), **more)


def test_two_models_run_at_once_within_their_shares(engine):
    seen = []
    asked = TogetherRequest([tenant("digits_cnn.keras"), tenant("reviews_lstm.keras")], 2 * GIB, seconds=2)
    report = Together(engine, asked, on_change=seen.append).run()
    assert report.verdict == "fit", report.sentence
    assert report.at_once == 2 and report.split is not None and report.split.fits
    for run in report.runs:
        assert run.status == "ok" and run.same_as_alone and run.calls >= 2
        assert run.peak_bytes is not None and run.peak_bytes <= run.share_bytes
    assert {run.state for step in seen for run in step.runs} >= {"waiting", "alone", "together", "done"}
    assert decode(TogetherReport, json.loads(json.dumps(plain(report)))) == report


def test_the_one_over_its_share_ends_alone_and_the_other_finishes_untouched(engine, tmp_path):
    hungry = Tenant("hungry.onnx", ModelFile.at(hungry_onnx(tmp_path / "hungry.onnx", 8)), RunSettings(batch_size=4))
    asked = TogetherRequest([tenant("digits_cnn.keras"), hungry], GIB, exceed="hungry.onnx", seconds=4)
    report = Together(engine, asked).run()
    assert report.verdict == "contained", report.sentence
    fine, over = report.run_of("digits_cnn.keras"), report.run_of("hungry.onnx")
    assert over.status == "out_of_memory" and over.asked_batch_size > over.batch_size
    assert over.reason and over.exceeds
    assert fine.status == "ok" and fine.same_as_alone
    assert fine.started_s < over.ended_s < fine.ended_s  # it died while the other one ran


def test_a_model_that_cannot_run_alone_stops_before_anything_is_shared(engine, tmp_path):
    bad = tmp_path / "bad.keras"
    bad.write_bytes(b"no model")
    asked = TogetherRequest([Tenant("bad.keras", ModelFile.at(bad)), tenant("digits_cnn.keras")], GIB)
    report = Together(engine, asked).run()
    assert report.verdict == "not run" and "bad.keras" in report.sentence and report.done


def test_it_can_be_cancelled(engine):
    asked = TogetherRequest([tenant("digits_cnn.keras"), tenant("reviews_lstm.keras")], 2 * GIB, seconds=60)
    steps = []

    def cancelled():
        return bool(steps) and any(run.state == "together" for run in steps[-1].runs)

    report = Together(engine, asked, on_change=steps.append, cancelled=cancelled).run()
    assert report.verdict == "cancelled" and not engine.jobs(active=True)


def test_names_must_differ(engine):
    with pytest.raises(BadSetting):
        Together(engine, TogetherRequest([tenant("digits_cnn.keras")] * 2, GIB))


def test_intervals_that_share_a_moment():
    assert at_once([(0, 2), (1, 3), (2.5, 4)]) == 2
    assert at_once([]) == 0
