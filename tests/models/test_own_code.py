"""Names of classes that a Keras file does not hold the code of, and the Python that is given for them: read, and run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sample_models.canonical import save_keras
from stethoscope.codec import answer_of
from stethoscope.evidence.training import TrainingEvidence
from stethoscope.memory.prediction import Prediction
from stethoscope.models import own_code
from stethoscope.models.formats.keras_zip import FORMAT as ZIP
from stethoscope.types import Budget, GivenCode, Job, ModelFile, Status
from tests.models.formats.test_keras_static import Json, _function, archive, dense, layer, sequential
from tests.tables import each

MIB = 1 << 20
SOURCE = """
from {package} import layers, losses
import {package} as keras


class Doubled(layers.Layer):
    def call(self, x):
        return x * 2.0


class Halved(losses.Loss):
    def call(self, y_true, y_pred):
        return abs(y_true - y_pred)[:, 0] / 2.0
"""


@each(
    ("extra", "name"),
    [
        (layer("Blob", "b", "my_pkg.layers"), "Blob"),
        (layer("Dense", "b", "my_pkg.layers", units=2), "Dense"),
        (layer("Dense", "b", units=2, kernel_initializer=layer("Mine", "i", "my_pkg")), "Mine"),
        (layer("Dense", "b", units=2, activation=_function("builtins", "swishy")), "swishy"),
    ],
)
def test_a_name_of_something_that_is_not_here_is_no_code(tmp_path: Path, extra: Json, name: str) -> None:
    file = archive(tmp_path, sequential(dense(), extra))
    described = ZIP.describe(file)
    assert not described.hazards and name in described.runnable
    assert [(need.name, need.where, need.only_training) for need in described.missing] == [(name, "b", False)]
    other, right = tmp_path / "other.py", tmp_path / "right.py"
    other.write_text("class Other: pass")
    right.write_text(f"try:\n    import mine\nexcept ImportError:\n    class {name}: pass")
    assert "other.py" in ZIP.describe(replace(file, code=ModelFile.at(other))).runnable
    given = ZIP.describe(replace(file, code=ModelFile.at(right)))
    assert not given.missing and not given.runnable and not given.hazards
    assert given.given == GivenCode("right.py", (name,))
    right.write_text("class (:")
    broken = ZIP.describe(replace(file, code=ModelFile.at(right)))
    assert broken.missing == described.missing and "right.py, line 1" in broken.runnable


def test_what_only_a_training_needs_keeps_nothing_from_running(tmp_path: Path) -> None:
    model = sequential(dense())
    model["compile_config"] = {"optimizer": "adam", "loss": _function("my_pkg", "my_loss")}
    described = ZIP.describe(archive(tmp_path, model))
    assert not described.runnable and not described.hazards
    assert [(need.name, need.only_training) for need in described.missing] == [("my_loss", True)]


def test_what_is_no_python_is_a_problem_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "code.py"
    for text in (b"\x00\x01", b"(" * 100_000, b"class (:", b"print 'two'"):
        place.write_bytes(text)
        read = own_code.read(ModelFile.at(place))
        assert read is not None and not read.names and read.problem.startswith("code.py")
    place.write_bytes(b"x = 1\n" * (own_code.MAX_BYTES // 4))
    assert "1,048,576" in own_code.read(ModelFile.at(place)).problem
    assert own_code.read(None) is None


def network(folder: Path, package: str, suffix: str) -> tuple[ModelFile, np.ndarray]:
    """A file with a layer and a loss of its own, beside their code; and what it answers to ones."""
    import keras
    import tf_keras

    chosen = keras if package == "keras" else tf_keras
    space: dict[str, object] = {}
    exec(SOURCE.format(package=package), space)
    model = chosen.Sequential([chosen.layers.Input((3,)), space["Doubled"](name="twice"), chosen.layers.Dense(1)])
    model.compile("adam", space["Halved"]())
    path = folder / f"net{suffix}"
    save_keras(model, path) if suffix == ".keras" else model.save(path)
    code = folder / "code.py"
    # For Keras 2 as people wrote it.
    code.write_text(SOURCE.format(package="keras" if package == "keras" else "tensorflow.keras"))
    return replace(ModelFile.at(path), code=ModelFile.at(code)), np.asarray(model(np.ones((4, 3), "float32")))


@pytest.mark.parametrize(("package", "suffix"), [("keras", ".keras"), ("tf_keras", ".h5")])
def test_a_model_runs_and_trains_with_its_own_code(engine, tmp_path, package, suffix):
    file, expected = network(tmp_path, package, suffix)
    data = tmp_path / "data.npz"
    np.savez(data, x=np.ones((4, 3), "float32"), y=np.zeros((4, 1), "float32"))
    files = {"model": file, "data": ModelFile.at(data)}

    def run(kind, params, files=files):
        return engine.wait(engine.submit(Job(kind, files, params, Budget(2048 * MIB, 120), "tensorflow")), 150)

    predicted = run("predict", {"samples": 4, "batch_size": 4})
    assert predicted.status is Status.OK, predicted.reason
    (output,) = answer_of(predicted, Prediction).outputs.values()
    assert np.allclose(np.load(predicted.files[output.path]), expected, atol=1e-6)
    trained = run("train", {"fit": {"epochs": 1, "batch_size": 4}, "time_s": 2})
    assert trained.status is Status.OK, trained.reason
    answer = answer_of(trained, TrainingEvidence)
    assert answer.loss == "halved" and not answer.crashed
    assert answer.base[0].loss and all(np.isfinite(answer.base[0].loss))


@each(
    ("source", "said"),
    [
        ("import no_such_package\nclass Doubled: pass", "line 1"),
        ("class Doubled: pass\nopen('/etc/shadow')", "line 2"),
        ("class Doubled: pass\nraise SystemExit(3)", "line 2"),
    ],
)
def test_code_that_fails_says_in_which_line(engine, tmp_path, source, said):
    file, _ = network(tmp_path, "keras", ".keras")
    file.code.path.write_text(source)
    result = engine.wait(engine.submit(Job("predict", {"model": file}, {}, Budget(512 * MIB, 60), "tensorflow")), 90)
    assert (result.status, result.error) == (Status.FAILED, "CannotRun")
    assert result.reason.startswith("code.py") and said in result.reason
