"""Estimates as a table and as the answer of a sweep, from what the jobs of each call style said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stethoscope.architecture.open_sizes import OpenSize
from stethoscope.cli import cost
from stethoscope.cli import run as cli_run
from stethoscope.codec import plain
from stethoscope.memory.estimate import Estimate
from stethoscope.memory.run_settings import RunSettings
from stethoscope.tasks.estimate import EstimatedPeaks
from stethoscope.types import Budget, JobResult, Status

MIB = 1 << 20


def estimate(rows: int, phase: str = "run", size: int | None = None) -> Estimate:
    parts = (64 * MIB, 30 * MIB, 0, 1024, 4 * MIB, 2 * MIB)
    made = Estimate(rows, "function", size, *parts, sum(parts), phase, "conv/Conv2D", "conv", (), (), ("A note.",))
    return made if size is None else replace(made, open_sizes=(OpenSize("x", 1, size, "data"),))


def ended(*estimates: Estimate, status: Status = Status.OK, reason: str = "", cannot: str = "") -> JobResult:
    peaks = EstimatedPeaks(estimates, cannot, call="function", settings=RunSettings())
    return JobResult(status, plain(peaks), reason, "estimate", 0, 1.0)


def test_each_call_style_is_asked_in_a_job_of_its_own(monkeypatch):
    asked = []

    def model_job(kind, model, data, params, limits):
        called = params["settings"]["call"]
        asked.append((kind, model.name, data, called, params["batch_sizes"], params["sizes"], params["mapping"]))
        return ended(estimate(1)), None

    monkeypatch.setattr(cli_run, "model_job", model_job)
    chosen = [RunSettings(call="function"), RunSettings(call="predict")]
    given = Path("rows.npz"), {"mapping": "x=rows"}
    found = cost.estimated(Path("m.keras"), *given, chosen, [1, 8], [224], Budget(1 << 30, 10), trust=False)
    assert list(found) == ["function", "predict"]
    assert asked == [("estimate", "m.keras", given[0], call, [1, 8], [224], "x=rows") for call in found]


def test_the_answer_has_the_shape_of_a_sweep_without_measurements():
    value = json.loads(json.dumps(cost.answer({"function": ended(estimate(1), estimate(8, size=64))})))
    assert value["status"] == "ok" and value["largest_batch"] is None
    assert [(one["batch_size"], one["size"], one["size_from"], one["status"]) for one in value["points"]] == [
        (1, None, "", "skipped"),
        (8, 64, "data", "skipped"),
    ]
    assert {one["estimated_peak_bytes"] for one in value["points"]} == {100 * MIB + 1024}
    assert [(one["call"], one["status"]) for one in value["calls"]] == [("function", "ok")]


def test_a_call_style_that_failed_decides_how_it_ended_and_the_others_keep_their_points():
    failed = JobResult(Status.FAILED, {}, "no XLA", "estimate", 0, 1.0)
    value = cost.answer({"function": ended(estimate(1)), "compiled": failed})
    assert (value["status"], value["reason"], len(value["points"])) == ("failed", "no XLA", 1)


def test_people_see_what_a_peak_is_made_of_and_where_it_is(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    cost.show({"function": ended(estimate(1), estimate(2_000, "load", size=64), cannot="Not every size.")})
    shown = capsys.readouterr().out
    rows = [line for line in shown.splitlines() if "100 MiB" in line]
    assert len(rows) == 2 and "conv" in rows[0] and "loading" in rows[1] and "64 (of the data)" in rows[1]
    # Largest first; 1 KiB of 100 MiB is not worth a word.
    places = [rows[0].index(part) for part in ("weights", "live", "input", "runtime")]
    assert places == sorted(places) and "outputs" not in rows[0]
    assert shown.count("A note.") == 1 and "function: Not every" in shown


@pytest.mark.parametrize("reason", ["no XLA [here]"])
def test_without_estimates_there_is_a_reason_and_no_table(capsys, reason):
    cost.show({"compiled": JobResult(Status.FAILED, {}, reason, "estimate", 0, 1.0)})
    assert capsys.readouterr().out.strip() == f"compiled: {reason}"
