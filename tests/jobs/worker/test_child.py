"""What is refused before a framework sees the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sample_models import BUILT
from stethoscope.errors import NeedsTrust, OutOfMemory, UnsafeFile
from stethoscope.jobs.worker import containment
from stethoscope.jobs.worker.child import open_model
from stethoscope.task import TaskContext
from stethoscope.types import Budget, Job, ModelFile
from tests.small_models import tiny_onnx


def opened(path: Path, tmp_path: Path, memory_bytes: int = 1 << 30, **options):
    job = Job("predict", {"model": ModelFile.at(path)}, {}, Budget(memory_bytes, 10))
    context = TaskContext(job.files, {}, tmp_path, job.budget, lambda *_, **__: None, memory=None, open_model=None)
    return open_model(job, context, **options)


@pytest.mark.parametrize("name", ["digits_cnn_frozen.pb", "diabetes_saved_model.zip"])
def test_programs_are_refused_where_nothing_contains_them(tmp_path, name):
    with pytest.raises(UnsafeFile, match="is a program"):
        opened(BUILT / name, tmp_path, may_run_programs=False)


def test_what_is_no_program_runs_even_there(tmp_path):
    architecture, runner = opened(tiny_onnx(tmp_path / "tiny.onnx"), tmp_path, may_run_programs=False)
    with runner:
        assert architecture.format_id == "onnx"


def test_code_needs_a_yes(tmp_path):
    with pytest.raises(NeedsTrust, match="rescale"):
        opened(BUILT / "lambda_layer.keras", tmp_path)


def test_weights_beyond_the_limit_are_not_loaded(tmp_path):
    with pytest.raises(OutOfMemory, match="weights alone"):
        opened(tiny_onnx(tmp_path / "tiny.onnx"), tmp_path, memory_bytes=10)


def test_a_layer_the_kernel_refuses_counts_as_missing(capsys):
    def refuse() -> bool:
        raise OSError(1, "not here")

    assert containment._applied(refuse) is False
    assert "not here" in capsys.readouterr().err
