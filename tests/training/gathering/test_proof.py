"""A fix of one of several outputs is judged by that output, one of the whole network by all of them."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.tasks.prove import Prover, changed_outputs
from stethoscope.tasks.train import Gatherer
from tests.training.programs import blobs, setup_of

X, KIND = blobs(200)
SIZE = (X @ np.array([1.0, -2.0, 0.5, 1.5]) + 40).astype(np.float32)[:, None]


@pytest.fixture(scope="module")
def two_heads():
    """Classes that are learned, and numbers near 40 from a sigmoid; a third output is not trained."""
    import keras

    keras.utils.set_random_seed(1)
    inputs = keras.Input((4,), name="x")
    hidden = keras.layers.Dense(16, activation="relu")(inputs)
    outputs = [
        keras.layers.Dense(2, name="spare")(hidden),
        keras.layers.Dense(3, activation="softmax", name="kind")(hidden),
        keras.layers.Dense(1, activation="sigmoid", name="size")(hidden),
    ]
    model = keras.Model(inputs, outputs)
    losses = {"kind": "sparse_categorical_crossentropy", "size": "mse"}
    adam = {"class_name": "Adam", "config": {"learning_rate": 0.03}}
    targets = {"spare": np.zeros((200, 2), np.float32), "kind": KIND, "size": SIZE}
    return setup_of(model, {"x": X}, targets, {"loss": losses, "optimizer": adam}, epochs=40, batch_size=32)


@pytest.fixture(scope="module")
def prover(two_heads):
    return Prover(two_heads, seeds=3, time_s=180, fixes=2)


def test_a_fix_of_one_output_is_judged_by_it(two_heads, prover):
    fix = ReplaceActivation(layer="size", activation="linear", was="sigmoid")
    assert changed_outputs(two_heads, fix.apply(two_heads)) == [2]
    proof = prover.prove([fix])
    assert (proof.verdict, proof.metric) == ("helps", "r2 of size")
    assert min(proof.after) > 0.5 > 0.0 >= max(proof.before)


def test_a_fix_of_the_whole_network_is_judged_by_all_that_are_trained(two_heads, prover):
    fix = SetLearningRate(learning_rate=1e-7, was=0.03)
    assert changed_outputs(two_heads, fix.apply(two_heads)) == []
    proof = prover.prove([fix])
    assert (proof.verdict, proof.metric) == ("worse", "mean skill")
    # One of two is learned before, none after.
    assert min(proof.before) > -0.1 and proof.effect < -0.2


def test_scores_of_a_training_are_those_of_the_first_output_that_is_trained(two_heads):
    found = Gatherer(two_heads, 40, (), 60.0, trials=False).run()
    assert (found.score_name, found.score_output, found.chance) == (
        "accuracy",
        "kind",
        pytest.approx(np.bincount(KIND).max() / 200),
    )
    final = found.base[0].final
    spare, kind, size = final.heads
    assert np.isnan(spare.score) and final.score == kind.score > 0.9 and size.skill <= 0
    assert final.skill == pytest.approx(kind.skill / 2)
    assert found.skill_of_score > 0.85 > found.skill
