"""SavedModels: described from their files, run by TensorFlow, with everything that reaches outside named before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from stethoscope.errors import BadInput, CannotRun, NeedsTrust, StethoscopeError, UnreadableFile, UnsafeFile
from stethoscope.models.formats.frozen_graph import FORMAT as FROZEN
from stethoscope.models.formats.saved_model import FORMAT
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.types import ModelFile, TensorSpec
from tests.exploring import examples
from tests.models.formats import saved_models, tf_graphs
from tests.tables import each


@pytest.fixture
def folder(tmp_path) -> Path:
    """A TensorFlow 1 SavedModel without variables, made without TensorFlow."""
    tf_graphs.write(tmp_path / "dense/saved_model.pb", tf_graphs.saved_model())
    return tmp_path / "dense"


def drawn(file: ModelFile) -> dict[str, str]:
    """What Netron is given: operator types by name, without the weights."""
    name, data = FORMAT.skeleton(file)
    assert name == "graph.pb"
    return {node.name: node.op for node in tf_proto.messages().GraphDef.FromString(data).node if node.op != "Const"}


@each("name", ["dense.zip", "dense.tar", "dense.tar.gz", "dense.tgz"])
def test_archives_and_folders_are_the_same_model(folder, tmp_path, name):
    file = ModelFile.at(tf_graphs.packed(folder, tmp_path / name))
    assert FORMAT.sniff(file)
    found = FORMAT.describe(file)
    assert found == FORMAT.describe(ModelFile.at(folder))
    assert found.inputs == (TensorSpec("x", (None, 4), "float32"),)
    assert found.outputs == (TensorSpec("y", (None, 3), "float32"),)
    assert (found.framework_version, found.display_format) == ("TensorFlow 1.15.0", "SavedModel (TensorFlow 1)")
    assert found.parameters == 15
    assert found.trainable_parameters is None
    assert [one.path for one in found.layers] == ["x", "dense/MatMul", "dense/BiasAdd", "y"]
    assert drawn(file) == {"x": "Placeholder", "dense/MatMul": "MatMul", "dense/BiasAdd": "BiasAdd", "y": "Relu"}


def test_the_graph_file_alone_and_its_text_form(folder, tmp_path):
    alone = ModelFile.at(folder / "saved_model.pb")
    assert FORMAT.sniff(alone)
    assert not FROZEN.sniff(alone)
    assert FORMAT.describe(alone).layers == FORMAT.describe(ModelFile.at(folder)).layers
    text = tmp_path / "text"
    text.mkdir()
    (text / "saved_model.pbtxt").write_text(text_format.MessageToString(tf_graphs.saved_model()))
    for file in (ModelFile.at(text), ModelFile.at(text / "saved_model.pbtxt")):
        assert FORMAT.sniff(file)
        assert FORMAT.describe(file).layers == FORMAT.describe(alone).layers
        assert len(drawn(file)) == 4


def test_a_graph_without_its_variables_says_what_to_upload(tmp_path):
    alone = ModelFile.at(tf_graphs.write(tmp_path / "saved_model.pb", tf_graphs.saved_model(variables=True)))
    found = FORMAT.describe(alone)
    assert found.parameters == 12
    assert "as a zip" in found.runnable
    with pytest.raises(CannotRun, match="the whole folder"):
        FORMAT.open(alone, tmp_path)
    folder = tf_graphs.write(tmp_path / "model/saved_model.pb", tf_graphs.saved_model(variables=True)).parent
    assert "variables/variables.index" in FORMAT.describe(ModelFile.at(folder)).runnable


def test_of_several_models_the_topmost_is_shown(folder, tmp_path):
    shutil.copytree(folder, folder / "old/1")
    found = FORMAT.describe(ModelFile.at(tf_graphs.packed(folder, tmp_path / "two.zip")))
    assert any("Holds 2 SavedModels" in warning and "old/1" in warning for warning in found.warnings)


def test_other_archives_are_not_savedmodels(tmp_path):
    (tmp_path / "stuff").mkdir()
    (tmp_path / "stuff/readme.txt").write_text("hello")
    for name in ("a.zip", "a.tar.gz"):
        assert not FORMAT.sniff(ModelFile.at(tf_graphs.packed(tmp_path / "stuff", tmp_path / name)))
    assert not FORMAT.sniff(ModelFile.at(tmp_path / "stuff"))
    (tmp_path / "cut.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:40])
    assert not FORMAT.sniff(ModelFile.at(tmp_path / "cut.zip"))


def test_assets_outside_the_folder_are_refused(folder):
    for name in ("../../secret", "/etc/passwd", "a/../../b", "..\\secret"):
        saved = tf_graphs.saved_model()
        saved.meta_graphs[0].asset_file_def.add(filename=name)
        tf_graphs.write(folder / "saved_model.pb", saved)
        with pytest.raises(UnsafeFile, match="outside"):
            FORMAT.describe(ModelFile.at(folder))


def test_checkpoints_may_be_touched_only_by_the_saver(folder):
    saved = tf_graphs.saved_model()
    meta = saved.meta_graphs[0]
    graph = meta.graph_def
    tf_graphs.constant(graph, "save/Const", [], tf_graphs.STRING, b"model")
    tf_graphs.node(graph, "save/SaveV2", "SaveV2", ["save/Const"])
    tf_graphs.node(graph, "save/done", "Identity", ["save/Const", "^save/SaveV2"])
    tf_graphs.node(graph, "save/RestoreV2", "RestoreV2", ["save/Const"])
    tf_graphs.node(graph, "save/restore_all", "NoOp", ["^save/RestoreV2"])
    meta.saver_def.filename_tensor_name = "save/Const:0"
    meta.saver_def.save_tensor_name = "save/done:0"
    meta.saver_def.restore_op_name = "save/restore_all"

    def rules():
        tf_graphs.write(folder / "saved_model.pb", saved)
        return [(hazard.rule, hazard.where) for hazard in FORMAT.describe(ModelFile.at(folder)).hazards]

    assert rules() == []
    restore = next(node for node in graph.node if node.name == "save/RestoreV2")
    tf_graphs.constant(graph, "elsewhere", [], tf_graphs.STRING, b"/etc/secret")
    restore.input[0] = "elsewhere"
    assert rules() == [("file-access", "save/RestoreV2")]
    restore.input[0] = "save/Const"
    result = next(node for node in graph.node if node.name == "y")
    result.input.append("^save/SaveV2")
    assert rules() == [("file-access", "save/SaveV2")]
    result.input[-1] = "^save/restore_all"
    assert rules() == [("file-access", "save/RestoreV2")]
    del result.input[-1]
    next(node for node in graph.node if node.name == "save/restore_all").input.append("^save/SaveV2")
    assert rules() == [("file-access", "save/SaveV2")]


def test_every_graph_in_the_file_is_scanned(folder):
    saved = tf_graphs.saved_model()
    second = saved.meta_graphs.add()
    second.CopyFrom(saved.meta_graphs[0])
    second.meta_info_def.tags.append("gpu")
    tf_graphs.node(second.graph_def, "bad", "ReadFile", ["x"])
    tf_graphs.write(folder / "saved_model.pb", saved)
    found = FORMAT.describe(ModelFile.at(folder))
    assert [hazard.where for hazard in found.hazards] == ["bad"]
    assert any("Holds 2 graphs" in warning for warning in found.warnings)


def test_a_truncated_graph_says_so(folder):
    path = folder / "saved_model.pb"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UnreadableFile, match=r"dense: .*cut short"):
        FORMAT.describe(ModelFile.at(folder))


@examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_models_are_described_or_refused_with_a_sentence(tmp_path, data):
    content = bytearray(tf_graphs.saved_model(variables=True).SerializeToString())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "saved_model.pb"
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    file = ModelFile.at(path)
    if FORMAT.sniff(file):
        try:
            FORMAT.describe(file)
            FORMAT.skeleton(file)
        except StethoscopeError as error:
            assert "saved_model.pb" in str(error)


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """Real SavedModels, of both Kerases, of plain modules and of TensorFlow 1."""
    return saved_models.save_all(tmp_path_factory.mktemp("saved_models"))


def test_a_keras_3_export_counts_as_keras_does(models):
    found = FORMAT.describe(ModelFile.at(models / "keras3"))
    assert (found.parameters, found.trainable_parameters) == (35 + 20 + 12, 10 + 12)
    assert sum(one.parameters for one in found.layers) == found.parameters
    assert found.inputs == (TensorSpec("features", (None, 6), "float32"),)
    assert not found.hazards
    assert not found.runnable
    assert all("StatefulPartitionedCall" not in one.path for one in found.layers)


def test_a_keras_2_model_counts_as_keras_does_and_knows_how_it_was_compiled(models):
    found = FORMAT.describe(ModelFile.at(models / "keras2"))
    assert found.parameters == found.trainable_parameters == 27 + 4 * 5 * (3 + 5 + 1) + 12
    assert sum(one.parameters for one in found.layers) == found.parameters
    assert found.display_format == "SavedModel (Keras 2)"
    assert found.compile is not None
    assert (found.compile.loss, found.compile.metrics) == ("mse", ("mae",))
    assert found.compile.learning_rate == pytest.approx(0.001)
    assert not found.hazards


def test_keras_models_compute_what_keras_computed(models, tmp_path):
    for name, feed in (("keras3", np.arange(12.0).reshape(2, 6)), ("keras2", np.arange(8).reshape(2, 4))):
        with FORMAT.open(ModelFile.at(models / name), tmp_path) as runner:
            key = runner.inputs[0].name
            outputs = runner.predict({key: feed})
            np.testing.assert_allclose(
                next(iter(outputs.values())), np.load(models / f"{name}.npy"), rtol=1e-4, atol=1e-5
            )
            seen = runner.activations({key: feed})
            described = FORMAT.describe(ModelFile.at(models / name))
            shown = [one.path for one in described.layers]
            assert list(seen) == [path for path in shown if path in seen]
            assert len(seen) >= len(shown) - 3, set(shown) - set(seen)
            for one in described.layers:
                if one.path in seen and one.output_shape is not None:
                    assert len(one.output_shape) == seen[one.path].ndim
            last = seen[shown[-1]]
            np.testing.assert_allclose(last, np.load(models / f"{name}.npy"), rtol=1e-4, atol=1e-5)
            assert list(runner.activations({key: feed}, [shown[-1]])) == [shown[-1]]


def test_netron_is_given_the_operators_of_the_layer_table_and_the_shapes_of_weights(models):
    for name in ("keras3", "keras2", "stateful", "words", "bare", "tf1"):
        file = ModelFile.at(models / name)
        described = FORMAT.describe(file)
        assert drawn(file).items() >= {one.path: one.type for one in described.layers}.items()
        graph = tf_proto.messages().GraphDef.FromString(FORMAT.skeleton(file)[1])
        names = {node.name for node in graph.node}
        assert len(names) == len(graph.node)
        assert {reference.partition(":")[0] for node in graph.node for reference in node.input} <= names
    graph = tf_proto.messages().GraphDef.FromString(FORMAT.skeleton(ModelFile.at(models / "keras3"))[1])
    tensors = [node.attr["value"].tensor for node in graph.node if node.op == "Const"]
    assert [6, 5] in [[dim.size for dim in tensor.tensor_shape.dim] for tensor in tensors]
    assert all(len(tensor.tensor_content) <= 1024 for tensor in tensors)


def test_a_packed_model_is_unpacked_into_scratch_and_run(models, tmp_path):
    file = ModelFile.at(tf_graphs.packed(models / "keras3", tmp_path / "keras3.zip"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with FORMAT.open(file, scratch) as runner:
        found = runner.predict({"features": np.arange(12.0).reshape(2, 6)})
    np.testing.assert_allclose(next(iter(found.values())), np.load(models / "keras3.npy"), rtol=1e-4, atol=1e-5)
    assert (scratch / "keras3/saved_model.pb").exists()


def test_a_model_that_changes_its_own_state_shows_its_operators(models, tmp_path):
    described = FORMAT.describe(ModelFile.at(models / "stateful"))
    assert described.parameters == 4 * 4 * (3 + 4 + 1)
    with FORMAT.open(ModelFile.at(models / "stateful"), tmp_path) as runner:
        seen = runner.activations({runner.inputs[0].name: np.zeros((2, 5, 3), np.float32)})
    assert len(seen) >= len(described.layers) - 3


def test_text_inputs_tables_and_several_signatures(models, tmp_path):
    file = ModelFile.at(models / "words")
    found = FORMAT.describe(file)
    assert found.parameters == 12
    assert not found.hazards
    assert any("'number'" in warning and "'vector'" in warning for warning in found.warnings)
    assert found.inputs == (TensorSpec("words", (None,), "string"),)
    with FORMAT.open(file, tmp_path) as runner:
        np.testing.assert_array_equal(runner.predict({"words": np.array(["dog", "cat", "?"])})["number"], [1, 0, 3])
        assert any(value.tolist() == [1] for value in runner.activations({"words": np.array(["dog"])}).values())


def test_a_model_without_signatures_is_called_directly(models, tmp_path):
    file = ModelFile.at(models / "bare")
    found = FORMAT.describe(file)
    assert found.inputs == (TensorSpec("x", (None, 4), "float32"),)
    assert found.parameters == sum(one.parameters for one in found.layers) == 12
    with FORMAT.open(file, tmp_path) as runner:
        np.testing.assert_array_equal(
            runner.predict({"x": np.ones((2, 4), np.float32)})["output_0"], np.full((2, 3), 4.0)
        )
        assert set(runner.activations({"x": np.ones((2, 4), np.float32)})) == {one.path for one in found.layers}
    assert any("no signatures" in warning and "'__call__'" in warning for warning in found.warnings)


def test_a_tensorflow_1_model_leaves_out_its_optimizer(models, tmp_path):
    file = ModelFile.at(models / "tf1")
    found = FORMAT.describe(file)
    assert (found.parameters, found.trainable_parameters) == (15, 15)
    assert not found.hazards
    with FORMAT.open(file, tmp_path) as runner:
        np.testing.assert_array_equal(runner.predict({"x": np.ones((1, 4), np.float32)})["y"], [[9.0, 9.0, 9.0]])
        assert "MatMul" in runner.activations({"x": np.ones((1, 4), np.float32)})
        with pytest.raises(BadInput, match=r"\(None, 4\), got \(1, 5\)"):
            runner.predict({"x": np.ones((1, 5), np.float32)})
        with pytest.raises(CannotRun, match="training"):
            runner.predict({"x": np.ones((1, 4), np.float32)}, training=True)


def test_a_missing_shard_is_named(models, tmp_path):
    folder = tmp_path / "keras3"
    shutil.copytree(models / "keras3", folder)
    (folder / "variables/variables.data-00000-of-00001").unlink()
    with pytest.raises(CannotRun, match=r"variables\.data-00000-of-00001 is missing"):
        FORMAT.open(ModelFile.at(folder), tmp_path)


@pytest.mark.parametrize(("name", "operator"), [("writes", "WriteFile"), ("reads", "InitializeTableFromTextFileV2")])
def test_a_model_that_touches_files_waits_for_the_owners_yes(models, tmp_path, name, operator):
    file = ModelFile.at(models / name)
    (models / "marker").unlink(missing_ok=True)
    assert operator in FORMAT.describe(file).hazards[0].message
    with pytest.raises(NeedsTrust, match=operator):
        FORMAT.open(file, tmp_path)
    assert not (models / "marker").exists()
    with FORMAT.open(file, tmp_path, trusted=True) as runner:
        runner.predict({"x": np.ones(2, np.float32)})


def test_real_models_are_described_and_run_or_declined(shared_dir, tmp_path):
    entries = [
        entry for entry in json.loads((shared_dir / "real/manifest.json").read_text()) if entry["kind"] == "savedmodel"
    ]
    assert entries
    run = 0
    for index, entry in enumerate(entries):
        file = ModelFile.at(shared_dir / "real" / entry["file"])
        assert FORMAT.sniff(file), file.name
        described = FORMAT.describe(file)
        assert not described.hazards, (file.name, described.hazards)
        version = entry["what"].get("tf_version")
        assert not version or described.framework_version == f"TensorFlow {version}"
        feed = {
            spec.name: np.full([2 if size is None else size for size in spec.shape or ()], "a b")
            if spec.dtype == "string"
            else np.ones([2 if size is None else size for size in spec.shape or ()], spec.dtype)
            for spec in described.inputs
        }
        scratch = tmp_path / str(index)
        scratch.mkdir()
        try:
            with FORMAT.open(file, scratch) as runner:
                assert set(runner.predict(feed)) == {spec.name for spec in described.outputs}
                runner.activations(feed)
                run += 1
        except CannotRun as error:
            assert "variables" in str(error)
            assert described.runnable == str(error)
    assert run >= len(entries) - 4
