"""Weights without a graph: each array with its values as a reader of that kind gives them, nothing run, damage said."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from stethoscope.errors import CannotRun, StethoscopeError, UnreadableFile
from stethoscope.models.containers.sorted_table import MAGIC, Damaged
from stethoscope.models.formats import detect
from stethoscope.models.formats.tf_graph import checkpoint_index
from stethoscope.models.weights.weight_statistics import opened
from stethoscope.types import ModelFile
from tests.exploring import examples
from tests.models.formats.weights_files import MAKERS, checkpoint, dense, numbered_h5, safetensors
from tests.tables import each


def values(path: Path) -> dict[str, np.ndarray]:
    with opened(ModelFile.at(path)) as held:
        return {
            name: np.concatenate([piece.ravel() for piece in one.pieces()]).reshape(one.shape)
            for name, (one,) in held.items()
            if not one.unreadable
        }


def described(path: Path):
    return detect(ModelFile.at(path)).describe(ModelFile.at(path))


@each("kind", list(MAKERS))
def test_every_array_is_there_with_its_values(kind, tmp_path):
    arrays = dense()
    path = MAKERS[kind](tmp_path, arrays)
    found, read = described(path), values(path)
    assert found.format_id == kind and found.parameters == sum(one.size for one in arrays.values())
    assert {name: one.tolist() for name, one in read.items()} == {name: one.tolist() for name, one in arrays.items()}
    assert {layer.path: layer.output_shape for layer in found.layers} == {n: v.shape for n, v in arrays.items()}


@each("kind", list(MAKERS))
def test_nothing_of_it_runs(kind, tmp_path):
    file = ModelFile.at(MAKERS[kind](tmp_path, dense()))
    with pytest.raises(CannotRun, match="--weights"):
        detect(file).open(file, tmp_path)
    with pytest.raises(CannotRun):
        detect(file).skeleton(file)


@each("kind", list(MAKERS))
def test_a_cut_file_is_a_sentence_that_names_it(kind, tmp_path):
    path = MAKERS[kind](tmp_path, dense())
    cut = next(path.glob("*.index")) if path.is_dir() else path
    whole = cut.read_bytes()
    for share in (0.1, 0.5, 0.95):
        cut.write_bytes(whole[: int(len(whole) * share)])
        try:
            described(path)
        except StethoscopeError as error:
            assert path.name in str(error)


def test_keras_3_numbers_its_arrays_and_names_its_layers(tmp_path):
    named = numbered_h5(tmp_path / "named.weights.h5", dense())
    assert [layer.path for layer in described(named).layers] == ["dense_2/0", "dense_2/1", "dense_3/0", "dense_3/1"]
    without = numbered_h5(tmp_path / "without.weights.h5", dense(), named=False)
    assert described(without).layers[0].path == "dense/0"


def test_what_an_optimizer_keeps_is_not_counted(tmp_path):
    path = numbered_h5(tmp_path / "trained.weights.h5", dense())
    with h5py.File(path, "a") as file:
        file["optimizer/vars/0"] = np.zeros((4, 6), "f")
    found = described(path)
    assert found.parameters == sum(one.size for one in dense().values())
    assert [layer.type for layer in found.layers].count("Optimizer") == 1
    slots = {"w": np.zeros((2, 3), "f"), "w/Adam": np.zeros((2, 3), "f"), "global_step": np.array(7)}
    of_tf1 = described(checkpoint(tmp_path / "tf1", slots).parent)
    assert of_tf1.parameters == 6
    assert {layer.path: layer.type for layer in of_tf1.layers} == {
        "w": "Variable",
        "w/Adam": "Optimizer",
        "global_step": "Bookkeeping",
    }


def test_a_variable_in_slices_is_put_together(tmp_path):
    rows = np.arange(300, dtype="f").reshape(100, 3)
    index = checkpoint(tmp_path, {"table@3": rows, "bias": np.ones(2, "f")})
    assert values(index)["table"].tolist() == rows.tolist()


def test_an_index_alone_has_names_and_no_values(tmp_path):
    index = checkpoint(tmp_path / "whole", dense())
    alone = Path(shutil.copy(index, tmp_path))
    assert len(described(alone).layers) == 4 and not values(alone)
    assert len(values(index)) == 4


def test_the_last_checkpoint_of_a_folder_is_shown(tmp_path):
    for step in (9, 10):
        checkpoint(tmp_path, {"w": np.full(2, step, "f")}, f"model.ckpt-{step}")
    assert values(tmp_path)["w"].tolist() == [10, 10]
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "/elsewhere/model.ckpt-9"\n')
    assert values(tmp_path)["w"].tolist() == [9, 9]
    packed = shutil.make_archive(str(tmp_path.parent / "packed"), "zip", tmp_path)
    assert values(Path(packed))["w"].tolist() == [9, 9]


def test_a_folder_with_a_graph_in_it_is_that_model(tmp_path):
    checkpoint(tmp_path, dense())
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
    assert detect(ModelFile.at(tmp_path)).id == "saved_model"


def test_who_wrote_safetensors_is_said(tmp_path):
    path = safetensors(tmp_path / "model.safetensors", dense(), {"format": "pt"})
    assert described(path).framework_version == "PyTorch" and "ONNX" in described(path).runnable


@pytest.mark.parametrize("offsets", [[0, 8], [40, 8], [0, 1 << 60]])
def test_bytes_that_do_not_fit_a_shape_are_not_read(offsets, tmp_path):
    path = tmp_path / "odd.safetensors"
    text = f'{{"w": {{"dtype": "F32", "shape": [4], "data_offsets": {offsets}}}}}'.encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(16))
    assert len(described(path).layers) == 1 and not values(path)


@examples(200)
@given(st.binary(max_size=300))
def test_any_bytes_are_an_index_or_damaged(data):
    for candidate in (data, data + MAGIC, data + bytes(40) + MAGIC):
        with contextlib.suppress(Damaged):
            checkpoint_index.read(candidate)


@examples(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_described_or_declined(data, tmp_path):
    kind = data.draw(st.sampled_from(["checkpoint", "safetensors"]))
    path = MAKERS[kind](tmp_path, dense())
    target = next(path.glob("*.index")) if path.is_dir() else path
    content = bytearray(target.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    target.write_bytes(content)
    with contextlib.suppress(StethoscopeError):
        values(path)


@given(st.integers(-(2**63), 2**63 - 1))
def test_keys_of_slices_are_in_the_order_of_their_places(start):
    """What the key is for: TensorFlow sorts by it."""
    first, second = (checkpoint_index.key_of_slice(b"w", ((place, 1),)) for place in (start, min(start + 1, 2**63 - 1)))
    assert first <= second


def test_real_weights_are_described(shared_dir):
    found = [path for path in sorted((shared_dir / "real" / "h5").iterdir()) if "weights" in path.name]
    assert len(found) >= 7
    for path in found:
        assert described(path).parameters == sum(one.size for one in values(path).values()), path.name


def test_variables_of_real_saved_models_are_described(shared_dir):
    indices = sorted((shared_dir / "real" / "savedmodel").rglob("variables.index"))
    assert len(indices) >= 15
    for index in indices:
        assert described(index).layers or not index.stat().st_size, index


def test_data_in_hdf5_is_no_weights(tmp_path):
    path = tmp_path / "data.h5"
    with h5py.File(path, "w") as file:
        file["depth"] = np.zeros((2, 2))
    with pytest.raises(UnreadableFile):
        described(path)
