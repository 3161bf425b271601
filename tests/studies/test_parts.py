"""The jobs of a study are told of as they end, with what moves meanwhile, and end together once the study is cancelled."""

from __future__ import annotations

import pytest

from stethoscope.studies.study import Parts
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.small_models import endless_onnx, tiny_onnx

pytestmark = pytest.mark.usefixtures("live_engine")


def test_parts_end_one_after_the_other_and_tell_of_progress(engine, tmp_path):
    parts, ended, moved = Parts(engine, "me", "model", lambda: False), {}, set()
    model = ModelFile.at(tiny_onnx(tmp_path / "m.onnx"))
    for name, kind in (("first", "describe"), ("second", "predict")):
        parts.start(name, Job(kind, {"model": model}, {}, Budget(1 << 30, 60)))
    while parts.under_way:
        ended |= parts.ended(lambda name, state: moved.add((name, state.status)))
    assert {name: state.result.status for name, state in ended.items()} == dict.fromkeys(("first", "second"), Status.OK)
    assert ("second", "queued") in moved or ("second", "running") in moved
    assert parts.ended() == {}


def test_once_the_study_is_cancelled_all_parts_are(engine, tmp_path):
    running: list[str] = []
    parts = Parts(engine, "me", "model", lambda: bool(running))
    model = ModelFile.at(endless_onnx(tmp_path / "m.onnx"))
    for name in ("first", "second"):
        parts.start(name, Job("predict", {"model": model}, {"seed": len(name)}, Budget(1 << 30, 60)))
    ended = {}
    while parts.under_way:
        ended |= parts.ended(lambda name, state: running.append(name) if state.status == "running" else None)
        running.clear()
    assert {state.result.status for state in ended.values()} == {Status.CANCELLED}
    assert parts.cancelled, "it stays so"


def test_news_come_when_something_has_happened_to_a_job(engine, tmp_path):
    seen = engine.news(-1, 0.0)
    job = Job("describe", {"model": ModelFile.at(tiny_onnx(tmp_path / "m.onnx"))}, {}, Budget(1 << 30, 60))
    engine.wait(engine.submit(job), 60)
    assert engine.news(seen, 60.0) != seen
