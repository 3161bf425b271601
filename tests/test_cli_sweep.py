"""The sweep command: its options, and one answer from the jobs of several call styles."""

from __future__ import annotations

import pytest

from stethoscope.cli_sweep import answer, numbers
from stethoscope.cli_text_sweep import sweep
from stethoscope.errors import BadSetting
from stethoscope.memory.points import Point
from stethoscope.types import JobResult, Status


def result(call: str, status: Status = Status.OK, reason: str = "") -> JobResult:
    point = Point(8, call, 100 << 20, 110 << 20, 0.001).to_json()
    value = {
        "call": call,
        "points": [point],
        "checks": [],
        "knee": {"batch_size": 8},
        "largest_batch": {"budget_bytes": 1 << 30, "low": 60, "high": 70},
        "largest_batches": [{"size": None, "budget_bytes": 1 << 30, "low": 60, "high": 70}],
    }
    return JobResult(status, value, reason, "sweep", 110 << 20, 1.0)


def test_numbers_are_read_in_order():
    assert numbers("64, 1,8,8", "--batch-sizes") == [1, 8, 64]
    for wrong in ("a", "0", "1,-2"):
        with pytest.raises(BadSetting, match="--batch-sizes"):
            numbers(wrong, "--batch-sizes")


def test_call_styles_are_put_together():
    value = answer({"function": result("function"), "call": result("call")})
    assert value["status"] == "ok"
    assert [point["call"] for point in value["points"]] == ["function", "call"]
    assert value["largest_batch"] == {"budget_bytes": 1 << 30, "low": 60, "high": 70}
    assert [call["call"] for call in value["calls"]] == ["function", "call"]


def test_a_style_that_failed_decides_how_the_command_ends():
    value = answer({"function": result("function"), "compiled": result("compiled", Status.FAILED, "no XLA")})
    assert (value["status"], value["reason"]) == ("failed", "no XLA")
    assert len(value["points"]) == 2


def test_people_see_a_row_for_each_point(capsys):
    sweep(answer({"function": result("function")}))
    shown = capsys.readouterr().out
    assert "function" in shown
    assert "-9.1%" in shown
    assert "60 to 70" in shown
