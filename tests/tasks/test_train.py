"""The train job: from files to training evidence, in a contained worker."""

from __future__ import annotations

import numpy as np
import pytest

from sample_models.canonical import save_keras
from stethoscope.codec import decode
from stethoscope.evidence.training import TrainingEvidence
from stethoscope.types import Budget, Job, ModelFile, Status
from tests.frameworks import keras
from tests.training.programs import blobs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("train")
    x, y = blobs(200)
    np.savez(made / "data.npz", x=x, y=y)
    keras.utils.clear_session()
    keras.utils.set_random_seed(0)
    hidden, answer = keras.layers.Dense(8, activation="relu"), keras.layers.Dense(3, activation="softmax")
    model = keras.Sequential([keras.layers.Input((4,)), hidden, answer])
    model.compile("adam", "sparse_categorical_crossentropy")
    save_keras(model, made / "fresh.keras")
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    model.fit(x, y, epochs=20, verbose=0)
    save_keras(model, made / "trained.keras")
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
