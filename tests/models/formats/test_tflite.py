"""TFLite: described without its runtime, refused when malformed, run with LiteRT."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from stethoscope.errors import BadInput, CannotRun, StethoscopeError, TooLarge, UnreadableFile, UnsafeFile
from stethoscope.models.formats.tflite import FORMAT, load
from stethoscope.models.formats.tflite_model.tflite_runner import once
from stethoscope.models.formats.tflite_model.tflite_schema import schema
from stethoscope.types import ModelFile
from tests.exploring import examples
from tests.models.formats.tflite_specimens import custom, pack, tiny

Save = Callable[..., ModelFile]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(content: bytes, name: str = "m.tflite") -> ModelFile:
        path = tmp_path / name
        path.write_bytes(content)
        return ModelFile.at(path)

    return write


def test_it_is_described_and_run(save: Save, tmp_path: Path) -> None:
    file = save(pack(tiny()))
    described = FORMAT.describe(file)
    assert [(s.name, s.shape, s.dtype) for s in described.inputs] == [("x", (None, 4), "float32")]
    assert [(s.name, s.shape) for s in described.outputs] == [("model/add/y", (None, 4))]
    (layer,) = described.layers
    assert (layer.path, layer.type, layer.output_shape, layer.parameters) == ("model/add/y", "ADD", (None, 4), 4)
    assert layer.config["fusedActivationFunction"] == "RELU"
    assert (described.parameters, described.trainable_parameters, described.weight_bytes) == (4, None, 16)
    assert described.framework_version == "TFLite schema 3" and not described.runnable
    with FORMAT.open(file, tmp_path) as runner:
        for batch in (1, 3):
            x = np.linspace(-9, 9, batch * 4, dtype="f4").reshape(batch, 4)
            expected = np.maximum(x + np.arange(4, dtype="f4"), 0)
            np.testing.assert_array_equal(runner.predict({"x": x})["model/add/y"], expected)
            np.testing.assert_array_equal(runner.activations({"x": x})["model/add/y"], expected)


def test_what_does_not_fit_is_said_in_a_sentence(save: Save, tmp_path: Path) -> None:
    with FORMAT.open(save(pack(tiny())), tmp_path) as runner:
        with pytest.raises(BadInput, match=r"Input 'x' of m.tflite: expected \(None, 4\), got \(1, 5\)"):
            runner.predict({"x": np.zeros((1, 5), "f4")})
        with pytest.raises(BadInput, match="expected 'x', got 'z'"):
            runner.predict({"z": np.zeros((1, 4), "f4")})
        with pytest.raises(BadInput, match="expected float32, got <U1"):
            runner.predict({"x": np.array([["a"] * 4])})
        with pytest.raises(CannotRun, match="no training mode"):
            runner.predict({"x": np.zeros((1, 4), "f4")}, training=True)
        with pytest.raises(BadInput, match="Layer 'nope'"):
            runner.activations({"x": np.zeros((1, 4), "f4")}, ["nope"])
        assert runner.predict({"x": np.zeros((1, 4))})["model/add/y"].dtype == np.float32


def test_describing_loads_no_native_runtime(save: Save) -> None:
    file = save(pack(tiny()))
    code = (
        "import sys, json; from stethoscope.models.formats.tflite import FORMAT; from stethoscope.types import ModelFile;"
        f"f = ModelFile.at({str(file.path)!r}); FORMAT.sniff(f); FORMAT.describe(f); FORMAT.skeleton(f);"
        "print(json.dumps([m for m in sys.modules if m.split('.')[0] in ('ai_edge_litert', 'tensorflow', 'keras')]),"
        "'libLiteRt' in open('/proc/self/maps').read())"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["[]", "False"]


def test_content_not_suffix_decides(save: Save) -> None:
    assert FORMAT.sniff(save(pack(tiny()), "m.bin"))
    assert FORMAT.sniff(save(pack(tiny(), identifier=None), "2017.bin"))
    assert not FORMAT.sniff(save(b"\x00" * 4096))
    assert not FORMAT.sniff(save(np.random.default_rng(0).bytes(4096)))
    assert not FORMAT.sniff(save(b"\x0a\x10\x0a\x01x\x12\x0bPlaceholder" * 40))


@pytest.mark.parametrize(
    ("name", "rule", "sentence"),
    [
        ("edgetpu-custom-op", None, "Coral Edge TPU"),
        ("DISPATCH_OP", None, "NPU"),
        ("FlexErf", "select-tf-operator", "needs Select TF operators \\(FlexErf\\)"),
        ("FlexReadFile", "file-access", "needs Select TF operators"),
        ("MyOp", "custom-operator", "custom operator MyOp"),
    ],
)
def test_custom_operators_are_named(save: Save, tmp_path: Path, name: str, rule: str | None, sentence: str) -> None:
    file = save(pack(custom(name)))
    described = FORMAT.describe(file)
    assert [hazard.rule for hazard in described.hazards] == ([rule] if rule else [])
    assert described.layers[0].type == name
    with pytest.raises(CannotRun, match=sentence):
        FORMAT.open(file, tmp_path)


def test_an_8_bit_svdf_state_is_refused_before_it_damages_the_process(save: Save, tmp_path: Path) -> None:
    s, model = schema(), tiny()
    code = s.BuiltinOperator.SVDF
    model.operatorCodes = [s.OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code, version=3)]
    graph = model.subgraphs[0]
    graph.tensors = [
        s.TensorT(shape=[1, 2], name=f"t{i}", type=s.TensorType.INT8, buffer=0, isVariable=i == 4) for i in range(6)
    ]
    graph.operators[0].inputs, graph.operators[0].outputs, graph.outputs = [0, 1, 2, 3, 4], [5], [5]
    graph.operators[0].builtinOptionsType, graph.operators[0].builtinOptions = 0, None
    assert "8-bit state" in FORMAT.describe(save(pack(model))).runnable
    graph.tensors[4].type = s.TensorType.INT16
    assert not FORMAT.describe(save(pack(model))).runnable


def _doubled() -> Any:
    """y = x + x: a model without a single constant."""
    model = tiny()
    graph = model.subgraphs[0]
    graph.tensors = [graph.tensors[0], graph.tensors[2]]
    graph.operators[0].inputs, graph.operators[0].outputs, graph.outputs = [0, 0], [1], [1]
    return model


def _without_buffers(model: Any) -> None:
    model.buffers = []


def _metadata_that_is_not_there(model: Any) -> None:
    model.metadata = [schema().MetadataT(name=name, buffer=9) for name in ("notes", "min_runtime_version")]


def _signature_of_what_is_not_there(model: Any) -> None:
    s = schema()
    ends = [s.TensorMapT(name="x", tensorIndex=77)]
    model.signatureDefs = [
        s.SignatureDefT(signatureKey="tensor", subgraphIndex=0, inputs=ends, outputs=[]),
        s.SignatureDefT(signatureKey="subgraph", subgraphIndex=5, inputs=[], outputs=[]),
    ]


def _more_bytes_than_needed(model: Any) -> None:
    s = schema()
    model.buffers = [s.BufferT(data=[]), s.BufferT(data=np.ones(8, "<f4").view(np.uint8))]
    model.subgraphs[0].tensors.append(s.TensorT(shape=[4], name="w", buffer=1))
    model.subgraphs[0].operators[0].inputs = [0, 2]


def _no_operators(model: Any) -> None:
    model.operatorCodes, model.subgraphs[0].operators, model.subgraphs[0].outputs = None, [], [0]


@pytest.mark.parametrize(
    ("change", "factor", "added"),
    [
        (_without_buffers, 2, 0),
        (_metadata_that_is_not_there, 2, 0),
        (_signature_of_what_is_not_there, 2, 0),
        (_more_bytes_than_needed, 1, 1),
        (_no_operators, 1, 0),
    ],
)
def test_what_litert_runs_is_not_damaged(
    save: Save, tmp_path: Path, change: Callable[[Any], None], factor: int, added: int
) -> None:
    model = _doubled()
    change(model)
    file = save(pack(model))
    described = FORMAT.describe(file)
    assert not described.warnings and not described.runnable
    assert FORMAT.skeleton(file)[1]
    x = np.ones((1, 4), np.float32)
    with FORMAT.open(file, tmp_path) as runner:
        (found,) = runner.predict({"x": x}).values()
    np.testing.assert_array_equal(found, x * factor + added)


@pytest.mark.parametrize(
    ("scales", "axis", "shape", "opens"),
    [
        ([0.1] * 4, 0, [4], True),
        ([0.1] * 4, 3, [4], False),
        ([0.1], 1, [4], False),
        ([0.1] * 4, -1, [4], False),
        ([], 3, [4], True),
    ],
)
def test_scales_along_an_axis_that_is_not_there(
    save: Save, tmp_path: Path, scales: list[float], axis: int, shape: list[int], opens: bool
) -> None:
    """Old converters left such files for TensorFlow Lite Micro: person_detect of tflite-micro is one."""
    s, model = schema(), tiny()
    tensor = model.subgraphs[0].tensors[1]
    tensor.shape = shape
    tensor.quantization = s.QuantizationParametersT(scale=scales, zeroPoint=[0] * len(scales), quantizedDimension=axis)
    file = save(pack(model))
    described = FORMAT.describe(file)
    assert ("'w'" in described.runnable) is not opens
    if opens:
        with FORMAT.open(file, tmp_path):
            return
    with pytest.raises(CannotRun, match="'w'"):
        FORMAT.open(file, tmp_path)
    from ai_edge_litert.interpreter import Interpreter

    with pytest.raises(ValueError, match="quantized_dimension"):
        Interpreter(str(file.path))


def test_a_runtime_that_repeats_itself_is_quoted_once() -> None:
    told = "".join(f"range [0, 1). Was 3.Tensor {place} is wrong." for place in (33, 36, 40))
    found = once(told)
    assert found.count("range [0, 1)") == found.count("Tensor 33") == found.count("2 more") == 1 and "36" not in found
    for text in ("tflite/util.cc BytesRequired overflowed", "m.tflite: scale 0.5"):
        assert once(text) == text


def test_what_litert_refuses_is_damaged(save: Save) -> None:
    model = _doubled()
    model.buffers = None
    with pytest.raises(UnreadableFile, match="buffers"):
        FORMAT.describe(save(pack(model)))


def test_broken_files_are_refused_in_a_sentence(save: Save) -> None:
    good = pack(tiny())
    for content in (good[: len(good) // 2], b"\xff\xff\xff\x7f" + good[4:], good[:40], good[:8]):
        with pytest.raises(UnreadableFile, match=r"m\.tflite: a TFLite file, but .* upload it again"):
            FORMAT.describe(save(content))
    model = tiny()
    model.subgraphs[0].tensors[0].shape = model.subgraphs[0].tensors[0].shapeSignature = [1 << 30, 1 << 30]
    with pytest.raises(TooLarge, match="declares 4,611,686,018,427,387,904 bytes"):
        FORMAT.describe(save(pack(model)))
    model = tiny()
    model.subgraphs[0].operators[0].inputs = [0, 99]
    with pytest.raises(UnreadableFile, match="tensor 99 of 3"):
        FORMAT.describe(save(pack(model)))


def test_subgraphs_that_call_each_other_in_a_circle_are_refused(save: Save) -> None:
    s, model = schema(), tiny()
    code = s.BuiltinOperator.WHILE
    model.operatorCodes = [s.OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code, version=1)]
    operator = model.subgraphs[0].operators[0]
    operator.builtinOptionsType = s.BuiltinOptions.WhileOptions
    operator.builtinOptions = s.WhileOptionsT(condSubgraphIndex=0, bodySubgraphIndex=0)
    with pytest.raises(UnsafeFile, match="in a circle"):
        FORMAT.describe(save(pack(model)))


def test_tables_that_share_each_other_are_read_a_bounded_number_of_times(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    import flatbuffers

    s, model, builder = schema(), tiny(), flatbuffers.Builder(1024)
    graph = model.subgraphs[0].Pack(builder)
    code = model.operatorCodes[0].Pack(builder)
    buffers = [buffer.Pack(builder) for buffer in model.buffers]
    vectors = []
    # A thousand references to one subgraph cost four bytes each on disk, and a subgraph each when followed.
    for start, items in (
        (s.ModelStartSubgraphsVector, [graph] * 1000),
        (s.ModelStartOperatorCodesVector, [code]),
        (s.ModelStartBuffersVector, buffers[::-1]),
    ):
        start(builder, len(items))
        for item in items:
            builder.PrependUOffsetTRelative(item)
        vectors.append(builder.EndVector())
    s.ModelStart(builder)
    s.ModelAddVersion(builder, 3)
    s.ModelAddSubgraphs(builder, vectors[0])
    s.ModelAddOperatorCodes(builder, vectors[1])
    s.ModelAddBuffers(builder, vectors[2])
    builder.Finish(s.ModelEnd(builder), file_identifier=b"TFL3")
    file = save(bytes(builder.Output()))
    assert len(load(file).subgraphs) == 1000
    monkeypatch.setattr("stethoscope.models.containers.damage.MAX_LAYERS", 2000)
    with pytest.raises(UnreadableFile, match="2,000 tensors"):
        FORMAT.describe(file)


def test_the_skeleton_keeps_shapes_and_drops_weights(save: Save) -> None:
    s, model = schema(), tiny()
    model.buffers[1] = s.BufferT(data=np.zeros(4_000_000, np.uint8))
    model.subgraphs[0].tensors[1].shape = [1000, 1000]
    file = save(pack(model), "big.tflite")
    name, content = FORMAT.skeleton(file)
    assert name == "big.tflite" and len(content) < 4000
    small = load(save(content, name))
    assert [t.shape for t in small.subgraphs[0].tensors] == [t.shape for t in load(file).subgraphs[0].tensors]
    # One byte stays: viewers take a tensor without any for an input instead of a weight.
    assert small.buffers[1].size_bytes == 1


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_bytes_never_raise_anything_else(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(pack(tiny()))
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))]
    path = tmp_path / "m.tflite"
    path.write_bytes(bytes(content))
    file = ModelFile.at(path)
    FORMAT.sniff(file)
    for read in (FORMAT.describe, FORMAT.skeleton):
        try:
            read(file)
        except StethoscopeError as error:
            assert str(error).startswith("m.tflite: ")


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Models out of TensorFlow's converter, and the Keras model they came from."""
    import keras
    import tensorflow as tf

    folder = tmp_path_factory.mktemp("tflite")
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3), name="image"),
            # The converter drops biases that are all zero, and merges them across linear layers.
            keras.layers.Conv2D(4, 3, activation="relu", bias_initializer="normal"),
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="relu", bias_initializer="normal"),
            keras.layers.Dense(10, activation="softmax", bias_initializer="normal"),
        ]
    )
    samples = np.random.default_rng(0).standard_normal((16, 8, 8, 3)).astype("f4")
    files: dict[str, Any] = {"keras": model, "samples": samples}

    def convert(name: str, converter: Any, **options: Any) -> None:
        for key, value in options.items():
            setattr(converter, key, value)
        path = folder / f"{name}.tflite"
        path.write_bytes(converter.convert())
        files[name] = ModelFile.at(path)

    exported = folder / "saved"
    model.export(exported, verbose=False)
    load_saved = tf.lite.TFLiteConverter.from_saved_model
    default = [tf.lite.Optimize.DEFAULT]
    convert("float32", load_saved(str(exported)))
    half = load_saved(str(exported))
    half.target_spec.supported_types = [tf.float16]
    convert("float16", half, optimizations=default)
    convert("dynamic_range", load_saved(str(exported)), optimizations=default)
    whole = load_saved(str(exported))
    whole.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    convert(
        "int8",
        whole,
        optimizations=default,
        representative_dataset=lambda: ([sample[None]] for sample in samples),
        inference_input_type=tf.int8,
        inference_output_type=tf.int8,
    )

    class Two(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 2], name="a")])
        def double(self, a: Any) -> Any:
            return {"twice": a * 2.0}

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="n")])
        def count(self, n: Any) -> Any:
            return {"total": tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (0, 0))[1]}

    two = Two()
    tf.saved_model.save(two, str(folder / "two"), signatures={"double": two.double, "count": two.count})
    convert("signatures", load_saved(str(folder / "two"), signature_keys=["double", "count"]))
    convert("loop", load_saved(str(folder / "two"), signature_keys=["count"]))
    return files


@pytest.mark.parametrize(("name", "tolerance"), [("float32", 1e-6), ("float16", 1e-3), ("dynamic_range", 0.05)])
def test_converted_models_predict_what_keras_predicts(
    converted: dict[str, Any], tmp_path: Path, name: str, tolerance: float
) -> None:
    described = FORMAT.describe(converted[name])
    assert described.parameters == converted["keras"].count_params()
    assert described.inputs[0].shape == (None, 8, 8, 3)
    assert "runtime ≥" in described.framework_version
    expected = converted["keras"].predict(converted["samples"], verbose=0)
    with FORMAT.open(converted[name], tmp_path) as runner:
        (got,) = runner.predict({runner.inputs[0].name: converted["samples"]}).values()
        seen = runner.activations({runner.inputs[0].name: converted["samples"]})
    np.testing.assert_allclose(got, expected, atol=tolerance)
    assert set(seen) <= {layer.path for layer in described.layers}
    np.testing.assert_allclose(list(seen.values())[-1], expected, atol=tolerance)


def test_a_quantised_model_is_fed_in_its_own_type(converted: dict[str, Any], tmp_path: Path) -> None:
    described = FORMAT.describe(converted["int8"])
    assert described.inputs[0].dtype == described.outputs[0].dtype == "int8"
    assert described.parameters == converted["keras"].count_params()
    conv = next(layer for layer in described.layers if layer.type == "CONV_2D")
    assert conv.config["weights"][0]["quantization"]["kind"] == "per axis"
    with FORMAT.open(converted["int8"], tmp_path) as runner:
        name = runner.inputs[0].name
        with pytest.raises(BadInput, match=r"int8, got float32"):
            runner.predict({name: converted["samples"]})
        (got,) = runner.predict({name: np.zeros((2, 8, 8, 3), "i1")}).values()
    assert got.dtype == np.int8 and got.shape == (2, 10)


def test_signatures_and_loop_bodies_are_shown(converted: dict[str, Any], tmp_path: Path) -> None:
    described = FORMAT.describe(converted["signatures"])
    assert "2 signatures" in described.warnings[0]
    assert {spec.name for spec in described.inputs} <= {"a", "n"}
    described = FORMAT.describe(converted["loop"])
    loop = next(layer for layer in described.layers if layer.type == "WHILE")
    bodies = {name for names in loop.config["calls"].values() for name in names}
    assert len(bodies) == 2
    assert all(any(layer.path.startswith(f"{body}/") for layer in described.layers) for body in bodies)
    with FORMAT.open(converted["loop"], tmp_path) as runner:
        assert runner.predict({"n": np.int32(5)})["total"] == 10
        assert loop.path in runner.activations({"n": np.int32(5)})


def test_real_files_are_described(shared_dir: Path) -> None:
    for entry in json.loads((shared_dir / "real" / "manifest.json").read_text()):
        if entry["kind"] != "tflite":
            continue
        file = ModelFile.at(shared_dir / "real" / entry["file"])
        assert FORMAT.sniff(file), file.name
        described = FORMAT.describe(file)
        operators = entry["what"].get("operators")
        assert operators is None or len(described.layers) >= operators, file.name
        assert len({layer.path for layer in described.layers}) == len(described.layers)
        _, content = FORMAT.skeleton(file)
        assert len(content) <= file.path.stat().st_size + 200
