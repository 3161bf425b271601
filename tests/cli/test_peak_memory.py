"""Peak memory over batch sizes, and over many calls."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from stethoscope.cli import run as cli_run
from stethoscope.cli.cost import sweep
from stethoscope.cli.peak_memory import endurance, numbers, sweep_answer
from stethoscope.codec import answer_of, plain
from stethoscope.errors import BadSetting
from stethoscope.framework_errors import ShortageReport
from stethoscope.memory.points import Knee, LargestBatch, LargestBatchAt, Otherwise, Point, RunningBatch, Swept
from stethoscope.studies.checked_sweep import as_checked, as_ended
from stethoscope.types import JobResult, Status
from tests.small_models import hungry_onnx, tiny_onnx
from tests.terminal import on_terminal, workers_of


def result(call: str, status: Status = Status.OK, reason: str = "") -> JobResult:
    swept = Swept(
        call,
        points=(Point(8, call, 100 << 20).measured(110 << 20, time_per_sample_s=0.001),),
        knee=Knee(8),
        largest_batch=LargestBatch(60, 70, 1 << 30),
        largest_batches=(LargestBatchAt(60, 70, 1 << 30, None),),
    )
    return JobResult(status, plain(swept), reason, "sweep", 110 << 20, 1.0)


def test_numbers_are_read_in_order():
    assert numbers("64, 1,8,8", "--batch-sizes") == [1, 8, 64]
    for wrong in ("a", "0", "1,-2"):
        with pytest.raises(BadSetting, match="--batch-sizes"):
            numbers(wrong, "--batch-sizes")


def test_call_styles_are_put_together():
    value = sweep_answer({"function": result("function"), "call": result("call")})
    assert value["status"] == "ok"
    assert [point["call"] for point in value["points"]] == ["function", "call"]
    assert value["largest_batch"] == {"budget_bytes": 1 << 30, "low": 60, "high": 70}
    assert [call["call"] for call in value["calls"]] == ["function", "call"]


def test_a_style_that_failed_decides_how_the_command_ends():
    value = sweep_answer({"function": result("function"), "compiled": result("compiled", Status.FAILED, "no XLA")})
    assert (value["status"], value["reason"]) == ("failed", "no XLA")
    assert len(value["points"]) == 2


def test_people_see_a_row_for_each_point(capsys):
    sweep({"function": result("function")})
    shown = capsys.readouterr().out
    assert "function" in shown
    assert "-9.1%" in shown
    assert "60 to 70" in shown


def checked(status: Status, mechanism: str = "limit", *, above: bool = True, last: bool = True) -> JobResult:
    """A job whose process ended while a batch was checked."""
    ended = result("function", status, "It ended.")
    entry = Point(71, "function", 1 << 30, status=Status.OUT_OF_MEMORY, reason="Memory ran out.")
    running = RunningBatch(71, None, above, last, Otherwise(LargestBatch(1, 70, 1 << 30)))
    known = {"checks": [entry], "running": running, "oom": ShortageReport(mechanism=mechanism)}
    return replace(ended, value={**ended.value, **plain(known)}, phase="check")


def test_a_check_that_was_expected_to_run_out_is_an_answer():
    value = sweep_answer({"function": as_checked(checked(Status.OUT_OF_MEMORY))})
    assert (value["status"], value["reason"]) == ("ok", "")
    (call,) = value["calls"]
    assert call["checks"][0]["status"] == "out_of_memory"
    assert "running" not in call


@pytest.mark.parametrize(
    ("ended", "status", "check", "low"),
    [
        (checked(Status.OUT_OF_MEMORY, above=False), Status.OUT_OF_MEMORY, "out_of_memory", 60),
        (checked(Status.OUT_OF_MEMORY, last=False), Status.OUT_OF_MEMORY, "out_of_memory", 60),
        (checked(Status.OUT_OF_MEMORY, "host"), Status.OUT_OF_MEMORY, "out_of_memory", 1),
        (checked(Status.CRASHED), Status.CRASHED, "crashed", 1),
        (checked(Status.CANCELLED), Status.CANCELLED, "cancelled", 1),
    ],
)
def test_a_process_that_ended_while_checking_otherwise_is_no_answer(ended, status, check, low):
    """Below, where it was said to fit; with checks left; for another reason, which says nothing about the batch."""
    result = as_checked(ended)
    swept = answer_of(result, Swept)
    assert result.status is status
    assert swept.checks[-1].status == check
    assert swept.largest_batch.low == low


@pytest.mark.parametrize("status", [Status.OUT_OF_MEMORY, Status.REFUSED])
def test_where_no_batch_fits_memory_ran_out(status):
    ended = result("function")
    point = Point(8, "function", 1 << 40, status=status, reason="Too much.")
    alone = as_ended(replace(ended, value={**ended.value, "points": [plain(point)]}))
    assert (alone.status, alone.reason) == (Status.OUT_OF_MEMORY, "Too much.")
    assert as_ended(ended) is ended


def test_a_worker_killed_while_checking_is_not_an_answer(tmp_path):
    """The real thing: the command ends with 2 and says that the check did not finish."""
    model = hungry_onnx(tmp_path / "hungry.onnx", 32)
    words = ("sweep", model, "--batch-sizes", "1,2", "--check", "--memory-limit", "2GiB", "--json")
    with on_terminal(*words) as command:
        command.until("check")
        for worker in workers_of(command.process.pid):
            worker.kill()
        value = command.answer()
    assert command.process.returncode == 2
    assert value["status"] == "crashed"
    (call,) = value["calls"]
    assert call["checks"][-1]["status"] == "crashed"
    assert len(value["points"]) == 2


def test_ctrl_c_ends_at_once_with_the_points_so_far(tmp_path):
    model = hungry_onnx(tmp_path / "hungry.onnx", 64)
    with on_terminal("sweep", model, "--batch-sizes", "1,2,4,8,12,16,18,20", "--call", "function", "--json") as command:
        command.until("sweep  batch 8")
        start = time.monotonic()
        command.process.send_signal(signal.SIGINT)
        value = command.answer()
        assert time.monotonic() - start < 60
    assert command.process.returncode == 2
    assert value["status"] == "cancelled"
    measured = [point["batch_size"] for point in value["points"] if point["measured_peak_bytes"]]
    assert measured[:3] == [1, 2, 4]
    assert len(measured) < 8


def test_advice_follows_the_points(commands, tmp_path):
    model = hungry_onnx(tmp_path / "hungry.onnx", 8)
    words = (
        "sweep",
        model,
        "--batch-sizes",
        "2,8",
        "--advise",
        "--changes",
        "batch,precision",
        "--memory-limit",
        "800MiB",
    )
    value = commands.answer(*words)
    assert [point["batch_size"] for point in value["points"]] == [2, 8]
    assert value["advice"]["best"] == "batch-2"
    printed = commands.run(*words)
    assert printed.returncode == 0, printed.stderr
    assert "of 2 instead of 8" in printed.stdout
    assert "precision: not tried" in printed.stdout


app = typer.Typer()
app.command()(endurance)


@pytest.fixture
def shared_engine(engine, monkeypatch):
    """The commands use the run's engine: no server of their own to start."""
    import contextlib

    monkeypatch.setattr(cli_run, "short_engine", lambda *_: contextlib.nullcontext(engine))


def invoke(*words: object) -> object:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_json_has_one_entry_for_each_call_style(shared_engine, tmp_path):
    path = tiny_onnx(tmp_path / "tiny.onnx")
    result = invoke(path, "--calls", 20, "--json")
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert value["schema_version"]
    assert value["status"] == Status.OK
    (one,) = value["calls"]
    assert one["call"] == "function"
    assert one["leak"]["verdict"] == "steady"
    assert one["latency"]["warm"]["median_s"] > 0


def test_people_read_verdicts(shared_engine, tmp_path):
    result = invoke(tiny_onnx(tmp_path / "tiny.onnx"), "--calls", 20)
    assert result.exit_code == 0, result.output
    assert "leak: steady" in result.stdout
    assert "first call" in result.stdout


def test_advice_is_ranked_and_printed(shared_engine, tmp_path):
    path = hungry_onnx(tmp_path / "hungry.onnx", 8)
    words = (path, "--advise", "--batch-size", 8, "--changes", "batch,precision")
    result = invoke(*words, "--json")
    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert value["best"] == "batch-2"
    assert [item["kind"] for item in value["untried"]] == ["precision"]
    printed = invoke(*words)
    assert "of 2 instead of 8" in printed.stdout
    assert "precision: not tried" in printed.stdout


@pytest.mark.parametrize(
    "words", [("--call", "sideways"), ("--advise", "--changes", "luck"), ("--call", ""), ("--tests", "leaks")]
)
def test_what_makes_no_sense_ends_with_two(shared_engine, tmp_path, words):
    result = invoke(tiny_onnx(tmp_path / "tiny.onnx"), *words)
    assert result.exit_code == 2
    assert result.stderr.strip()
