"""What is said about a Keras file without loading it: refusals, hazards, damage. No ML framework is imported here."""

from __future__ import annotations

import functools
import io
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, event, given
from hypothesis import strategies as st

from stethoscope.errors import StethoscopeError, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.jobs.job_engine import Engine
from stethoscope.models.formats import detect
from stethoscope.models.formats.keras_h5 import FORMAT as H5
from stethoscope.models.formats.keras_zip import FORMAT as ZIP
from stethoscope.types import Architecture, Budget, Job, ModelFile, Status
from tests.exploring import examples
from tests.models.formats.reading_apart import CRASH, Reader, reading_apart
from tests.tables import each

Json = dict[str, Any]
META = {"keras_version": "3.15.1"}


def layer(class_name: str, name: str, module: str = "keras.layers", /, **config: Any) -> Json:
    return {"module": module, "class_name": class_name, "registered_name": None, "config": {"name": name, **config}}


def dense(units: int = 2, **more: Any) -> Json:
    return layer(
        "Dense", "dense", **{"units": units, "activation": "linear", "trainable": True, "dtype": "float32"} | more
    )


def sequential(*layers: Json) -> Json:
    first = layer("InputLayer", "inp", batch_shape=[None, 2], dtype="float32")
    return layer("Sequential", "m", "keras", layers=[first, *layers])


@functools.cache
def weights(change: Callable[[Any], None] | None = None) -> bytes:
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        group = file.create_group("layers/dense/vars")
        if change is None:
            group["0"], group["1"] = np.eye(2, dtype="float32"), np.zeros(2, "float32")
        else:
            change(group)
    return out.getvalue()


def archive(
    folder: Path, model: Json, stored: bytes | None = None, *, root: str = "", deflate: bool = False
) -> ModelFile:
    path = folder / "model.keras"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED) as out:
        out.writestr(f"{root}metadata.json", json.dumps(META))
        out.writestr(f"{root}config.json", json.dumps(model))
        out.writestr(f"{root}model.weights.h5", weights() if stored is None else stored)
    return ModelFile.at(path)


def legacy(
    folder: Path, model: Json | list[Json], version: str = "2.15.0", change: Callable[[Any], None] | None = None
) -> ModelFile:
    path = folder / "model.h5"
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"], file.attrs["backend"] = version, "tensorflow"
        file.attrs["model_config"] = json.dumps(model)
        group = file.create_group("model_weights/dense")
        file["model_weights"].attrs["layer_names"] = [b"dense"]
        group.attrs["weight_names"] = [b"kernel:0", b"bias:0"]
        group["kernel:0"], group["bias:0"] = np.eye(2, dtype="float32"), np.zeros(2, "float32")
        if change:
            change(file)
    return ModelFile.at(path)


def legacy_sequential(*layers: Json) -> Json:
    first = {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 2], "dtype": "float32", "name": "inp"}}
    body = {"class_name": "Dense", "config": {"name": "dense", "units": 2, "activation": "linear", "dtype": "float32"}}
    return {"class_name": "Sequential", "config": {"name": "m", "layers": [first, body, *layers]}}


def rules(described: Architecture) -> set[str]:
    return {hazard.rule for hazard in described.hazards}


@each("deflate", [False, True])
@each("root", ["", "my_model/"])
def test_archive_is_described(tmp_path: Path, root: str, deflate: bool) -> None:
    file = archive(tmp_path, sequential(dense()), root=root, deflate=deflate)
    assert ZIP.sniff(file)
    described = ZIP.describe(file)
    assert described.framework_version == "Keras 3.15.1"
    assert (described.parameters, described.trainable_parameters, described.weight_bytes) == (6, 6, 24)
    assert [(spec.name, spec.shape) for spec in described.outputs] == [("dense", (None, 2))]
    assert described.layers[1].inputs == ("inp",)
    assert not described.warnings
    assert not described.hazards


def test_describing_imports_no_framework(tmp_path: Path) -> None:
    file = archive(tmp_path, sequential(dense()))
    code = (
        "import sys; from stethoscope.models.formats.keras_zip import FORMAT; from stethoscope.types import ModelFile; "
        "f = ModelFile.at(sys.argv[1]); FORMAT.describe(f); FORMAT.skeleton(f); "
        "print([m for m in ('keras', 'tf_keras', 'tensorflow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file.path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_sharded_weights_are_read_through_their_index(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("metadata.json", json.dumps(META))
        out.writestr("config.json", json.dumps(sequential(dense())))
        out.writestr(
            "model.weights.json", json.dumps({"weight_map": {"/layers/dense/vars": ["model_00000.weights.h5"]}})
        )
        out.writestr("model_00000.weights.h5", weights())
    described = ZIP.describe(ModelFile.at(path))
    assert described.parameters == 6
    assert described.weight_bytes == 24


def test_missing_shard_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("config.json", json.dumps(sequential(dense())))
        out.writestr("model.weights.json", json.dumps({"weight_map": {"a": "model_00007.weights.h5"}}))
    with pytest.raises(UnreadableFile, match="model_00007"):
        ZIP.describe(ModelFile.at(path))


def test_parameters_are_counted_from_the_settings_without_weights(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("metadata.json", json.dumps(META))
        out.writestr("config.json", json.dumps(sequential(dense(units=5))))
    described = ZIP.describe(ModelFile.at(path))
    assert described.parameters == 15
    assert any("without weights" in warning for warning in described.warnings)


def test_weights_that_do_not_fit_the_settings_are_reported(tmp_path: Path) -> None:
    described = ZIP.describe(archive(tmp_path, sequential(dense(units=7))))
    assert any("'dense'" in warning and "21" in warning and "6" in warning for warning in described.warnings)


def _external_link(group: Any) -> None:
    group["0"] = h5py.ExternalLink("/etc/hostname", "/x")


def _soft_link(group: Any) -> None:
    group["0"] = h5py.SoftLink("/layers")


def _external_storage(group: Any) -> None:
    group.create_dataset("0", (2, 2), "float32", external=[("/etc/hostname", 0, 16)])


def _virtual(group: Any) -> None:
    layout = h5py.VirtualLayout((2,), "float32")
    layout[:] = h5py.VirtualSource("/etc/hostname", "x", shape=(2,))
    group.create_virtual_dataset("0", layout)


def _loop(group: Any) -> None:
    group["again"] = group.parent


@each("change", [_external_link, _soft_link, _external_storage, _virtual, _loop])
def test_weights_outside_the_file_are_refused(tmp_path: Path, change: Callable[[Any], None]) -> None:
    with pytest.raises(UnsafeFile):
        ZIP.describe(archive(tmp_path, sequential(dense()), weights(change)))


def test_declared_petabytes_are_refused(tmp_path: Path) -> None:
    def bomb(group: Any) -> None:
        group.create_dataset("0", (1 << 25, 1 << 26), "float32", chunks=(1024, 1024), compression="gzip")

    with pytest.raises(TooLarge, match="layers/dense/vars/0"):
        ZIP.describe(archive(tmp_path, sequential(dense()), weights(bomb)))


@pytest.mark.parametrize("where", ["zip", "h5"])
def test_a_layer_that_asks_for_too_much_is_named(tmp_path: Path, where: str) -> None:
    if where == "zip":
        with pytest.raises(TooLarge, match=r"'dense'.*6,000,000,000 parameters"):
            ZIP.describe(archive(tmp_path, sequential(dense(units=2_000_000_000))))
    else:
        model = legacy_sequential()
        model["config"]["layers"][1]["config"]["units"] = 2_000_000_000
        with pytest.raises(TooLarge, match="'dense'"):
            H5.describe(legacy(tmp_path, model))


def _function(module: str, name: str) -> Json:
    return {"module": module, "class_name": "function", "config": name, "registered_name": name}


LAMBDA = layer("Lambda", "lam", function={"class_name": "__lambda__", "config": {"code": "4wAA"}})


@each(
    ("extra", "rule", "where"),
    [
        (LAMBDA, "lambda", "lam"),
        (layer("TimeDistributed", "td", layer=LAMBDA), "lambda", "lam"),
        (layer("Sequential", "inner", "keras", layers=[LAMBDA]), "lambda", "lam"),
        (layer("Lambda", "lam", function=_function("os", "system")), "python-function", "lam"),
        (layer("Dense", "d2", units=2, activation=_function("keras.utils", "get_file")), "python-function", "d2"),
        (layer("Dense", "d2", units=2, activation=_function("builtins", "exec")), "python-function", "d2"),
        (layer("enable_unsafe_deserialization", "x", "keras.config"), "unknown-class", "x"),
        (layer("TorchModuleWrapper", "t", "keras.layers", module="gASV"), "file-access", "t"),
        (layer("TFSMLayer", "t", filepath="/srv/model"), "file-access", "t"),
        (layer("StringLookup", "s", vocabulary="/etc/passwd"), "path-value", "s"),
        (layer("Blob", "b", "email.layers"), "unknown-class", "b"),
        (layer("Dense", "b", "email.layers", units=2), "unknown-class", "b"),
        (layer("Dense", "d2", units=2, kernel_initializer=layer("Mine", "i", "email")), "unknown-class", "d2"),
    ],
)
def test_code_and_file_access_are_hazards(tmp_path: Path, extra: Json, rule: str, where: str) -> None:
    described = ZIP.describe(archive(tmp_path, sequential(dense(), extra)))
    assert (rule, where) in {(hazard.rule, hazard.where) for hazard in described.hazards}


def test_hazards_of_the_compile_settings_are_found(tmp_path: Path) -> None:
    model = sequential(dense())
    model["compile_config"] = {"optimizer": "adam", "loss": _function("email", "loss"), "metrics": [LAMBDA]}
    assert rules(ZIP.describe(archive(tmp_path, model))) == {"python-function", "lambda"}


def test_keras_own_objects_are_no_hazards(tmp_path: Path) -> None:
    own = dense(
        kernel_initializer=layer("GlorotUniform", "g", "keras.initializers", seed=None),
        activation=_function("keras.activations", "relu"),
        kernel_regularizer=layer("L2", "r", "keras.regularizers"),
    )
    model = sequential(own)
    model["compile_config"] = {
        "optimizer": layer(
            "Adam", "adam", "keras.optimizers", learning_rate=layer("CosineDecay", "c", "keras.optimizers.schedules")
        ),
        "loss": layer("BinaryCrossentropy", "b", "keras.losses"),
        "metrics": ["accuracy", layer("AUC", "auc", "keras.metrics")],
    }
    described = ZIP.describe(archive(tmp_path, model))
    assert described.hazards == ()
    assert described.compile is not None
    assert (described.compile.optimizer, described.compile.learning_rate) == ("Adam", None)
    assert described.compile.loss == "BinaryCrossentropy"
    assert list(described.compile.metrics) == ["accuracy", "AUC"]


@each(
    ("symbol", "safe"),
    [
        ("math.add", True),
        ("io.write_file", False),
        ("py_function", False),
        ("nn.relu", True),
        ("raw_ops.ReadFile", False),
    ],
)
def test_tensorflow_functions_by_name_are_held_to_arithmetic(tmp_path: Path, symbol: str, safe: bool) -> None:
    extra = {
        "class_name": "TFOpLambda",
        "config": {"name": "op", "trainable": True, "dtype": "float32", "function": symbol},
    }
    assert (H5.describe(legacy(tmp_path, legacy_sequential(extra))).hazards == ()) is safe


def test_a_missing_class_is_named_with_its_layer(tmp_path: Path) -> None:
    described = ZIP.describe(
        archive(tmp_path, sequential(dense(), layer("Blob", "b", "no_such_package_anywhere.layers")))
    )
    assert "'Blob'" in described.runnable
    assert "'b'" in described.runnable


@each("version", ["1.2.2", "2.1.3", "2.15.0", "3.3.0"])
def test_h5_is_described(tmp_path: Path, version: str) -> None:
    file = legacy(tmp_path, legacy_sequential(), version)
    assert H5.sniff(file)
    described = H5.describe(file)
    assert described.framework_version == f"Keras {version} (tensorflow backend)"
    assert described.display_format == f"Keras {version[0]} HDF5"
    assert described.parameters == 6
    assert described.outputs[0].shape == (None, 2)


def test_keras_1_names_and_settings_are_understood(tmp_path: Path) -> None:
    body = {
        "name": "dense",
        "output_dim": 2,
        "batch_input_shape": [None, 2],
        "input_dtype": "float32",
        "bias": True,
        "W_regularizer": None,
    }
    conv = {
        "class_name": "Convolution2D",
        "config": {
            "name": "conv",
            "nb_filter": 4,
            "nb_row": 3,
            "nb_col": 2,
            "border_mode": "same",
            "subsample": [2, 2],
            "dim_ordering": "tf",
            "bias": False,
        },
    }
    shaped = {"class_name": "Reshape", "config": {"name": "reshape", "target_shape": [1, 2, 1]}}
    model = {"class_name": "Sequential", "config": [{"class_name": "Dense", "config": body}, shaped, conv]}
    described = H5.describe(legacy(tmp_path, model, "1.2.2"))
    assert [layer.type for layer in described.layers] == ["Dense", "Reshape", "Conv2D"]
    assert described.layers[-1].output_shape == (None, 1, 1, 4)
    assert described.layers[-1].parameters == 3 * 2 * 1 * 4


def test_data_files_are_declined_truthfully(tmp_path: Path) -> None:
    data = tmp_path / "nyu.h5"
    with h5py.File(data, "w") as file:
        file["depth"], file["rgb"] = np.zeros((2, 2)), np.zeros((2, 2, 3))
    with pytest.raises(UnreadableFile, match=r"HDF5 .* depth, rgb"):
        H5.describe(ModelFile.at(data))


def test_lambda_of_an_h5_file_is_a_hazard(tmp_path: Path) -> None:
    extra = {
        "class_name": "Lambda",
        "config": {"name": "lam", "function": ["4wAA", None, None], "function_type": "lambda"},
    }
    assert rules(H5.describe(legacy(tmp_path, legacy_sequential(extra)))) == {"lambda"}


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_truncated_files_say_so(tmp_path: Path, cut: float) -> None:
    for format_, file in ((ZIP, archive(tmp_path, sequential(dense()))), (H5, legacy(tmp_path, legacy_sequential()))):
        data = file.path.read_bytes()
        file.path.write_bytes(data[: int(len(data) * cut)])
        with pytest.raises(UnreadableFile):
            format_.describe(file)  # type: ignore[attr-defined]


def test_corrupt_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"model\.weights\.h5"):
        ZIP.describe(archive(tmp_path, sequential(dense()), b"not hdf5 at all" * 99))


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    model = dense()
    for depth in range(120):
        model = layer("Sequential", f"s{depth}", "keras", layers=[model])
    with pytest.raises(StethoscopeError):
        ZIP.describe(archive(tmp_path, sequential(model)))


def test_skeleton_keeps_shapes_and_drops_data(tmp_path: Path) -> None:
    def large(group: Any) -> None:
        group["0"], group["1"] = np.ones((2, 200_000), "float32"), np.ones(200_000, "float32")

    file = archive(tmp_path, sequential(dense(units=200_000)), weights(large))
    name, data = ZIP.skeleton(file)
    assert len(data) < 10_000
    (tmp_path / "out").mkdir()
    bare = tmp_path / "out" / name
    bare.write_bytes(data)
    assert ZIP.describe(ModelFile.at(bare)).layers == ZIP.describe(file).layers
    name, data = H5.skeleton(legacy(tmp_path, legacy_sequential()))
    bare = tmp_path / "out" / name
    bare.write_bytes(data)
    assert H5.describe(ModelFile.at(bare)).parameters == 6
    with h5py.File(bare) as opened:
        assert opened["model_weights/dense/kernel:0"].id.get_storage_size() == 0


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with reading_apart() as made:
        yield made


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A sound file of each format."""
    folder = tmp_path_factory.mktemp("whole")
    files = {"keras": archive(folder, sequential(dense())), "keras_h5": legacy(folder, legacy_sequential())}
    return {format_id: file.path.read_bytes() for format_id, file in files.items()}


def contained(engine: Engine, path: Path) -> None:
    """What ends a process that reads it is answered by the product: a job like any other, with its reason."""
    result = engine.wait(engine.submit(Job("describe", {"model": ModelFile.at(path)}, {}, Budget(1 << 30, 30))), 60)
    assert result.status is Status.OK or result.reason


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_bytes_never_escape_as_another_error(
    tmp_path: Path, engine: Engine, reader: Reader, whole_files: dict[str, bytes], data: st.DataObject
) -> None:
    format_id = data.draw(st.sampled_from(sorted(whole_files)))
    raw = bytearray(whole_files[format_id])
    for _ in range(data.draw(st.integers(1, 12))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / {"keras": "model.keras", "keras_h5": "model.h5"}[format_id]
    path.write_bytes(bytes(raw[: data.draw(st.integers(1, len(raw)))] if data.draw(st.booleans()) else raw))
    told = reader.told(format_id, path)
    if told == CRASH:
        event("the library crashed")
        contained(engine, path)
    else:
        assert told is None or told.strip()


def test_a_reader_that_dies_is_told_and_replaced(tmp_path: Path, reader: Reader) -> None:
    sound = archive(tmp_path, sequential(dense())).path
    assert reader.told("keras", sound) is None
    assert reader.asked(os._exit, 11) == CRASH
    assert reader.told("keras", sound) is None
    os.kill(reader.pid(), signal.SIGSEGV)
    assert reader.told("keras", sound) is None


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False)
    | st.sampled_from(["a", "inp", "dense", "same", "keras"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["class_name", "config", "name", "layers", "items"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.sampled_from(["model", "its config", "config of the input", "layer", "config of a layer"]),
    key=st.sampled_from(
        ["units", "name", "batch_shape", "layers", "inbound_nodes", "class_name", "config", "trainable", "dtype"]
    ),
    value=JSON_VALUES,
)
def test_any_json_in_any_place_is_survived(tmp_path: Path, place: str, key: str, value: Any) -> None:
    model = sequential(dense(), layer("Conv2D", "conv", filters=2, kernel_size=3))
    layers = model["config"]["layers"]
    places = {
        "model": model,
        "its config": model["config"],
        "config of the input": layers[0]["config"],
        "layer": layers[1],
        "config of a layer": layers[2]["config"],
    }
    places[place][key] = value
    try:
        ZIP.describe(archive(tmp_path, model))
    except StethoscopeError as error:
        assert str(error)


def test_real_files_are_described_or_declined(shared_dir: Path) -> None:
    paths = [path for folder in ("h5", "keras") for path in sorted((shared_dir / "real" / folder).iterdir())]
    declined = []
    for path in paths:
        file = ModelFile.at(path)
        kind = detect(file)
        if kind.only_weights:
            continue
        try:
            described = kind.describe(file)
        except UnreadableFile as error:
            declined.append(path.name)
            assert "data file" in str(error)
            continue
        assert described.parameters > 0, path.name
        assert all(spec.shape for spec in described.inputs), path.name
    assert len(declined) < len(paths) / 3
