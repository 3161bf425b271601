"""`plan` as a program sees it: the contract's JSON, exit codes, and words for people."""

from __future__ import annotations

import ast
import json
import re

import pytest

from sample_models import BUILT
from stethoscope.cli.plan import card_here
from stethoscope.devices import Gpu, Machine
from stethoscope.errors import BadSetting
from tests.small_models import hungry_onnx, tiny_onnx

BERT = BUILT / "bert_small.keras"
KINDS = {"weights", "gradients", "optimizer", "activations", "buffers", "total"}


@pytest.fixture(scope="module")
def planned(commands) -> dict:
    return commands.answer("plan", BERT, "--device", "16GB", "--devices", 8, "--sequence-length", 64)


def test_the_contracts_keys(planned):
    assert planned["schema_version"] == 1
    assert {"single", "data", "zero1", "zero2", "zero3", "tensor", "pipeline"} <= {p["kind"] for p in planned["plans"]}
    for item in planned["plans"]:
        size = item["bytes_per_device"]
        assert set(size) == KINDS
        assert size["total"] == sum(size[part] for part in KINDS - {"total"})
        assert item["fits"] is True
        assert item["devices"] <= 8
    runs = {p["kind"]: p["available"] for p in planned["plans"]}
    assert runs["single"] and runs["data"] and runs["tensor"]
    for item in planned["plans"]:
        assert item["available"] == bool(item["strategies"]) == (not item["kind"].startswith(("zero", "pipeline")))
    ast.parse(planned["code"])
    assert "load_model" in planned["code"]


def test_numbers_of_a_known_model(planned):
    first = planned["plans"][0]
    assert (first["kind"], first["devices"]) == ("data", 8)  # all that were asked for
    assert first["time_per_step_s"] == pytest.approx(sum(first["time"].values()))
    assert [item["available"] for item in planned["plans"]] == sorted(
        (item["available"] for item in planned["plans"]), reverse=True
    )
    assert first["bytes_per_device"]["weights"] == 4 * planned["parameters"]["total"]
    assert first["bytes_per_device"]["optimizer"] == 8 * planned["parameters"]["total"]  # not compiled: Adam
    assert planned["transformer"]["blocks"] == 2
    assert planned["settings"]["sequence_length"] == 64


def test_nothing_fits_is_an_answer_not_a_failure(commands):
    value = commands.answer("plan", BERT, "--device", "100KB", "--devices", 2, "--inference")
    assert not any(item["fits"] for item in value["plans"])
    assert all(item["headroom_bytes"] < 0 for item in value["plans"])
    assert all(item["bytes_per_device"]["gradients"] == 0 for item in value["plans"])


def test_several_models_share_a_device(commands):
    value = commands.answer("plan", BERT, BUILT / "digits_cnn.tflite", "--device", "1GB", "--inference")
    assert value["together"]["fits"] is True
    assert len(value["together"]["shares_bytes"]) == 2
    assert [one["model"] for one in value["models"]] == ["bert_small.keras", "digits_cnn.tflite"]
    assert [one["model"] for one in value["programs"]] == ["bert_small.keras"]  # the other's runtime has no such limit
    assert value["sharing_notes"]


LIMIT = re.compile(r"LogicalDeviceConfiguration\(memory_limit=(\d+)\)")


def test_each_model_on_a_shared_card_has_a_program_with_its_limit(commands):
    pair = (BERT, BUILT / "digits_cnn.keras")
    value = commands.answer("plan", *pair, "--device", "t4")
    limits = [int(LIMIT.search(one["code"])[1]) for one in value["programs"]]
    assert [limit << 20 for limit in limits] == [one["limit_bytes"] for one in value["programs"]]
    usable = value["settings"]["device"]["usable_bytes"]
    assert sum(limits) << 20 <= usable - (512 << 20)  # CUDA's own, of the second process
    needs = value["together"]["shares_bytes"]
    assert all(one["limit_bytes"] >= needs[one["model"]] for one in value["programs"])
    printed = commands.run("plan", *pair, "--device", "t4").stdout
    assert [int(found) for found in LIMIT.findall(printed)] == limits
    for kind, number in (("logical-devices", 2), ("processes", 0)):
        program = commands.run("plan", *pair, "--device", "t4", "--inference", "--plan", kind).stdout
        ast.parse(program)
        assert len(LIMIT.findall(program)) == number


def test_a_chosen_plan_prints_its_program_and_nothing_else(commands):
    words = ("plan", BERT, "--device", "t4", "--devices", 4, "--plan")
    for kind, strategy in (("data", "MirroredStrategy"), ("single", "OneDeviceStrategy"), ("tensor", "ModelParallel")):
        program = commands.run(*words, kind).stdout
        ast.parse(program)
        assert strategy in program
        assert commands.answer(*words, kind)["code"] == program
    for kind in ("zero1", "sideways"):
        refused = commands.run(*words, kind)
        assert refused.returncode == 2
        assert "tensor+data" in refused.stderr and len(refused.stderr.strip().splitlines()) == 1


def test_a_tpu_is_told_what_stands_against_it(commands):
    value = commands.answer("plan", BERT, "--device", "tpu-v3", "--devices", 8)
    assert {axis["input"] for axis in value["tpu"]["open_axes"]} >= {"input_word_ids"}
    assert "TPUStrategy" in value["code"]
    assert commands.answer("plan", BERT, "--device", "t4")["tpu"] is None


def test_for_people(commands):
    done = commands.run("plan", BERT, "--device", "t4", "--devices", 4)
    assert done.returncode == 0, done.stderr
    assert "4 × NVIDIA T4" in done.stdout
    assert "MirroredStrategy" in done.stdout
    assert "TFLOP/s" in done.stdout
    assert "Sequence length 128" in done.stdout


def test_nonsense_is_one_line_and_exit_code_2(commands, tmp_path):
    broken = tmp_path / "broken.keras"
    broken.write_bytes(b"no model")
    for arguments in (
        ("plan", BERT, "--device", "huge"),
        ("plan", BERT, "--device", "gpu"),  # this machine has none
        ("plan", BERT, "--device", "16GB", "--optimizer", "adamm"),
        ("plan", BERT, "--device", "16GB", "--precision", "fp7"),
        ("plan", BERT, "--device", "16GB", "--image-size", "big"),
        ("plan", tmp_path / "absent.keras", "--device", "16GB"),
        ("plan", broken, "--device", "16GB"),
    ):
        done = commands.run(*arguments, "--json")
        assert done.returncode == 2, arguments
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_a_card_of_this_machine(monkeypatch):
    cards = (Gpu(0, "Tesla T4", 15 << 30, 14 << 30, 1 << 30), Gpu(1, "Some Card", 8 << 30, 8 << 30, 0))
    machine = Machine("cpu", 4, None, 32 << 30, 20 << 30, None, cards)
    monkeypatch.setattr("stethoscope.cli.plan.this_machine", lambda: machine)
    assert card_here("gpu").id == "t4"
    second = card_here("gpu:1")
    assert second.title == "Some Card" and 6 << 30 < second.usable_bytes < 8 << 30
    with pytest.raises(BadSetting):
        card_here("gpu:2")


def test_json_is_strict(commands):
    done = commands.run("plan", BERT, "--device", "16GB", "--json")
    assert len(done.stdout.strip().splitlines()) == 1
    json.loads(done.stdout, parse_constant=pytest.fail)


def test_models_are_really_run_together(commands, tmp_path):
    models = (BUILT / "digits_cnn.onnx", tiny_onnx(tmp_path / "tiny.onnx"))
    words = ("plan", *models, "--device", "1GiB", "--inference", "--run", "--run-time", 1, "--batch-size", 4)
    value = commands.answer(*words)
    assert value.keys() >= {"schema_version", "plans", "code", "together", "models"}
    run_together = value["run"]
    assert run_together["verdict"] == "fit"
    assert run_together["at_once"] == 2
    for one in run_together["runs"]:
        assert one["status"] == "ok"
        assert one["same_as_alone"] is True
        assert one["peak_bytes"] <= one["share_bytes"]
    printed = commands.run(*words)
    assert printed.returncode == 0, printed.stderr
    assert "ran at once" in printed.stdout


def test_one_that_exceeds_its_share_dies_alone(commands, tmp_path):
    hungry = hungry_onnx(tmp_path / "hungry.onnx", 8)
    words = ("plan", BUILT / "digits_cnn.onnx", hungry, "--device", "1GiB", "--inference", "--run", "--batch-size", 4)
    value = commands.answer(*words, "--exceed", "hungry.onnx")
    assert value["run"]["verdict"] == "contained"
    assert {one["name"]: one["status"] for one in value["run"]["runs"]} == {
        "digits_cnn.onnx": "ok",
        "hungry.onnx": "out_of_memory",
    }
    wrong = commands.run(*words, "--exceed", "absent.onnx")
    assert wrong.returncode == 2
    assert "--exceed" in wrong.stderr


def test_what_cannot_run_alone_is_not_run_together(commands, tmp_path):
    hungry = hungry_onnx(tmp_path / "hungry.onnx", 8)
    done = commands.run(
        "plan", hungry, BUILT / "digits_cnn.onnx", "--device", "200MiB", "--run", "--batch-size", 64, "--json"
    )
    assert done.returncode == 2
    assert json.loads(done.stdout)["run"]["verdict"] == "not run"
    assert len(done.stderr.strip().splitlines()) == 1
