"""The train job: from files to training evidence, in a contained worker."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.evidence.decode import decode
from stethoscope.evidence.training import TrainingEvidence
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.sources import PROJECT
from tests.training.programs import blobs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import subprocess
    import sys

    made = tmp_path_factory.mktemp("train")
    code = (
        "import sys, keras; from pathlib import Path; from sample_models.canonical import save_keras\n"
        "keras.utils.set_random_seed(0); L = keras.layers\n"
        "m = keras.Sequential([L.Input((4,)), L.Dense(8, activation='relu'), L.Dense(3, activation='softmax')])\n"
        "m.compile('adam', 'sparse_categorical_crossentropy'); save_keras(m, Path(sys.argv[1]))\n"
        "m.compile(keras.optimizers.Adam(0.01), 'sparse_categorical_crossentropy')\n"
        "import numpy as np; d = np.load(sys.argv[2]); m.fit(d['x'], d['y'], epochs=20, verbose=0); save_keras(m, Path(sys.argv[3]))\n"
    )
    x, y = blobs(200)
    np.savez(made / "data.npz", x=x, y=y)
    paths = [str(made / name) for name in ("fresh.keras", "data.npz", "trained.keras")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True, capture_output=True, cwd=PROJECT)
    return made


def trained(engine, folder, model="fresh.keras", data="data.npz", **params):
    files = {"model": ModelFile.at(folder / model)}
    if data:
        files["data"] = ModelFile.at(folder / data)
    job = Job("train", files, params, Budget(4 << 30, 280), "tensorflow")
    return engine.wait(engine.submit(job), 300)


def test_evidence_comes_back(engine, folder):
    result = trained(engine, folder, fit={"epochs": 5, "validation_split": 0.2}, time_s=100)
    assert result.status is Status.OK, result.reason
    found = decode(TrainingEvidence, result.value)
    assert (found.train_rows, found.val_rows, found.epochs_asked) == (160, 40, 5)
    assert found.started_from == "initial weights"
    assert found.base[0].final.val_skill is not None
    assert found.base[0].steps_done == 25
    assert found.trials
    assert any("batch size" in sentence for sentence in found.assumed)


def test_a_trained_file_starts_anew_and_unsaid_epochs_are_assumed(engine, folder):
    result = trained(engine, folder, "trained.keras", time_s=20, trials=False)
    found = decode(TrainingEvidence, result.value)
    assert found.started_from == "new initial weights"
    assert found.epochs_asked is None
    assert abs(found.base[0].steps_done - 1_000) < 50
    assert any("epochs" in sentence for sentence in found.assumed)


def test_without_data_there_is_a_reason(engine, folder):
    result = trained(engine, folder, data="")
    assert result.status is Status.FAILED
    assert "x and y" in result.reason
