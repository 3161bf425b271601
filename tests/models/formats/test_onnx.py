"""ONNX: described without its weights, refused when malformed, run as onnxruntime runs it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from stethoscope.errors import BadInput, CannotRun, StethoscopeError, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.models.formats.onnx import FORMAT
from stethoscope.types import ModelFile
from tests.exploring import examples

Save = Callable[..., ModelFile]
RNG = np.random.default_rng(0)
FLOAT = TensorProto.FLOAT


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(content: bytes | onnx.ModelProto, name: str = "m.onnx") -> ModelFile:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
        return ModelFile.at(path)

    return write


def model(
    nodes: list[Any],
    initializers: list[Any] = (),  # type: ignore[assignment]
    inputs: list[Any] | None = None,
    outputs: list[Any] | None = None,
    opset: int = 17,
    **fields: Any,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        inputs or [helper.make_tensor_value_info("x", FLOAT, ["N", 4])],
        outputs or [helper.make_tensor_value_info("y", FLOAT, None)],
        initializers,
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in fields.pop("domains", ()))]
    return helper.make_model(graph, opset_imports=imports, ir_version=fields.pop("ir_version", 8), **fields)


def weight(name: str, *shape: int, dtype: str = "float32") -> TensorProto:
    return numpy_helper.from_array(RNG.standard_normal(shape).astype(dtype), name)


def dense() -> onnx.ModelProto:
    """Two layers of 4 → 600 → 2; the shape of a Reshape is stored too, which is no parameter."""
    return model(
        [
            helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="hidden"),
            helper.make_node("Relu", ["h"], ["r"]),
            helper.make_node("Gemm", ["r", "w2"], ["z"], name="head"),
            helper.make_node("Reshape", ["z", "shape"], ["y"], name="flat"),
        ],
        [
            weight("w1", 4, 600),
            weight("b1", 600),
            weight("w2", 600, 2),
            numpy_helper.from_array(np.array([-1, 2]), "shape"),
        ],
        producer_name="pytorch",
        producer_version="2.1",
    )


def test_it_is_described_with_inferred_shapes(save: Save) -> None:
    file = save(dense())
    described = FORMAT.describe(file)
    assert described.framework_version == "ONNX IR 8, opset 17 (pytorch 2.1)"
    assert [(s.name, s.shape, s.dtype) for s in described.inputs] == [("x", (None, 4), "float32")]
    assert [(layer.path, layer.type, layer.output_shape, layer.parameters) for layer in described.layers] == [
        ("hidden", "Gemm", (None, 600), 3000),
        ("Relu_1", "Relu", (None, 600), 0),
        ("head", "Gemm", (None, 2), 1200),
        ("flat", "Reshape", (None, 2), 0),
    ]
    assert described.edges == (("hidden", "Relu_1"), ("Relu_1", "head"), ("head", "flat"))
    assert (described.parameters, described.trainable_parameters, described.weight_bytes) == (4200, None, 16_816)


def test_the_skeleton_keeps_shapes_and_drops_weights(save: Save) -> None:
    name, content = FORMAT.skeleton(save(dense(), "net.onnx"))
    assert name == "net.onnx" and len(content) < 1000
    small = onnx.load_from_string(content)
    assert [list(t.dims) for t in small.graph.initializer] == [[4, 600], [600], [600, 2], [2]]
    assert small.graph.initializer[0].data_location == TensorProto.EXTERNAL and not small.graph.initializer[0].raw_data
    assert numpy_helper.to_array(small.graph.initializer[3]).tolist() == [-1, 2]


def test_predictions_and_activations_are_onnxruntimes(save: Save, tmp_path: Path) -> None:
    import onnxruntime as ort

    file = save(dense())
    x = RNG.standard_normal((3, 4)).astype("f4")
    expected = ort.InferenceSession(str(file.path)).run(None, {"x": x})[0]
    with FORMAT.open(file, tmp_path) as runner:
        np.testing.assert_array_equal(runner.predict({"x": x})["y"], expected)
        seen = runner.activations({"x": x})
        assert list(seen) == ["hidden", "Relu_1", "head", "flat"]
        np.testing.assert_allclose(seen["flat"], expected, rtol=1e-5)
        np.testing.assert_allclose(seen["Relu_1"], np.maximum(seen["hidden"], 0))
        assert list(runner.activations({"x": x}, ["head"])) == ["head"]
        with pytest.raises(BadInput, match=r"'x' of m\.onnx.*\(None, 4\), got \(3, 5\)"):
            runner.predict({"x": np.zeros((3, 5), "f4")})
        with pytest.raises(BadInput, match="got 'input'"):
            runner.predict({"input": x})
        with pytest.raises(CannotRun, match="no training mode"):
            runner.predict({"x": x}, training=True)


def test_scalars_stay_scalars(save: Save, tmp_path: Path) -> None:
    scalar = [helper.make_tensor_value_info("x", FLOAT, [])]
    file = save(model([helper.make_node("Neg", ["x"], ["y"])], inputs=scalar))
    with FORMAT.open(file, tmp_path) as runner:
        assert runner.predict({"x": np.float32(2)})["y"].shape == ()


def test_initializers_listed_as_inputs_need_no_feed(save: Save) -> None:
    listed = [helper.make_tensor_value_info("x", FLOAT, [1, 4]), helper.make_tensor_value_info("w", FLOAT, [4, 2])]
    file = save(model([helper.make_node("MatMul", ["x", "w"], ["y"])], [weight("w", 4, 2)], listed, ir_version=3))
    assert [spec.name for spec in FORMAT.describe(file).inputs] == ["x"]


def test_constants_count_where_they_are_read(save: Save) -> None:
    constant = helper.make_node("Constant", [], ["w"], value=weight("w", 4, 2))
    described = FORMAT.describe(save(model([constant, helper.make_node("MatMul", ["x", "w"], ["y"])])))
    assert [(layer.type, layer.parameters) for layer in described.layers] == [("MatMul", 8)]


def test_bodies_functions_and_multiple_outputs(save: Save, tmp_path: Path) -> None:
    def branch(name: str) -> onnx.GraphProto:
        out = helper.make_tensor_value_info(f"{name}_y", FLOAT, None)
        return helper.make_graph([helper.make_node("MatMul", ["top", "w"], [f"{name}_y"])], name, [], [out])

    nodes = [
        helper.make_node("Split", ["x"], ["top", "rest"], name="split", axis=1),
        helper.make_node("ReduceSum", ["rest"], ["sum"], name="sum", keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["flag"], name="test"),
        helper.make_node("If", ["flag"], ["z"], name="choice", then_branch=branch("a"), else_branch=branch("b")),
        helper.make_node("Twice", ["z"], ["y"], domain="mine", name="call"),
    ]
    zero = numpy_helper.from_array(np.float32(0), "zero")
    made = model(nodes, [weight("w", 2, 2), zero], domains=["mine"])
    body = [helper.make_node("Add", ["a", "a"], ["b"], name="add")]
    made.functions.append(helper.make_function("mine", "Twice", ["a"], ["b"], body, [helper.make_opsetid("", 17)]))
    file = save(made)
    described = FORMAT.describe(file)
    paths = [layer.path for layer in described.layers]
    assert paths == [
        "split",
        "sum",
        "test",
        "choice",
        "choice/else_branch/MatMul_0",
        "choice/then_branch/MatMul_0",
        "call",
        "mine.Twice/add",
    ]
    assert set(next(layer.inputs for layer in described.layers if layer.path == "choice")) == {"test", "split"}
    assert described.parameters == 4 and not described.hazards and not described.runnable
    with FORMAT.open(file, tmp_path) as runner:
        seen = runner.activations({"x": np.ones((1, 4), "f4")})
    assert {"split", "split#1", "choice", "call"} <= set(seen)


def test_sequences_and_maps_have_a_type_in_words(save: Save, tmp_path: Path) -> None:
    outputs = [helper.make_tensor_sequence_value_info("y", FLOAT, None)]
    file = save(model([helper.make_node("SplitToSequence", ["x"], ["y"], axis=1)], outputs=outputs))
    assert FORMAT.describe(file).outputs[0].dtype == "sequence(float32)"
    with FORMAT.open(file, tmp_path) as runner:
        assert list(runner.predict({"x": np.zeros((1, 4), "f4")})) == ["y#0", "y#1", "y#2", "y#3"]


@pytest.mark.parametrize(
    ("made", "rule", "sentence"),
    [
        (
            model([helper.make_node("Exec", ["x"], ["y"], domain="evil")], domains=["evil"]),
            "custom-operator",
            "evil.Exec",
        ),
        (
            model([helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft")], domains=["com.microsoft"]),
            "file-access",
            "for an accelerator",
        ),
        (
            model(
                [helper.make_node("Gradient", ["x"], ["y"], domain="ai.onnx.preview.training", xs=["x"], y="x")],
                domains=["ai.onnx.preview.training"],
            ),
            None,
            "training operators \\(Gradient\\)",
        ),
        (model([helper.make_node("Nested", ["x"], ["y"])]), None, "operator Nested .* opset 17"),
        (model([helper.make_node("Relu", ["x"], ["y"])], ir_version=60), None, "IR version 60"),
        (model([helper.make_node("Relu", ["x"], ["y"])], opset=99), None, "opset 99"),
    ],
)
def test_why_it_cannot_run_is_true(save: Save, tmp_path: Path, made: Any, rule: str | None, sentence: str) -> None:
    file = save(made)
    described = FORMAT.describe(file)
    assert [hazard.rule for hazard in described.hazards] == ([rule] if rule else [])
    with pytest.raises(CannotRun, match=sentence):
        FORMAT.open(file, tmp_path)


def test_broken_and_hostile_files_are_refused(save: Save) -> None:
    good = dense().SerializeToString()
    for content in (good[: len(good) // 2], good[:200]):
        assert FORMAT.sniff(save(content))
        with pytest.raises(UnreadableFile, match="not a readable"):
            FORMAT.describe(save(content))
    relu = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    with pytest.raises(TooLarge, match="declares 18,446,744,073,709,551,616 bytes"):
        FORMAT.describe(save(model(relu, [TensorProto(name="w", data_type=1, dims=[1 << 31, 1 << 31])])))
    with pytest.raises(UnreadableFile, match="expected 16 bytes, got 4"):
        FORMAT.describe(save(model(relu, [TensorProto(name="w", data_type=1, dims=[2, 2], raw_data=b"\0" * 4)])))
    with pytest.raises(UnreadableFile, match="0 or more"):
        FORMAT.describe(save(model(relu, [TensorProto(name="w", data_type=1, dims=[-2, 2], raw_data=b"\0" * 4)])))
    weightless = save(model(relu, [TensorProto(name="w", data_type=1, dims=[4, 2])]))
    assert "weights are missing" in FORMAT.describe(weightless).runnable


def test_deep_nesting_is_refused_before_protobuf_sees_it(save: Save) -> None:
    graph = b""
    for _ in range(2000):
        graph = _field(1, _field(5, _field(6, graph)))
    with pytest.raises(UnsafeFile, match="more than 30"):
        FORMAT.describe(save(b"\x08\x08" + _field(7, graph)))


def _field(number: int, payload: bytes) -> bytes:
    size, length = len(payload), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + payload


def external(location: str, **entries: int) -> TensorProto:
    tensor = TensorProto(name="w", data_type=1, dims=[4, 2], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def packed(tensor: TensorProto, data: bytes | None, name: str = "w.bin") -> bytes:
    made = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("export/m.onnx", made.SerializeToString())
        if data is not None:
            archive.writestr(f"export/{name}", data)
    return out.getvalue()


def test_external_data_travels_in_the_same_archive(save: Save, tmp_path: Path) -> None:
    data = np.arange(8, dtype="<f4").tobytes()
    file = save(packed(external("w.bin"), data), "m.zip")
    assert FORMAT.sniff(file)
    assert FORMAT.describe(file).parameters == 8
    with FORMAT.open(file, tmp_path / "scratch") as runner:
        got = runner.predict({"x": np.ones((1, 4), "f4")})["y"]
        assert len(runner.activations({"x": np.ones((1, 4), "f4")})) == 1
    np.testing.assert_array_equal(got, [[12, 16]])
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        content = model([helper.make_node("Relu", ["x"], ["y"])]).SerializeToString()
        info = tarfile.TarInfo("m.onnx")
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    file = save(out.getvalue(), "m.tar.gz")
    assert FORMAT.sniff(file) and FORMAT.describe(file).layers[0].type == "Relu"


@pytest.mark.parametrize("name", ["export.zip", "export.tar.gz", "export.tgz", "export.tar"])
def test_the_program_of_a_packed_model_runs_where_the_upload_lies(name: str, save: Save, tmp_path: Path) -> None:
    content = packed(external("w.bin"), np.arange(8, dtype="<f4").tobytes())
    if name != "export.zip":
        out = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(content)) as made,
            tarfile.open(fileobj=out, mode="w" if name.endswith(".tar") else "w:gz") as tar,
        ):
            for member in made.infolist():
                info = tarfile.TarInfo(member.filename)
                info.size = member.file_size
                tar.addfile(info, io.BytesIO(made.read(member)))
        content = out.getvalue()
    architecture = FORMAT.describe(save(content, name))
    program = FORMAT.program(name, architecture)
    lines = ["import numpy as np", *program.imports, "results, batch = [], {'x': np.ones((1, 4), 'f4')}"]
    lines += [*program.load, *program.call, "print(results[0][0].tolist())"]
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[[12.0, 16.0]]", done.stderr


@pytest.mark.parametrize(
    ("location", "kind", "sentence"),
    [
        ("../../secret", UnsafeFile, "beside the model"),
        ("/etc/passwd", UnsafeFile, "beside the model"),
        ("a/../../b", UnsafeFile, "beside the model"),
        ("*/_ORT_MEM_ADDR_/*", UnsafeFile, "beside the model"),
        ("weights.data", UnreadableFile, r"weights\.data.*same zip"),
    ],
)
def test_external_data_elsewhere_is_refused(save: Save, location: str, kind: type[Exception], sentence: str) -> None:
    matmul = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    with pytest.raises(kind, match=sentence):
        FORMAT.describe(save(model(matmul, [external(location)])))
    constant = helper.make_node("Constant", [], ["w"], value=external(location))
    with pytest.raises(kind, match=sentence):
        FORMAT.describe(save(model([constant, *matmul])))
    sparse = onnx.SparseTensorProto(
        values=external(location), indices=numpy_helper.from_array(np.arange(8)), dims=[4, 2]
    )
    with pytest.raises(kind, match=sentence):
        FORMAT.describe(save(model([helper.make_node("Constant", [], ["w"], sparse_value=sparse), *matmul])))


def test_external_data_that_is_too_short_is_refused(save: Save) -> None:
    with pytest.raises(UnreadableFile, match=r"8 to 40 of w\.bin, .* 32"):
        FORMAT.describe(save(packed(external("w.bin", offset=8), b"\0" * 32), "m.zip"))


def test_a_loop_without_end_is_warned_of_and_a_while_is_not(save: Save) -> None:
    def loop(condition: str, count: int) -> onnx.ModelProto:
        state = [helper.make_tensor_value_info("s", FLOAT, None)]
        counter = [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", 9, [])]
        nodes = [helper.make_node("Identity", ["s"], ["s2"])]
        nodes += [helper.make_node("Identity", ["c"], ["c2"])] if condition == "kept" else []
        nodes += [helper.make_node("IsNaN", ["s"], ["c2"])] if condition == "computed" else []
        results = [helper.make_tensor_value_info("c2", 9, []), helper.make_tensor_value_info("s2", FLOAT, None)]
        body = helper.make_graph(nodes, "body", counter + state, results)
        return model(
            [helper.make_node("Loop", ["n", "", "x"], ["y"], name="forever", body=body)],
            [numpy_helper.from_array(np.array(count), "n")],
        )

    assert "practically forever" in FORMAT.describe(save(loop("kept", 1 << 62))).warnings[0]
    assert not FORMAT.describe(save(loop("computed", (1 << 63) - 1))).warnings
    assert not FORMAT.describe(save(loop("kept", 10))).warnings


def test_weights_made_at_run_time_are_said(save: Save) -> None:
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["w"]), helper.make_node("MatMul", ["x", "w"], ["y"])]
    described = FORMAT.describe(save(model(nodes, [numpy_helper.from_array(np.array([4, 2]), "s")])))
    assert described.parameters == 0 and "made by ConstantOfShape" in described.warnings[0]


def test_content_not_suffix_decides(save: Save) -> None:
    assert FORMAT.sniff(save(dense(), "m.bin"))
    graph_def = b"\x0a\x10\x0a\x01x\x12\x0bPlaceholder\x22\x03\x08\xe8\x0f"
    for content in (b"\0" * 99, RNG.bytes(999), b"{}", graph_def, b"\x08\x01\x12\x04\x0a\x02\x08\x01", b"\x08\x07"):
        assert not FORMAT.sniff(save(content))


def test_describing_loads_no_runtime_and_little_memory(save: Save) -> None:
    big = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [weight("w", 4, 10_000_000)])
    file = save(big)
    code = (
        "import sys, resource; from stethoscope.models.formats.onnx import FORMAT; from stethoscope.types import ModelFile; import onnx;"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        f"f = ModelFile.at({str(file.path)!r}); FORMAT.sniff(f); FORMAT.describe(f); FORMAT.skeleton(f);"
        "print('onnxruntime' in sys.modules, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    loaded, grown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert loaded == "False"
    assert int(grown) < 50_000, "a model of 160 MB was read into memory"


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_bytes_never_raise_anything_else(tmp_path: Path, data: st.DataObject) -> None:
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    content = bytearray(model(nodes, [weight("w", 4, 2), weight("b", 2)]).SerializeToString())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(len(content) // 2, len(content)))]
    path = tmp_path / "m.onnx"
    path.write_bytes(bytes(content))
    file = ModelFile.at(path)
    FORMAT.sniff(file)
    for read in (FORMAT.describe, FORMAT.skeleton):
        try:
            read(file)
        except StethoscopeError as error:
            assert "m.onnx: " in str(error)


def backend_files() -> Iterator[Path]:
    """The models that ship inside the onnx package."""
    yield from sorted((Path(onnx.__file__).parent / "backend" / "test" / "data").rglob("*.onnx"))


def test_the_onnx_packages_own_models_run_as_in_onnxruntime(tmp_path: Path) -> None:
    import onnxruntime as ort

    quiet = ort.SessionOptions()
    quiet.log_severity_level = 4
    compared = 0
    for path in list(backend_files())[::2]:
        file = ModelFile.at(path)
        assert FORMAT.sniff(file), path
        described = FORMAT.describe(file)
        feed = _shipped_input(path, described)
        try:
            session = ort.InferenceSession(str(path), quiet)
            expected = session.run(None, feed) if feed is not None else None
        except Exception as error:
            with pytest.raises(CannotRun):
                FORMAT.open(file, tmp_path)
            assert error is not None
            continue
        if expected is None:
            continue
        with FORMAT.open(file, tmp_path) as runner:
            got = runner.predict(feed)
        for spec, value in zip(runner.outputs, expected, strict=True):
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(got[spec.name], value, err_msg=str(path))
        compared += 1
    assert compared > 35


def _shipped_input(path: Path, described: Any) -> dict[str, Any] | None:
    feed = {}
    for number, spec in enumerate(described.inputs):
        stored = path.parent / "test_data_set_0" / f"input_{number}.pb"
        if not stored.exists() or "(" in spec.dtype:
            return None
        feed[spec.name] = numpy_helper.to_array(onnx.load_tensor(str(stored)))
    return feed


def test_real_files_are_described(shared_dir: Path) -> None:
    for entry in json.loads((shared_dir / "real" / "manifest.json").read_text()):
        if entry["kind"] != "onnx":
            continue
        file = ModelFile.at(shared_dir / "real" / entry["file"])
        assert FORMAT.sniff(file), file.name
        described = FORMAT.describe(file)
        assert described.layers
        assert len({layer.path for layer in described.layers}) == len(described.layers)


@pytest.mark.parametrize(
    "node",
    [
        helper.make_node("LayerNormalization", ["x", "w", "w"], ["y"], axis=(1 << 63) - 2),
        helper.make_node("Split", ["x"], ["y", "z", "v"], axis=1, num_outputs=1),
        helper.make_node("Einsum", ["x"], ["y"], equation="...iÌ ->...i"),
    ],
    ids=lambda node: node.op_type,
)
def test_what_crashes_shape_inference_is_kept_from_it(save: Save, node: onnx.NodeProto) -> None:
    described = FORMAT.describe(save(model([node], [weight("w", 4)], opset=18)))
    assert [layer.output_shape for layer in described.layers] == [None]
