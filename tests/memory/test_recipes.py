"""The printed programs are valid for every setting, and run as printed."""

from __future__ import annotations

import ast
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sample_models import BUILT
from stethoscope.errors import CannotRun
from stethoscope.memory import recipes
from stethoscope.memory.container_recipes import environment
from stethoscope.memory.recipes import before_the_first_operation
from stethoscope.memory.run_settings import CALLS, PRECISIONS, RunSettings
from stethoscope.models.formats import all_formats
from stethoscope.types import TensorSpec

IMAGE = (TensorSpec("image", (None, 8, 8, 1), "float32"),)
PAIR = (TensorSpec("first", (None, 8, 8, 1), "float32"), TensorSpec("second", (None, 8, 8, 1), "float32"))


def python_code(name, settings, specs, **options) -> str:
    """The program for a Keras model, unless told otherwise."""
    return recipes.python_code(name, settings, specs, **{"format_": all_formats()["keras"], **options})


@pytest.mark.parametrize("specs", [IMAGE, PAIR])
def test_every_combination_is_valid_python(specs):
    for call, precision, xla, device in itertools.product(CALLS, PRECISIONS, (False, True), ("auto", "cpu", "gpu")):
        settings = RunSettings(call=call, precision=precision, xla=xla, device=device, memory_limit_bytes=1 << 30)
        ast.parse(python_code('it\'s a "model".keras', settings, specs, keras_2=xla))


def test_the_card_is_configured_before_anything_else():
    settings = RunSettings(device="gpu", gpu_index=1, logical_devices=(2 << 30, 4 << 30))
    lines = python_code("m.keras", settings, IMAGE, not_run=["No GPU\nhere."]).splitlines()
    assert lines[0].startswith("# Not run on") and lines[0].endswith(": No GPU here.")
    text = "\n".join(lines)
    assert "LogicalDeviceConfiguration(memory_limit=2048)" in text
    assert "LogicalDeviceConfiguration(memory_limit=4096)" in text
    assert "gpus[1]" in text
    assert text.index("set_logical_device_configuration") < text.index("load_model")
    assert before_the_first_operation(RunSettings()) == []


def test_memory_is_allocated_as_it_was_measured():
    assert 'os.environ["TF_ONEDNN_USE_SYSTEM_ALLOCATOR"] = "1"' in python_code("m.keras", RunSettings(), IMAGE)
    for other in (RunSettings(allocator="pool"), RunSettings(device="gpu")):
        assert "ALLOCATOR" not in python_code("m.keras", other, IMAGE)
    assert environment(RunSettings())["MALLOC_ARENA_MAX"] == "1"
    assert "MALLOC_ARENA_MAX" not in environment(RunSettings(allocator="pool"))


def test_hostile_names_stay_text():
    name = "x'); import os; os.abort() #\n.keras"
    tree = ast.parse(python_code(name, RunSettings(), (TensorSpec("in'\nput", (None, 2), "float32"),)))
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert {name, "in'\nput"} <= constants
    assert "abort" not in {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_other_formats_have_other_runtimes():
    with pytest.raises(CannotRun, match="ONNX"):
        python_code("m.onnx", RunSettings(), IMAGE, format_=all_formats()["onnx"])
    with pytest.raises(CannotRun, match="SavedModel"):
        python_code("m.zip", RunSettings(call="predict"), IMAGE, format_=all_formats()["saved_model"])
    ast.parse(python_code("m.zip", RunSettings(xla=True), IMAGE, format_=all_formats()["saved_model"]))


def ran(code: str, folder: Path) -> str:
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_a_program_with_everything_a_cpu_can_do_runs():
    settings = RunSettings(
        batch_size=4,
        call="predict",
        precision="mixed_bfloat16",
        intra_threads=1,
        inter_threads=1,
        device="cpu",
        logical_devices=(0, 0),
        memory_limit_bytes=1 << 30,
    )
    code = python_code("digits_cnn.keras", settings, IMAGE, samples=10)
    said = ran(
        code + "print(outputs.shape, len(tf.config.list_logical_devices('CPU')), "
        "tf.config.threading.get_intra_op_parallelism_threads(), model.layers[-1].dtype_policy.name)\n",
        BUILT,
    )
    assert said.split("\n")[0] == "(10, 10) 2 1 mixed_bfloat16"


@pytest.mark.sweep
def test_a_program_for_two_inputs_compiled_runs():
    code = python_code("digit_pairs.keras", RunSettings(batch_size=4, call="compiled"), specs_of("digit_pairs.keras"))
    assert "OK" in ran(code + "print('OK', len(results))\n", BUILT)


def test_a_program_for_keras_2_runs():
    settings = RunSettings(batch_size=4, call="predict_on_batch", precision="float16")
    code = python_code("cancer_keras2.h5", settings, specs_of("cancer_keras2.h5"), keras_2=True, samples=6)
    assert "[4, 2] float16" in ran(code + "print([len(r) for r in results], results[0].dtype)\n", BUILT)


def specs_of(name: str) -> tuple[TensorSpec, ...]:
    from stethoscope.models.formats import detect
    from stethoscope.types import ModelFile

    file = ModelFile.at(BUILT / name)
    return detect(file).describe(file).inputs
