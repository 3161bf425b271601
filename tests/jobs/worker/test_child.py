"""What is refused before a framework sees the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest
from onnx import helper

from sample_models import BUILT
from stethoscope.errors import CannotRun, NeedsTrust, OutOfMemory, UnsafeFile
from stethoscope.jobs.worker import containment
from stethoscope.jobs.worker.child import open_model
from stethoscope.models.formats import detect
from stethoscope.task import TaskContext
from stethoscope.types import Budget, Job, ModelFile
from tests.models.formats import tf_graphs, tflite_specimens
from tests.models.formats.test_keras_static import LAMBDA, archive, dense, layer, sequential
from tests.models.formats.test_onnx import model as helper_model
from tests.small_models import tiny_onnx


def opened(path: Path, tmp_path: Path, memory_bytes: int = 1 << 30, *, trusted=False, code=None, **options):
    file = replace(ModelFile.at(path), code=code)
    job = Job("predict", {"model": file}, {"trusted": trusted}, Budget(memory_bytes, 10))
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


def _frozen(folder: Path) -> Path:
    graph = tf_graphs.dense()
    tf_graphs.node(graph, "z", "MyCompanyFastRelu", ["y"])
    return tf_graphs.write(folder / "graph.pb", graph)


def _saved_model(folder: Path) -> Path:
    saved = tf_graphs.saved_model()
    tf_graphs.node(saved.meta_graphs[0].graph_def, "z", "MyCompanyFastRelu", ["y"])
    return tf_graphs.write(folder / "saved" / "saved_model.pb", saved).parent


def _torn_saved_model(folder: Path) -> Path:
    saved = tf_graphs.saved_model(variables=True)
    tf_graphs.constant(saved.meta_graphs[0].graph_def, "name", [], 7, b"/tmp/x")
    tf_graphs.node(saved.meta_graphs[0].graph_def, "bad", "WriteFile", ["name", "name"])
    return tf_graphs.write(folder / "saved" / "saved_model.pb", saved).parent


def _tflite(folder: Path) -> Path:
    path = folder / "m.tflite"
    path.write_bytes(tflite_specimens.pack(tflite_specimens.custom("MyCompanyFastRelu")))
    return path


def _onnx(folder: Path) -> Path:
    path = folder / "m.onnx"
    onnx.save(helper_model([helper.make_node("MyCompanyFastRelu", ["x"], ["y"], domain="my")], domains=["my"]), path)
    return path


def _module_that_is_not_there(folder: Path) -> Path:
    return archive(folder, sequential(dense(), layer("Blob", "b", "keras_hub.layers"))).path


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (_frozen, "MyCompanyFastRelu"),
        (_saved_model, "MyCompanyFastRelu"),
        (_torn_saved_model, "variables.index"),
        (_tflite, "MyCompanyFastRelu"),
        (_onnx, "MyCompanyFastRelu"),
        (_module_that_is_not_there, "Blob"),
    ],
)
@pytest.mark.parametrize("may_run_programs", [False, True])
def test_no_yes_is_asked_for_that_would_be_followed_by_a_no(tmp_path, monkeypatch, made, named, may_run_programs):
    """A package of that name is installed, and has no such module."""
    package = tmp_path / "packages" / "keras_hub"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('was run')")
    monkeypatch.syspath_prepend(str(package.parent))
    path = made(tmp_path)
    described = detect(ModelFile.at(path)).describe(ModelFile.at(path))
    assert described.hazards and named in described.runnable
    for trusted in (False, True):
        with pytest.raises(CannotRun, match=named) as refusal:
            opened(path, tmp_path, trusted=trusted, may_run_programs=may_run_programs)
        assert ("--trust" in str(refusal.value)) == (described.lacks_code and not trusted)


def test_code_that_is_missing_for_now_is_asked_for_together_with_the_yes(tmp_path):
    path = archive(tmp_path, sequential(dense(), layer("Blob", "b", "my_pkg.layers"), LAMBDA)).path
    with pytest.raises(CannotRun, match=r"Blob(?s:.*)'lam'(?s:.*)--trust"):
        opened(path, tmp_path)
    code = tmp_path / "own.py"
    code.write_text("class Blob: pass")
    with pytest.raises(NeedsTrust, match="'lam'"):
        opened(path, tmp_path, code=ModelFile.at(code))


def test_weights_beyond_the_limit_are_not_loaded(tmp_path):
    with pytest.raises(OutOfMemory, match="weights alone"):
        opened(tiny_onnx(tmp_path / "tiny.onnx"), tmp_path, memory_bytes=10)


def test_a_layer_the_kernel_refuses_counts_as_missing(capsys):
    def refuse() -> bool:
        raise OSError(1, "not here")

    assert containment._applied(refuse) is False
    assert "not here" in capsys.readouterr().err
