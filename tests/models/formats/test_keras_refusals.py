"""What of a Keras file cannot be rebuilt: named as what it is, with its layer, and with what then works."""

from __future__ import annotations

import base64
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stethoscope.errors import CannotRun
from stethoscope.models.formats.keras_h5 import FORMAT as H5
from stethoscope.models.formats.keras_model.keras_legacy import TAKEN_OUT
from stethoscope.models.formats.keras_zip import FORMAT as ZIP
from stethoscope.types import ModelFile
from tests.models.formats.test_keras_static import archive, dense, layer, legacy, legacy_sequential, sequential

UNREADABLE = base64.b64encode(b"\x7f").decode()
"""No version of Python wrote such bytecode."""
CODE = """
from tensorflow.keras import layers


class {name}(layers.Layer):
    def __init__(self, nb_feature=2, **settings):
        super().__init__(**settings)
        self.nb_feature = nb_feature

    def call(self, x):
        return x * self.nb_feature
"""


def _first(class_name: str) -> dict[str, object]:
    return {"class_name": class_name, "config": {"name": "dense", "output_dim": 2, "batch_input_shape": [None, 3, 2]}}


def _of_keras_1(folder: Path, *layers: dict[str, object], version: str = "1.2.2") -> ModelFile:
    return legacy(folder, {"class_name": "Sequential", "config": list(layers)}, version)


def test_a_dense_layer_over_time_of_keras_1_is_a_dense_layer(tmp_path):
    file = _of_keras_1(tmp_path, _first("TimeDistributedDense"))
    assert not H5.describe(file).runnable
    x = np.random.default_rng(0).normal(size=(4, 3, 2)).astype(np.float32)
    with H5.open(file, tmp_path) as runner:
        (found,) = runner.predict({runner.inputs[0].name: x}).values()
    np.testing.assert_allclose(found, x, atol=1e-6)


@pytest.mark.parametrize("name", TAKEN_OUT)
def test_a_layer_that_keras_2_took_out_is_one_of_keras_1(tmp_path, name):
    extra = {"class_name": name, "config": {"name": "extra", "nb_feature": 3}}
    described = H5.describe(_of_keras_1(tmp_path, _first("Dense"), extra))
    assert name in described.runnable and TAKEN_OUT[name] in described.runnable and "'extra'" in described.runnable
    # The same name in a file of Keras 2 is somebody's own class.
    assert TAKEN_OUT[name] not in H5.describe(_of_keras_1(tmp_path, _first("Dense"), extra, version="2.2.4")).runnable


def test_its_code_can_be_given(tmp_path):
    extra = {"class_name": "MaxoutDense", "config": {"name": "extra", "nb_feature": 3}}
    file, code = _of_keras_1(tmp_path, _first("Dense"), extra), tmp_path / "own.py"
    code.write_text(CODE.format(name="MaxoutDense"))
    x = np.ones((1, 3, 2), np.float32)
    with H5.open(replace(file, code=ModelFile.at(code)), tmp_path) as runner:
        (found,) = runner.predict({runner.inputs[0].name: x}).values()
    np.testing.assert_allclose(found, x * 3)


@pytest.mark.parametrize("kind", ["keras", "h5"])
def test_a_function_of_another_python_is_no_missing_class(tmp_path, kind):
    if kind == "keras":
        function = {"class_name": "__lambda__", "config": {"code": UNREADABLE, "defaults": None, "closure": None}}
        file, form = archive(tmp_path, sequential(dense(), layer("Lambda", "lam", function=function))), ZIP
    else:
        config = {"name": "lam", "function": [UNREADABLE, None, None], "function_type": "lambda"}
        file, form = legacy(tmp_path, legacy_sequential({"class_name": "Lambda", "config": config})), H5
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(CannotRun) as refusal:
        form.open(file, scratch, trusted=True)
    said = str(refusal.value)
    assert "'lam'" in said and f"{sys.version_info.major}.{sys.version_info.minor}" in said and "'code'" not in said


@pytest.mark.parametrize(("package", "suffix"), [("keras", ".keras"), ("tf_keras", ".h5")])
def test_a_name_that_a_function_takes_from_its_program_is_told(tmp_path, package, suffix):
    keras = pytest.importorskip(package)
    program = {"code": 2.0}
    layers = keras.layers
    path = tmp_path / f"model{suffix}"
    twice = eval("lambda x: x * code", program)
    keras.Sequential([layers.Input((3,)), layers.Lambda(twice, output_shape=(3,), name="lam")]).save(path)
    scratch, file = tmp_path / "scratch", ModelFile.at(path)
    scratch.mkdir()
    with (
        pytest.raises(CannotRun) as refusal,
        (ZIP if suffix == ".keras" else H5).open(file, scratch, trusted=True) as runner,
    ):
        runner.predict({runner.inputs[0].name: np.ones((1, 3), np.float32)})
    assert "'code'" in str(refusal.value) and "lam" in str(refusal.value).lower()
