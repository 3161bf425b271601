"""Frozen graphs: one GraphDef, described from its bytes and run in a session."""

from __future__ import annotations

import json

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from stethoscope.errors import BadInput, CannotRun, NeedsTrust, StethoscopeError, TooLarge, UnreadableFile
from stethoscope.models.containers import damage
from stethoscope.models.formats.frozen_graph import FORMAT
from stethoscope.models.formats.tf_graph import tf_proto
from stethoscope.types import Architecture, ModelFile, TensorSpec
from tests.exploring import examples
from tests.models.formats import tf_graphs
from tests.models.formats.tf_graphs import FLOAT, INT32, STRING
from tests.tables import each


@pytest.fixture
def dense(tmp_path) -> ModelFile:
    return ModelFile.at(tf_graphs.write(tmp_path / "dense.pb", tf_graphs.dense()))


def graph_file(tmp_path, graph) -> ModelFile:
    return ModelFile.at(tf_graphs.write(tmp_path / "graph.pb", graph))


def layer(architecture: Architecture, path: str):
    return next(one for one in architecture.layers if one.path == path)


def test_a_dense_layer_is_described(dense):
    assert FORMAT.sniff(dense)
    found = FORMAT.describe(dense)
    assert found.inputs == (TensorSpec("x", (None, 4), "float32"),)
    assert found.outputs == (TensorSpec("y", (None, 3), "float32"),)
    assert (found.parameters, found.trainable_parameters, found.weight_bytes) == (15, None, 60)
    assert found.framework_version == "GraphDef producer 1882"
    assert [one.path for one in found.layers] == ["x", "dense/MatMul", "dense/BiasAdd", "y"]
    assert layer(found, "dense/MatMul").parameters == 12
    assert layer(found, "dense/BiasAdd").output_shape == (None, 3)
    assert ("dense/MatMul", "dense/BiasAdd") in found.edges
    assert not found.hazards
    assert not found.runnable


def test_shapes_axes_and_scalars_are_no_parameters(tmp_path):
    graph = tf_graphs.dense()
    tf_graphs.constant(graph, "shape", [2], INT32, tf_graphs.integers(-1, 3))
    tf_graphs.constant(graph, "scale", [])
    tf_graphs.node(graph, "reshaped", "Reshape", ["y", "shape"], T=FLOAT)
    tf_graphs.node(graph, "scaled", "Mul", ["reshaped", "scale"], T=FLOAT)
    found = FORMAT.describe(graph_file(tmp_path, graph))
    assert found.parameters == 15
    assert found.outputs == (TensorSpec("scaled", (None, 3), "float32"),)


def test_a_shared_constant_counts_once(tmp_path):
    graph = tf_graphs.dense()
    tf_graphs.placeholder(graph, "x2", [-1, 4])
    tf_graphs.node(graph, "again", "MatMul", ["x2", "dense/kernel/read"], T=FLOAT)
    found = FORMAT.describe(graph_file(tmp_path, graph))
    assert found.parameters == 15
    assert [spec.name for spec in found.outputs] == ["y", "again"]


def test_constants_inside_a_loop_body_belong_to_the_loop(tmp_path):
    graph = tf_graphs.dense()
    body = graph.library.function.add()
    body.signature.name = "body"
    kernel = body.node_def.add()
    kernel.CopyFrom(next(node for node in graph.node if node.name == "dense/kernel"))
    loop = tf_graphs.node(graph, "loop", "StatelessWhile", ["y"])
    loop.attr["body"].func.name = "body"
    loop.attr["T"].list.type.append(FLOAT)
    found = FORMAT.describe(graph_file(tmp_path, graph))
    assert layer(found, "loop").parameters == 12
    assert found.parameters == 27


def test_text_graphs_are_the_same(tmp_path, dense):
    path = tmp_path / "dense.pbtxt"
    path.write_text("# made by hand\n" + text_format.MessageToString(tf_graphs.dense()))
    file = ModelFile.at(path)
    assert FORMAT.sniff(file)
    assert FORMAT.describe(file) == FORMAT.describe(dense)
    name, data = FORMAT.skeleton(file)
    assert name == "graph.pb"
    assert len(tf_proto.messages().GraphDef.FromString(data).node) == 7


def test_a_skeleton_has_no_weights_but_their_shapes(tmp_path):
    file = graph_file(tmp_path, tf_graphs.dense(units=20_000))
    name, data = FORMAT.skeleton(file)
    assert name == "graph.pb"
    assert len(data) < 2000
    smaller = tmp_path / "skeleton.pb"
    smaller.write_bytes(data)
    assert FORMAT.describe(ModelFile.at(smaller)) == FORMAT.describe(file)


def test_function_calls_are_inlined(tmp_path):
    graph = tf_proto.messages().GraphDef()
    tf_graphs.placeholder(graph, "x", [-1, 2])
    function = graph.library.function.add()
    function.signature.name = "twice"
    function.signature.input_arg.add(name="a", type=FLOAT)
    function.signature.output_arg.add(name="b", type=FLOAT)
    inner = function.node_def.add(name="add", op="AddV2", input=["a", "a"])
    inner.attr["T"].type = FLOAT
    function.ret["b"] = "add:z:0"
    for name, source in (("call", "x"), ("call_1", "call")):
        call = tf_graphs.node(graph, name, "PartitionedCall", [source])
        call.attr["f"].func.name = "twice"
        call.attr["Tout"].list.type.append(FLOAT)
    tf_graphs.node(graph, "y", "Relu", ["call_1"], T=FLOAT)
    found = FORMAT.describe(graph_file(tmp_path, graph))
    assert [(one.path, one.inputs) for one in found.layers] == [
        ("x", ()),
        ("call/add", ("x",)),
        ("call_1/add", ("call/add",)),
        ("y", ("call_1/add",)),
    ]


def test_functions_that_multiply_without_end_stay_opaque(tmp_path):
    graph = tf_proto.messages().GraphDef()
    tf_graphs.placeholder(graph, "x", [-1, 2])
    for index in range(40):
        function = graph.library.function.add()
        function.signature.name = f"f{index}"
        function.signature.input_arg.add(name="a", type=FLOAT)
        function.signature.output_arg.add(name="b", type=FLOAT)
        for half, source in (("left", "a"), ("right", "left:output:0")):
            call = function.node_def.add(name=half, op="PartitionedCall", input=[source])
            call.attr["Tout"].list.type.append(FLOAT)
            call.attr["f"].func.name = f"f{(index + 1) % 40}"
        function.ret["b"] = "right:output:0"
    call = tf_graphs.node(graph, "y", "PartitionedCall", ["x"])
    call.attr["Tout"].list.type.append(FLOAT)
    call.attr["f"].func.name = "f0"
    found = FORMAT.describe(graph_file(tmp_path, graph))
    assert any("too large" in warning for warning in found.warnings)


HAZARDS = [
    ("WriteFile", "file-access"),
    ("ReadFile", "file-access"),
    ("MatchingFiles", "file-access"),
    ("ImmutableConst", "file-access"),
    ("TextLineDataset", "file-access"),
    ("SaveV2", "file-access"),
    ("RestoreV2", "file-access"),
    ("InitializeTableFromTextFileV2", "file-access"),
    ("DebugIdentityV2", "network"),
    ("RpcClient", "network"),
    ("EagerPyFunc", "python-function"),
    ("DatasetFromGraph", "hidden-program"),
    ("XlaCallModule", "hidden-program"),
    ("Abort", "process"),
    ("MyCompanyFastRelu", "unknown-operator"),
]


@each(("operator", "rule"), HAZARDS)
def test_operators_that_reach_outside_are_hazards_wherever_they_hide(tmp_path, operator, rule):
    graph = tf_graphs.dense()
    tf_graphs.constant(graph, "name", [], STRING, b"/tmp/x")
    tf_graphs.node(graph, "bad", operator, ["name", "name"])
    tf_graphs.node(graph, "z", "Identity", ["y", "^bad"], T=FLOAT)
    found = FORMAT.describe(graph_file(tmp_path, graph))
    assert [(hazard.rule, hazard.where) for hazard in found.hazards] == [(rule, "bad")]
    assert operator in found.hazards[0].message

    hidden = tf_graphs.dense()
    function = hidden.library.function.add()
    function.signature.name = "never_called"
    function.node_def.add(name="bad", op=operator, input=["a", "b"])
    found = FORMAT.describe(graph_file(tmp_path, hidden))
    assert [(hazard.rule, hazard.where) for hazard in found.hazards] == [(rule, "bad in function never_called")]


def test_printing_to_the_console_is_fine_and_into_a_file_is_not(tmp_path):
    graph = tf_graphs.dense()
    tf_graphs.constant(graph, "text", [], STRING, b"hello")
    printing = tf_graphs.node(graph, "print", "PrintV2", ["text"])
    printing.attr["output_stream"].s = b"stderr"
    assert not FORMAT.describe(graph_file(tmp_path, graph)).hazards
    printing.attr["output_stream"].s = b"file:///tmp/x"
    (hazard,) = FORMAT.describe(graph_file(tmp_path, graph)).hazards
    assert hazard.rule == "file-access"
    assert "file:///tmp/x" in hazard.message


def test_a_hazardous_graph_is_not_opened_without_the_owners_yes(tmp_path):
    graph = tf_graphs.dense()
    tf_graphs.constant(graph, "name", [], STRING, b"/tmp/x")
    tf_graphs.node(graph, "bad", "WriteFile", ["name", "name"])
    with pytest.raises(NeedsTrust, match="WriteFile"):
        FORMAT.open(graph_file(tmp_path, graph), tmp_path)


@each("data", [b"\x0a\x04\x0a\x02hi", b"<html><body>", b"{}", bytes(100), b"\x08\x07\x12\x07pytorch"])
def test_other_files_are_not_graphs(tmp_path, data):
    path = tmp_path / "x.pb"
    path.write_bytes(data)
    assert not FORMAT.sniff(ModelFile.at(path))


def test_onnx_files_are_not_graphs(tmp_path):
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [value], [value])
    for name, message in (("model.pb", onnx.helper.make_model(graph)), ("graph.pb", graph), ("node.pb", graph.node[0])):
        (tmp_path / name).write_bytes(message.SerializeToString())
        assert not FORMAT.sniff(ModelFile.at(tmp_path / name)), name


def test_parts_of_checkpoints_are_explained(tmp_path):
    meta = tf_graphs.saved_model().meta_graphs[0]
    cases = {
        "model.meta": (meta.SerializeToString(), "MetaGraph"),
        "model.ckpt.data-00000-of-00001": (bytes(100), "without a model"),
        "model.ckpt.index": (bytes(48) + b"\x57\xfb\x80\x8b\x24\x75\x47\xdb", "without a model"),
        "checkpoint": (b'model_checkpoint_path: "model.ckpt"\n', "without a model"),
    }
    for name, (data, text) in cases.items():
        (tmp_path / name).write_bytes(data)
        file = ModelFile.at(tmp_path / name)
        assert FORMAT.sniff(file), name
        with pytest.raises(UnreadableFile, match=text):
            FORMAT.describe(file)


def test_a_truncated_graph_says_so(dense):
    dense.path.write_bytes(dense.path.read_bytes()[:-20])
    assert FORMAT.sniff(dense)
    with pytest.raises(UnreadableFile, match=r"dense\.pb: .*cut"):
        FORMAT.describe(dense)


def test_weights_beyond_the_budget_are_refused(tmp_path):
    graph = tf_graphs.dense()
    kernel = next(node for node in graph.node if node.name == "dense/kernel").attr["value"].tensor
    kernel.tensor_content = b""
    kernel.tensor_shape.dim[1].size = 1 << 40
    with pytest.raises(TooLarge, match="declares"):
        FORMAT.describe(graph_file(tmp_path, graph))


def test_text_nested_too_deeply_is_refused(tmp_path):
    path = tmp_path / "deep.pbtxt"
    path.write_text("node { attr { value { list { " + "func { attr { value { list { " * 200)
    with pytest.raises(UnreadableFile, match="deeper"):
        FORMAT.describe(ModelFile.at(path))


def test_two_operators_of_one_name_are_refused(tmp_path):
    graph = tf_graphs.dense()
    tf_graphs.node(graph, "y", "Relu", ["x"], T=FLOAT)
    with pytest.raises(UnreadableFile, match="same name"):
        FORMAT.describe(graph_file(tmp_path, graph))


def test_a_graph_with_variables_says_that_it_is_not_frozen(tmp_path):
    graph = tf_graphs.dense()
    next(node for node in graph.node if node.name == "dense/kernel").op = "VariableV2"
    file = graph_file(tmp_path, graph)
    assert "not frozen" in FORMAT.describe(file).runnable
    with pytest.raises(CannotRun, match="'dense/kernel' has no value"):
        FORMAT.open(file, tmp_path)


@examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_graphs_are_described_or_refused_with_a_sentence(tmp_path, data):
    content = bytearray(tf_graphs.dense().SerializeToString())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "x.pb"
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    file = ModelFile.at(path)
    if not FORMAT.sniff(file):
        return
    try:
        FORMAT.describe(file)
        FORMAT.skeleton(file)
    except StethoscopeError as error:
        assert "x.pb" in str(error)


@pytest.fixture(scope="module")
def kernel() -> np.ndarray:
    return np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def runner(tmp_path, kernel):
    graph = tf_graphs.dense()
    values = next(node for node in graph.node if node.name == "dense/kernel").attr["value"].tensor
    values.tensor_content = kernel.tobytes()
    with FORMAT.open(graph_file(tmp_path, graph), tmp_path) as opened:
        yield opened


def test_it_computes_what_numpy_does(runner, kernel):
    x = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    np.testing.assert_allclose(runner.predict({"x": x})["y"], np.maximum(x @ kernel, 0), rtol=1e-5, atol=1e-6)
    found = runner.activations({"x": x})
    assert list(found) == ["x", "dense/MatMul", "dense/BiasAdd", "y"]
    np.testing.assert_allclose(found["dense/MatMul"], x @ kernel, rtol=1e-5, atol=1e-6)
    assert list(runner.activations({"x": x}, ["y"])) == ["y"]


def test_wrong_data_is_explained(runner):
    with pytest.raises(BadInput, match=r"\(None, 4\), got \(2, 5\)"):
        runner.predict({"x": np.zeros((2, 5), np.float32)})
    with pytest.raises(BadInput, match="expected 'x'"):
        runner.predict({"image": np.zeros((2, 4), np.float32)})
    with pytest.raises(BadInput, match="nothing/here"):
        runner.activations({"x": np.zeros((2, 4), np.float32)}, ["nothing/here"])
    with pytest.raises(CannotRun, match="training"):
        runner.predict({"x": np.zeros((2, 4), np.float32)}, training=True)


def test_loops_and_branches_of_tensorflow_1_run_and_hide_what_has_no_value(tmp_path):
    import tensorflow as tf

    graph = tf.Graph()
    with graph.as_default():
        v1 = tf.compat.v1
        v1.disable_control_flow_v2()
        x = v1.placeholder(tf.float32, [None, 2], "x")
        looped = v1.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * 2.0), (0, x), name="loop")[1]
        taken = v1.cond(tf.reduce_sum(x) > 0, lambda: looped + 1.0, lambda: looped - 1.0, name="choice")
        tf.identity(taken, "y")
        v1.enable_control_flow_v2()
    (tmp_path / "loop.pb").write_bytes(graph.as_graph_def().SerializeToString())
    file = ModelFile.at(tmp_path / "loop.pb")
    described = FORMAT.describe(file)
    assert [spec.name for spec in described.outputs] == ["y"]
    with FORMAT.open(file, tmp_path) as opened:
        feed = {"x": np.ones((1, 2), np.float32)}
        np.testing.assert_array_equal(opened.predict(feed)["y"], [[9.0, 9.0]])
        seen = opened.activations(feed)
        assert "choice/Merge" in seen
        assert not any(path.startswith("loop/") and path.endswith("Enter") for path in seen)
        assert not ("choice/add" in seen and "choice/sub" in seen)


def test_real_files_are_described_and_run_or_declined(shared_dir, tmp_path):
    manifest = json.loads((shared_dir / "real/manifest.json").read_text())
    entries = [entry for entry in manifest if entry["kind"] in ("frozen_pb", "graph_pbtxt")]
    assert entries
    run = for_other_processors = 0
    for entry in entries:
        file = ModelFile.at(shared_dir / "real" / entry["file"])
        assert FORMAT.sniff(file), file.name
        described = FORMAT.describe(file)
        if "nodes" in entry["what"]:
            assert described.layers, file.name
            assert sum(one.parameters for one in described.layers) == described.parameters
        rng = np.random.default_rng(0)
        feed = {
            spec.name: (rng.random([2 if size is None else size for size in spec.shape or ()]) * 3).astype(spec.dtype)
            for spec in described.inputs
        }
        try:
            with FORMAT.open(file, tmp_path) as opened:
                outputs = opened.predict(feed)
                assert set(outputs) == {spec.name for spec in described.outputs}
                seen = opened.activations(feed)
                for one in described.layers:
                    if one.path in seen and one.output_shape is not None:
                        fits = [
                            want in (None, got)
                            for want, got in zip(one.output_shape, seen[one.path].shape, strict=True)
                        ]
                        assert all(fits), (file.name, one, seen[one.path].shape)
                run += 1
        except (CannotRun, BadInput, NeedsTrust) as error:
            assert file.name in str(error)
            for_other_processors += "TF_ENABLE_ONEDNN_OPTS=1" in str(error)
    assert for_other_processors <= 3
    assert run + for_other_processors >= len(entries) * 0.9


def test_limits_on_operators(dense, monkeypatch):
    monkeypatch.setattr(damage, "MAX_LAYERS", 3)
    with pytest.raises(TooLarge, match="7 operators"):
        FORMAT.describe(dense)


def test_a_graph_without_inputs_is_not_said_to_be_steady_where_it_draws(tmp_path):
    told = []
    for op in ("RandomUniform", "StatelessRandomUniform"):
        graph = tf_proto.messages().GraphDef()
        tf_graphs.constant(graph, "shape", [1], INT32, tf_graphs.integers(3))
        tf_graphs.constant(graph, "seed", [2], INT32, tf_graphs.integers(1, 2))
        inputs = ["shape"] if op == "RandomUniform" else ["shape", "seed"]
        tf_graphs.node(graph, "y", op, inputs, dtype=FLOAT, T=INT32)
        (warning,) = [one for one in FORMAT.describe(graph_file(tmp_path, graph)).warnings if "no inputs" in one]
        told.append("RandomUniform" in warning)
    assert told == [True, False]


def test_what_an_operator_leaves_unset_is_no_output(tmp_path):
    graph = tf_proto.messages().GraphDef()
    tf_graphs.placeholder(graph, "x", [3, 4])
    tf_graphs.node(graph, "values", "Svd", ["x"], T=FLOAT).attr["compute_uv"].b = False
    assert [one.name for one in FORMAT.describe(graph_file(tmp_path, graph)).outputs] == ["values"]
    graph.node[-1].attr["compute_uv"].b = True
    assert len(FORMAT.describe(graph_file(tmp_path, graph)).outputs) == 3
