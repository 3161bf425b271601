"""Keras files opened and run, against what Keras itself says about the same model."""

from __future__ import annotations

import importlib
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from stethoscope.errors import BadInput, CannotRun, NeedsTrust
from stethoscope.models.formats import detect
from stethoscope.types import Architecture, Feed, ModelFile, Runner

PACKAGES = ("keras", "tf_keras")
FILES = [(package, suffix) for package in PACKAGES for suffix in (".keras", ".h5")]


@pytest.fixture(scope="module")
def packages() -> dict[str, Any]:
    import keras
    import tf_keras

    return {"keras": keras, "tf_keras": tf_keras}


def saved(model: Any, folder: Path, suffix: str) -> tuple[ModelFile, Architecture]:
    path = folder / f"model{suffix}"
    model.save(path)
    file = ModelFile.at(path)
    return file, detect(file).describe(file)


def opened(file: ModelFile, folder: Path, *, trusted: bool = False) -> Runner:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return detect(file).open(file, scratch, trusted=trusted)


def random_feed(runner: Runner, rows: int = 3) -> Feed:
    generator = np.random.default_rng(0)
    return {
        spec.name: generator.random([size or rows for size in spec.shape or ()]).astype(spec.dtype)
        for spec in runner.inputs
    }


def two_towers(keras: Any) -> Any:
    """Nested model called twice, shared layer, operations, two inputs, two outputs, a frozen layer."""
    layers = keras.layers
    tower = keras.Sequential(
        [layers.Input((8,)), layers.Dense(4, activation="relu", name="d1"), layers.BatchNormalization(name="bn")],
        name="tower",
    )
    left, right = keras.Input((8,), name="left"), keras.Input((8,), name="right")
    joined = layers.Concatenate(name="cat")([tower(left), tower(right)])
    joined = layers.Dropout(0.5, name="drop")(joined) * 2.0 + 1.0
    shared = layers.Dense(3, name="shared", trainable=False)
    return keras.Model([left, right], [shared(joined[:, :4]), shared(joined[:, 4:])], name="two_towers")


def sequence(keras: Any) -> Any:
    layers = keras.layers
    inner_in = keras.Input((4, 4, 1))
    inner = keras.Model(inner_in, layers.Flatten()(layers.Conv2D(2, 2)(inner_in)), name="frame")
    return keras.Sequential(
        [
            layers.Input((5, 4, 4, 1)),
            layers.TimeDistributed(inner, name="td"),
            layers.Bidirectional(layers.LSTM(3), name="bi"),
            layers.Dense(2, name="out"),
        ]
    )


def residual(keras: Any) -> Any:
    layers = keras.layers
    image = keras.Input((8, 8, 3), name="image")
    first = layers.SeparableConv2D(4, 3, padding="same", name="sep")(image)
    second = layers.Conv2D(4, 3, padding="same", name="conv")(layers.BatchNormalization(name="bn")(first))
    pooled = layers.GlobalAveragePooling2D(name="pool")(layers.Add(name="sum")([first, second]))
    return keras.Model(
        {"image": image}, {"class": layers.Dense(5, activation="softmax", name="head")(pooled), "features": pooled}
    )


@pytest.mark.parametrize("build", [two_towers, sequence, residual])
@pytest.mark.parametrize(("package", "suffix"), FILES)
def test_description_and_results_are_keras_own(
    package: str, suffix: str, build: Any, packages: dict[str, Any], tmp_path: Path
) -> None:
    model = build(packages[package])
    file, described = saved(model, tmp_path, suffix)
    assert not described.hazards
    assert not described.runnable
    assert described.parameters == model.count_params() == sum(layer.parameters for layer in described.layers)
    assert described.trainable_parameters == sum(math.prod(weight.shape) for weight in model.trainable_weights)
    assert [spec.shape for spec in described.inputs] == [tuple(tensor.shape) for tensor in model.inputs]
    with opened(file, tmp_path) as runner:
        assert runner.inputs == described.inputs
        feed = random_feed(runner)
        results = runner.predict(feed)
        assert list(results) == [spec.name for spec in described.outputs]
        expected = model(
            feed
            if isinstance(getattr(model, "input", None), dict)
            else list(feed.values())
            if len(feed) > 1
            else next(iter(feed.values()))
        )
        flat = (
            [expected[name] for name in results]
            if isinstance(expected, dict)
            else expected
            if isinstance(expected, list | tuple)
            else [expected]
        )
        for result, wanted in zip(results.values(), flat, strict=True):
            np.testing.assert_allclose(result, np.asarray(wanted), atol=1e-5)
        seen = runner.activations(feed)
        rows = {
            layer.path: layer
            for layer in described.layers
            if not layer.path.endswith(("input_layer", "input_1")) and layer.type != "InputLayer"
        }
        assert rows.keys() <= seen.keys()
        for path, row in rows.items():
            assert row.output_shape is not None, path
            assert [size for size in row.output_shape if size] == [
                got for size, got in zip(row.output_shape, seen[path].shape, strict=True) if size
            ], path


@pytest.mark.parametrize("package", PACKAGES)
def test_second_calls_of_shared_layers_have_their_own_key(
    package: str, packages: dict[str, Any], tmp_path: Path
) -> None:
    file, _ = saved(two_towers(packages[package]), tmp_path, ".keras")
    with opened(file, tmp_path) as runner:
        feed = random_feed(runner)
        seen = runner.activations(feed, ["shared", "tower/d1#2"])
        assert set(seen) == {"shared", "shared#2", "tower/d1#2"}
        results = runner.predict(feed)
        for result in results.values():
            assert any(np.allclose(result, seen[key], atol=1e-5) for key in ("shared", "shared#2"))
        with pytest.raises(BadInput, match="no layer 'nope'"):
            runner.activations(feed, ["nope"])


def test_the_hook_is_taken_off_after_an_error(packages: dict[str, Any], tmp_path: Path) -> None:
    keras = packages["keras"]
    before = keras.layers.Layer.__call__
    file, _ = saved(residual(keras), tmp_path, ".keras")
    with opened(file, tmp_path) as runner, pytest.raises(BadInput):
        runner.activations({"image": np.zeros((1, 9, 9, 3), "float32")})
    assert keras.layers.Layer.__call__ is before


@pytest.mark.parametrize("package", PACKAGES)
def test_training_mode_drops(package: str, packages: dict[str, Any], tmp_path: Path) -> None:
    file, _ = saved(two_towers(packages[package]), tmp_path, ".keras")
    with opened(file, tmp_path) as runner:
        feed = random_feed(runner)
        same = [runner.predict(feed)["shared"] for _ in range(2)]
        trained = [runner.predict(feed, training=True)["shared"] for _ in range(3)]
    assert np.array_equal(*same)
    assert not (np.array_equal(trained[0], trained[1]) and np.array_equal(trained[1], trained[2]))


def test_a_feed_that_does_not_fit_is_refused(packages: dict[str, Any], tmp_path: Path) -> None:
    file, _ = saved(residual(packages["keras"]), tmp_path, ".keras")
    with opened(file, tmp_path) as runner:
        with pytest.raises(BadInput, match=r"expected \(None, 8, 8, 3\), got \(1, 3, 8, 8\).*channels-last"):
            runner.predict({"image": np.zeros((1, 3, 8, 8), "float32")})
        with pytest.raises(BadInput, match="'image'"):
            runner.predict({"picture": np.zeros((1, 8, 8, 3), "float32")})


@pytest.mark.parametrize(("package", "suffix"), FILES)
def test_frozen_parts_stay_frozen(package: str, suffix: str, packages: dict[str, Any], tmp_path: Path) -> None:
    model = two_towers(packages[package])
    model.get_layer("tower").trainable = False
    file, described = saved(model, tmp_path, suffix)
    with opened(file, tmp_path) as runner:
        loaded = runner.model  # type: ignore[attr-defined]
        assert described.trainable_parameters == sum(math.prod(weight.shape) for weight in loaded.trainable_weights)


@pytest.mark.parametrize(("package", "suffix"), FILES)
def test_compile_settings(package: str, suffix: str, packages: dict[str, Any], tmp_path: Path) -> None:
    keras = packages[package]
    model = residual(keras)
    model.compile(
        keras.optimizers.RMSprop(0.125),
        loss={"class": "sparse_categorical_crossentropy", "features": "mse"},
        metrics={"class": ["accuracy"]},
    )
    _, described = saved(model, tmp_path, suffix)
    assert described.compile is not None
    assert described.compile.optimizer == "RMSprop"
    assert described.compile.learning_rate == 0.125
    assert described.compile.loss == {"class": "sparse_categorical_crossentropy", "features": "mse"}
    assert "accuracy" in json.dumps(list(described.compile.metrics))
    assert not described.hazards


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize(("package", "suffix"), FILES)
def test_a_lambda_needs_trust_and_then_runs(
    package: str, suffix: str, functional: bool, packages: dict[str, Any], tmp_path: Path
) -> None:
    keras = packages[package]
    given, twice = keras.layers.Input((3,)), keras.layers.Lambda(lambda x: x * 2.0, output_shape=(3,), name="twice")
    model = keras.Model(given, twice(given)) if functional else keras.Sequential([given, twice])
    file, described = saved(model, tmp_path, suffix)
    assert (described.hazards[0].rule, described.hazards[0].where) == ("lambda", "twice")
    with pytest.raises(NeedsTrust, match="twice"):
        opened(file, tmp_path)
    with opened(file, tmp_path, trusted=True) as runner:
        x = np.ones((2, 3), "float32")
        assert np.array_equal(next(iter(runner.predict({runner.inputs[0].name: x}).values())), x * 2)


@pytest.mark.parametrize(("package", "suffix"), FILES)
def test_a_class_that_is_nowhere_is_named_with_its_layer(
    package: str, suffix: str, packages: dict[str, Any], tmp_path: Path
) -> None:
    keras = packages[package]

    class Blob(keras.layers.Layer):  # type: ignore[misc, name-defined]
        def call(self, x: Any) -> Any:
            return x

    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2, name="d"), Blob(name="blob_7")])
    file, described = saved(model, tmp_path, suffix)
    assert described.parameters == 8
    # This module could be imported, where the file names it: an .h5 file does not.
    assert {hazard.rule for hazard in described.hazards} == {"unknown-class"} or described.missing[0].name == "Blob"
    with pytest.raises((CannotRun, NeedsTrust), match="Blob"):
        opened(file, tmp_path)
    with pytest.raises(CannotRun, match=r"Blob.*'blob_7'"):
        opened(file, tmp_path, trusted=True)


SUBCLASSED = """
import {package}
from {package} import layers


class Block(layers.Layer):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.inner = layers.Dense(units, name="inner")

    def build(self, shape):
        self.inner.build(shape)
        self.built = True

    def call(self, x):
        return x + self.inner(x)

    def get_config(self):
        return {{**super().get_config(), "units": self.units}}


class Net({package}.Model):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.block = Block(units, name="block")
        self.norm = layers.BatchNormalization(name="norm")
        self.head = layers.Dense(2, name="head")
        self.loss_tracker = {package}.metrics.Mean(name="loss")

    def call(self, x, training=False):
        return self.head(self.norm(self.block(x), training=training))

    def get_config(self):
        return {{**super().get_config(), "units": self.units}}


for kind in (Block, Net):
    {package}.saving.register_keras_serializable("my_models")(kind)
"""


@pytest.mark.parametrize("package", PACKAGES)
def test_a_subclassed_model_is_described_by_its_weights_and_runs_when_trusted(
    package: str, packages: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"subclassed_with_{package}"
    (tmp_path / f"{name}.py").write_text(SUBCLASSED.format(package=package))
    monkeypatch.syspath_prepend(str(tmp_path))
    model = importlib.import_module(name).Net()
    expected = model(np.ones((1, 4), "float32"))
    file, described = saved(model, tmp_path, ".keras")
    assert described.parameters == sum(math.prod(weight.shape) for layer in model.layers for weight in layer.weights)
    assert described.trainable_parameters in (None, sum(math.prod(weight.shape) for weight in model.trainable_weights))
    assert any("subclassed" in warning for warning in described.warnings)
    assert not described.runnable
    with pytest.raises(NeedsTrust):
        opened(file, tmp_path)
    with opened(file, tmp_path, trusted=True) as runner:
        feed = {runner.inputs[0].name: np.ones((1, 4), "float32")}
        np.testing.assert_allclose(next(iter(runner.predict(feed).values())), np.asarray(expected), atol=1e-6)
        assert list(runner.activations(feed)) == ["block/inner", "block", "norm", "head"]


@pytest.mark.parametrize("package", PACKAGES)
def test_text_in_numbers_out(package: str, packages: dict[str, Any], tmp_path: Path) -> None:
    keras = packages[package]
    layers = keras.layers
    text = keras.Input((1,), dtype="string", name="text")
    model = keras.Model(
        text, layers.Embedding(6, 2, name="emb")(layers.StringLookup(vocabulary=["a", "b"], name="look")(text))
    )
    file, described = saved(model, tmp_path, ".keras")
    assert described.inputs[0].dtype == "string"
    assert described.parameters == 12
    with opened(file, tmp_path) as runner:
        result = runner.predict({"text": np.array([["a"], ["b"], ["a"]])})
        values = next(iter(result.values()))
        assert values.shape == (3, 1, 2)
        assert np.array_equal(values[0], values[2])


def test_mixed_precision(packages: dict[str, Any], tmp_path: Path) -> None:
    keras = packages["keras"]
    inputs = keras.Input((4,))
    model = keras.Model(inputs, keras.layers.Dense(2, dtype="mixed_bfloat16")(inputs))
    file, described = saved(model, tmp_path, ".keras")
    assert described.layers[-1].dtype == "bfloat16"
    with opened(file, tmp_path) as runner:
        assert next(iter(runner.predict(random_feed(runner)).values())).dtype == np.float32


def test_a_stored_folder_and_a_stored_name_without_suffix_open(packages: dict[str, Any], tmp_path: Path) -> None:
    file, _ = saved(residual(packages["keras"]), tmp_path, ".keras")
    nested = tmp_path / "nested"
    with zipfile.ZipFile(file.path) as source, zipfile.ZipFile(nested, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(f"export/{name}", source.read(name))
    with opened(ModelFile(nested, "cats.keras"), tmp_path) as runner:
        assert set(runner.predict(random_feed(runner))) == {"class", "features"}


def test_theano_kernels_are_turned(packages: dict[str, Any], tmp_path: Path) -> None:
    keras = packages["tf_keras"]
    model = keras.Sequential([keras.layers.Input((5, 5, 1)), keras.layers.Conv2D(1, 3, name="conv")])
    file, _ = saved(model, tmp_path, ".h5")
    image = np.random.default_rng(0).random((1, 5, 5, 1)).astype("float32")
    with opened(file, tmp_path) as runner:
        plain = next(iter(runner.predict({runner.inputs[0].name: image[:, ::-1, ::-1].copy()}).values()))
    with h5py.File(file.path, "a") as stored:
        stored.attrs["backend"], stored.attrs["keras_version"] = "theano", "2.1.3"
    with opened(file, tmp_path) as runner:
        turned = next(iter(runner.predict({runner.inputs[0].name: image}).values()))
    np.testing.assert_allclose(turned, plain[:, ::-1, ::-1], atol=1e-5)


def test_real_files_run(shared_dir: Path, tmp_path: Path) -> None:
    for name in (
        "h5/012_batch_to_conv2d_tensorflow_1.h5",
        "h5/021_embedding_lstm_theano_1.h5",
        "h5/034_tiny_XCEPTION_KDEF.hdf5",
        "keras/002_model.keras",
    ):
        file = ModelFile.at(shared_dir / "real" / name)
        described = detect(file).describe(file)
        (folder := tmp_path / file.path.stem).mkdir()
        with opened(file, folder) as runner:
            assert runner.model.count_params() == described.parameters  # type: ignore[attr-defined]
            feed = {spec.name: np.zeros([size or 2 for size in spec.shape or ()], spec.dtype) for spec in runner.inputs}
            for spec, value in zip(described.outputs, runner.predict(feed).values(), strict=True):
                assert value.shape[1:] == tuple(size or 2 for size in (spec.shape or ())[1:])
