"""The callback in real trainings: what it writes is what happened, and the training is the one it would have been."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import stethoscope.keras as ours
from stethoscope.errors import BadInput
from stethoscope.logs.curves import is_instrument, layer_of
from tests.frameworks import Later, keras, tf
from tests.training.recording.reading import events, scalars

ROWS, BATCH = 256, 32
STEPS = ROWS // BATCH
RATE = 0.1


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 6)).astype("float32")
    return x, (x.sum(axis=1) > 0).astype("float32")[:, None]


def compiled(package=keras, optimizer=None, **options):
    package.utils.set_random_seed(3)
    model = package.Sequential(
        [
            package.layers.Input((6,)),
            package.layers.Dense(8, activation="relu", name="hidden"),
            package.layers.Dense(8, activation="tanh", name="squeezed"),
            package.layers.Dropout(0.1),
            package.layers.Dense(1, activation="sigmoid", name="answer"),
        ]
    )
    model.compile(optimizer or package.optimizers.SGD(RATE), "binary_crossentropy", metrics=["accuracy"], **options)
    return model


def train(model, folder, epochs=2, validate=True, **options):
    x, y = data()
    recorder = ours.Recorder(folder, **({"every": 2} | options))
    held = (x, y) if validate else None
    options = {"batch_size": BATCH, "epochs": epochs, "verbose": 0, "shuffle": False, "validation_data": held}
    return model.fit(x, y, **options, callbacks=[recorder]).history


@pytest.fixture(scope="module", params=["keras", "tf_keras"])
def recorded(request, tmp_path_factory):
    """(the folder of a recorded training, what `fit` answered)."""
    folder = tmp_path_factory.mktemp("recorded")
    return folder, train(compiled(Later(request.param)), folder)


def test_epochs_hold_what_fit_reports(recorded):
    folder, history = recorded
    found = scalars(folder / "train"), scalars(folder / "validation")
    for name in ("loss", "accuracy"):
        assert list(found[0][f"epoch_{name}"].values()) == pytest.approx(history[name], rel=1e-6)
        assert list(found[1][f"epoch_{name}"].values()) == pytest.approx(history[f"val_{name}"], rel=1e-6)
    assert found[0]["epoch_learning_rate"] == pytest.approx({0: RATE, 1: RATE})


def test_layers_are_measured_at_steps(recorded):
    found = scalars(recorded[0] / "train")
    assert list(found["batch_loss"]) == [2, 4, 6, 8, 10, 12, 14, 16]
    for layer in ("hidden", "squeezed", "answer"):
        assert all(0 < value < 10 for value in found[f"gradient_norm/{layer}"].values())
        assert all(0 < value < 1 for value in found[f"update_ratio/{layer}"].values())
    assert set(found) >= {"zero_fraction/hidden", "dead_fraction/hidden", "activation_std/hidden"}
    assert {tag for tag in found if tag.startswith("saturated")} == {
        "saturated_fraction/squeezed",
        "saturated_fraction/answer",
    }
    assert found["memory/resident_bytes"][2] > 1e8 and found["time/step_s"][6] > 0
    assert {tag for tag in found if not is_instrument(tag)} == {
        f"{when}_{name}" for when in ("epoch", "batch") for name in ("loss", "accuracy", "learning_rate")
    }
    assert layer_of("gradient_norm/outer/inner") == ("gradient_norm", "outer/inner")
    assert layer_of("train/gradient_norm/a") == ("gradient_norm", "a") and is_instrument("train/memory/resident_bytes")
    assert not is_instrument("train/loss") and not is_instrument("train/epoch_loss")
    assert layer_of("epoch_loss") is None and layer_of("memory/resident_bytes") is None


def test_gradients_and_updates_are_those_of_the_step(tmp_path):
    """One step of plain gradient descent, computed by hand."""
    x, y = data()
    model = compiled()
    model.layers[2].rate = 0.0
    recorder = ours.Recorder(tmp_path, every=2)
    model.fit(x, y, batch_size=BATCH, epochs=1, steps_per_epoch=1, shuffle=False, verbose=0)  # the step not looked at
    weights = [np.array(value) for value in model.trainable_variables]
    with tf.GradientTape() as tape:
        output = model(x[:BATCH], training=True)
        loss = tf.reduce_mean(keras.losses.binary_crossentropy(y[:BATCH], output))
    gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
    gradients = [np.array(gradient) for gradient in gradients]
    hidden = np.array(model.layers[0](x[:BATCH]))
    # `every=2` leaves the first step of this `fit` alone: it gets a rate of zero.
    wanted_rate = model.optimizer.learning_rate.numpy()
    model.optimizer.learning_rate.assign(0.0)

    class Restore(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if batch == 1:
                self.model.optimizer.learning_rate.assign(wanted_rate)

    twice = np.concatenate([x[:BATCH], x[:BATCH]]), np.concatenate([y[:BATCH], y[:BATCH]])
    model.fit(*twice, batch_size=BATCH, epochs=1, shuffle=False, verbose=0, callbacks=[Restore(), recorder])
    found = scalars(tmp_path / "train")
    (gradient,), (ratio,) = found["gradient_norm/hidden"].values(), found["update_ratio/hidden"].values()
    slope = math.sqrt(sum(np.sum(part**2) for part in gradients[:2]))
    size = math.sqrt(sum(np.sum(part**2) for part in weights[:2]))
    assert gradient == pytest.approx(slope / math.sqrt(6 * 8 + 8), rel=1e-4)
    assert ratio == pytest.approx(RATE * slope / size, rel=1e-3)
    assert found["zero_fraction/hidden"][3] == pytest.approx(np.mean(hidden <= 0), abs=1e-6)
    assert found["dead_fraction/hidden"][3] == pytest.approx(np.mean((hidden <= 0).all(axis=0)), abs=1e-6)
    assert found["batch_loss"][3] == pytest.approx(float(loss), rel=1e-4)


def test_the_training_is_the_same_with_and_without(tmp_path):
    x, y = data()
    plain, recorded = compiled(), compiled()
    keras.utils.set_random_seed(5)
    plain.fit(x, y, batch_size=BATCH, epochs=2, verbose=0)
    keras.utils.set_random_seed(5)
    recorded.fit(x, y, batch_size=BATCH, epochs=2, verbose=0, callbacks=[ours.Recorder(tmp_path, every=3)])
    for mine, theirs in zip(recorded.get_weights(), plain.get_weights(), strict=True):
        assert np.array_equal(mine, theirs)
    assert "train_step" not in vars(recorded) and "apply" not in vars(recorded.optimizer)


@pytest.mark.parametrize(
    ("package", "options"),
    [
        ("keras", {"jit_compile": True}),
        ("keras", {"run_eagerly": True}),
        ("keras", {"steps_per_execution": 4}),
        ("tf_keras", {"steps_per_execution": 4}),
        pytest.param("tf_keras", {"jit_compile": True}, marks=pytest.mark.sweep),
        pytest.param("tf_keras", {"run_eagerly": True}, marks=pytest.mark.sweep),
    ],
    ids=["jit", "eager", "several steps a call", "Keras 2, several steps a call", "Keras 2, jit", "Keras 2, eager"],
)
def test_every_way_to_run_a_step_is_watched(tmp_path, package, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        train(compiled(Later(package), **options), tmp_path, validate=False)
    found = scalars(tmp_path / "train")
    assert {"gradient_norm/hidden", "zero_fraction/hidden", "update_ratio/answer"} <= set(found)
    assert max(found["gradient_norm/hidden"]) == 16
    assert all(math.isfinite(value) for series in found.values() for value in series.values())


def test_gradients_of_a_scaled_loss_are_unscaled(tmp_path):
    found = []
    for name, optimizer in (
        ("plain", keras.optimizers.SGD(RATE)),
        ("scaled", keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(RATE), initial_scale=1024.0)),
        ("factor", keras.optimizers.SGD(RATE, loss_scale_factor=64.0)),
    ):
        train(compiled(optimizer=optimizer), tmp_path / name, epochs=1, validate=False)
        found.append(list(scalars(tmp_path / name / "train")["gradient_norm/hidden"].values()))
    assert found[1] == pytest.approx(found[0], rel=1e-3) and found[2] == pytest.approx(found[0], rel=1e-3)


def adversarial():
    """Two parts with an optimizer each, and a step of its own."""

    class Adversarial(keras.Model):
        def __init__(self):
            super().__init__()
            self.maker = keras.layers.Dense(6, name="maker")
            self.judge = keras.layers.Dense(1, name="judge")

        def compile(self):
            super().compile()
            self.maker_optimizer, self.judge_optimizer = keras.optimizers.Adam(), keras.optimizers.SGD()

        def call(self, x):
            return self.judge(self.maker(x))

        def train_step(self, data):
            x, _ = data
            with tf.GradientTape(persistent=True) as tape:
                score = tf.reduce_mean(self(x, training=True))
            for part, optimizer in ((self.maker, self.maker_optimizer), (self.judge, self.judge_optimizer)):
                variables = part.trainable_variables
                optimizer.apply_gradients(zip(tape.gradient(score, variables), variables, strict=True))
            return {"score": score}

    return Adversarial()


def test_a_step_of_ones_own_with_two_optimizers(tmp_path):
    model = adversarial()
    model.compile()
    train(model, tmp_path, epochs=1, validate=False)
    found = scalars(tmp_path / "train")
    assert {"gradient_norm/maker", "gradient_norm/judge", "batch_score"} <= set(found)


def unwatchable():
    """Its step updates the weights inside a branch, from where no measurement gets out."""

    class Unwatchable(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1)

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
            slopes = tape.gradient(loss, self.trainable_variables)

            def update():
                self.optimizer.apply_gradients(zip(slopes, self.trainable_variables, strict=True))
                return 0

            tf.cond(loss > 0, update, lambda: 0)
            return {"loss": loss}

    return Unwatchable()


def test_a_step_that_cannot_be_watched_trains_on_and_says_so(tmp_path):
    model = unwatchable()
    model.compile(optimizer="sgd")
    with pytest.warns(RuntimeWarning, match="left out"):
        train(model, tmp_path, epochs=2, validate=False)
    found = scalars(tmp_path / "train")
    assert not any(layer_of(tag) for tag in found)
    assert len(found["batch_loss"]) == STEPS and found["batch_loss"][16] < found["batch_loss"][8]  # the same rows
    assert int(model.optimizer.iterations.numpy()) == 2 * STEPS


def test_a_training_that_breaks_shows_where(tmp_path):
    model = compiled()
    model.layers[1].kernel.assign(np.full((8, 8), np.nan))
    train(model, tmp_path, epochs=1, validate=False)
    found = scalars(tmp_path / "train")
    for tag in ("gradient_norm/hidden", "update_ratio/squeezed", "activation_std/squeezed", "batch_loss"):
        assert math.isnan(found[tag][2])


def test_going_on_counts_on(tmp_path):
    x, y = data()
    model, recorder = compiled(), ours.Recorder(tmp_path, every=4)
    for _ in range(3):
        model.fit(x, y, batch_size=BATCH, epochs=1, verbose=0, callbacks=[recorder])
    model.compile(keras.optimizers.SGD(RATE / 10), "binary_crossentropy")
    model.fit(x, y, batch_size=BATCH, epochs=1, verbose=0, callbacks=[recorder])
    found = scalars(tmp_path / "train")
    assert list(found["epoch_loss"]) == [0, 1, 2, 3]
    assert list(found["batch_loss"]) == sorted(found["batch_loss"]) and max(found["batch_loss"]) > 3 * STEPS
    watched = [step for step in found["gradient_norm/hidden"] if step <= 3 * STEPS]
    assert watched == [4, 8, 12, 16, 20, 24]


def test_weights_as_histograms(tmp_path):
    train(compiled(), tmp_path, epochs=2, validate=False, histograms=True)
    (path,) = (tmp_path / "train").glob("*tfevents*")
    rows = [value for _, _, tag, value in events(path) if tag == "weights/hidden"]
    assert len(rows) == 2 and rows[0][:, 2].sum() == 6 * 8 + 8


def test_only_losses_where_layers_are_not_wanted(tmp_path):
    train(compiled(), tmp_path, epochs=1, validate=False, layers=False)
    found = scalars(tmp_path / "train")
    assert "batch_loss" in found and not any(layer_of(tag) for tag in found)


@pytest.mark.parametrize("options", [{"every": 0}, {"share": 0.0}, {"share": 1.5}])
def test_wrong_arguments_are_refused(tmp_path, options):
    with pytest.raises(BadInput, match="expected"):
        ours.Recorder(tmp_path, **options)


def test_it_is_a_keras_callback_that_leaves_fit_asynchronous(tmp_path):
    recorder = ours.Recorder(tmp_path)
    assert isinstance(recorder, keras.callbacks.Callback)
    assert type(recorder).on_train_batch_end is keras.callbacks.Callback.on_train_batch_end


@pytest.fixture
def patient(monkeypatch):
    """Tracing the watched step is always worth it, however long a busy machine takes over it."""
    monkeypatch.setattr("stethoscope.training.recording.layer_looks.SHORT_PREPARATION_S", math.inf)


@pytest.mark.usefixtures("patient")
def test_epochs_of_one_step_are_looked_at_too(tmp_path):
    x, y = data()
    compiled_model = compiled()
    compiled_model.fit(x, y, batch_size=ROWS, epochs=12, verbose=0, callbacks=[ours.Recorder(tmp_path)])
    found = scalars(tmp_path / "train")
    assert min(found["gradient_norm/hidden"]) == 4 and len(found["epoch_loss"]) == 12


@pytest.mark.usefixtures("patient")
def test_the_step_is_chosen_by_cost_unless_told(tmp_path):
    x, y = data()
    model, recorder = compiled(), ours.Recorder(tmp_path)
    model.fit(x, y, batch_size=4, epochs=15, verbose=0, callbacks=[recorder])
    steps = sorted(scalars(tmp_path / "train")["gradient_norm/hidden"])
    assert steps[0] == 4 and len(steps) >= 3
    assert recorder.schedule.spent_share < 0.2 and recorder.schedule.prepared_s > 0


def test_a_disk_that_fails_does_not_end_the_training(tmp_path):
    (tmp_path / "train").write_text("a file where the folder should be")
    with pytest.warns(RuntimeWarning, match="nothing more"):
        history = train(compiled(), tmp_path)
    assert len(history["loss"]) == 2
