"""TensorFlow functions and graphs run from inside: outputs, operators and what is made of them are what NumPy computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stethoscope.errors import BadInput, CannotRun
from stethoscope.models.formats.frozen_graph import FORMAT
from stethoscope.models.formats.tf_graph import tf_calls
from stethoscope.models.formats.tf_graph.graph_session import SessionRunner, import_graph
from stethoscope.models.formats.tf_graph.tf_flat import FlatFunction
from stethoscope.types import ModelFile
from tests.frameworks import tf

KERNEL = np.arange(12, dtype="float32").reshape(4, 3) / 10 - 0.5
X = np.linspace(-1, 1, 20, dtype="float32").reshape(5, 4)


def mean_of(path: str, tensor: Any, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
    if tensor.dtype != tf.float32 or tensor.shape.rank != 2:
        return None
    return {"mean": tf.reduce_mean(tensor, 0), "rows": tf.shape(inputs["x"])[0]}


@pytest.fixture(scope="module")
def flat() -> FlatFunction:
    variable = tf.Variable(KERNEL)

    @tf.function(autograph=False)
    def inner(x: Any) -> Any:
        return tf.nn.relu(tf.matmul(x, variable, name="product"), name="active")

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        return tf.nn.softmax(inner(x), name="shares"), tf.shape(x, name="sizes")

    return FlatFunction(ModelFile(Path("m"), "m"), serve.get_concrete_function(), ["x"], by_name=False)


OPERATORS = {"MatMul": "StatefulPartitionedCall/product", "Relu": "StatefulPartitionedCall/active", "Softmax": "shares"}
"""By the names that TensorFlow's own inliner gives them."""


def expected() -> dict[str, np.ndarray]:
    product = X @ KERNEL
    active = np.maximum(product, 0)
    exponents = np.exp(active)
    return {"MatMul": product, "Relu": active, "Softmax": exponents / exponents.sum(1, keepdims=True)}


def test_a_function_with_its_calls_inlined_answers_the_same(flat: FlatFunction) -> None:
    found = flat.outputs({"x": X})
    assert list(found) == ["output_0", "output_1"]
    np.testing.assert_allclose(found["output_0"], expected()["Softmax"], rtol=1e-5)
    np.testing.assert_array_equal(found["output_1"], [5, 4])


def test_operators_inside_its_calls_are_read(flat: FlatFunction) -> None:
    found = flat.fetch({**OPERATORS, "gone": "no/such"}, {"x": X})
    assert list(found) == ["MatMul", "Relu", "Softmax"]
    for kind, value in expected().items():
        np.testing.assert_allclose(found[kind], value, rtol=1e-5, atol=1e-6)


def test_operators_are_reduced_without_keeping_what_they_make(flat: FlatFunction) -> None:
    call = flat.reducing(mean_of, {**OPERATORS, "Shape": "sizes"})
    for rows in (5, 3):
        found = call({"x": X[:rows]})
        assert sorted(found) == ["MatMul", "Relu", "Softmax"]
        np.testing.assert_allclose(found["MatMul"]["mean"], (X[:rows] @ KERNEL).mean(0), rtol=1e-5, atol=1e-6)
        assert found["MatMul"]["rows"] == rows


def test_gradients_go_through_tensors_given_in_place_of_its_own(flat: FlatFunction) -> None:
    product = f"{OPERATORS['MatMul']}:0"
    given = tf.constant(expected()["MatMul"])
    with tf.GradientTape() as tape:
        tape.watch(given)
        (found,) = flat.called({"x": X}, {product: given}, [flat.output_tensor(0)])
        score = found[0, 2]
    np.testing.assert_allclose(found.numpy(), expected()["Softmax"], rtol=1e-5)
    shares, active = expected()["Softmax"][0], expected()["Relu"][0] > 0
    by_hand = shares[2] * ((np.arange(3) == 2) - shares) * active
    np.testing.assert_allclose(tape.gradient(score, given).numpy()[0], by_hand, rtol=1e-4, atol=1e-6)


def test_what_goes_into_the_last_activation_is_found(flat: FlatFunction) -> None:
    out = flat.output_tensor(0)
    source = flat.before(out, ["Softmax"], ["Identity"])
    assert source is not None
    found = flat.fetch({"it": source.removesuffix(":0")}, {"x": X})["it"]
    np.testing.assert_allclose(found, expected()["Relu"], rtol=1e-5, atol=1e-6)
    assert flat.before(out, ["Relu"], ["Identity", "Softmax"]) == f"{OPERATORS['MatMul']}:0"
    assert flat.before(out, ["Sigmoid"], ["Identity"]) is None
    assert flat.input_tensor("x") == "x:0"
    assert flat.as_tensor("x", X.astype("float64")).dtype == tf.float32


def test_inputs_that_are_keywords_are_told_apart_by_their_names() -> None:
    signature = {"b": tf.TensorSpec([2], tf.float32, name="b"), "a": tf.TensorSpec([2], tf.float32, name="a")}
    call = tf.function(lambda *, a, b: a - 2 * b, autograph=False).get_concrete_function(**signature)
    flat = FlatFunction(ModelFile(Path("m"), "m"), call, ["a", "b"], by_name=True)
    given = {"a": np.array([5, 7], "float32"), "b": np.array([1, 2], "float32")}
    np.testing.assert_array_equal(flat.outputs(given)["output_0"], [3, 3])


@pytest.fixture
def session(tmp_path: Path) -> Iterator[SessionRunner]:
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, 4], "x")
        tf.nn.softmax(tf.nn.relu(tf.matmul(x, tf.constant(KERNEL), name="product"), name="active"), name="y")
    (tmp_path / "m.pb").write_bytes(graph.as_graph_def().SerializeToString())
    with FORMAT.open(ModelFile.at(tmp_path / "m.pb"), tmp_path) as runner:
        assert isinstance(runner, SessionRunner)
        yield runner


def test_a_graph_goes_on_as_tensors_of_a_function_with_gradients(session: SessionRunner) -> None:
    goes_on = tf.function(lambda x: tf.reduce_sum(session.live_outputs([x])["y"][:, 0]), autograph=False)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        score = goes_on(x)
    shares, active = expected()["Softmax"], expected()["Relu"] > 0
    by_hand = (shares[:, :1] * ((np.arange(3) == 0) - shares) * active) @ KERNEL.T
    np.testing.assert_allclose(tape.gradient(score, x).numpy(), by_hand, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(session.predict({"x": X})["y"], shares, rtol=1e-5)


def test_operators_of_a_graph_are_reduced_in_its_session(session: SessionRunner) -> None:
    found = session.reducing(mean_of).call({"x": X})
    np.testing.assert_allclose(found["product"]["mean"], expected()["MatMul"].mean(0), rtol=1e-5, atol=1e-6)
    assert found["y"]["rows"] == 5
    assert list(session.reducing(mean_of, ["active"]).call({"x": X})) == ["active"]


def test_tensors_of_a_graph_have_names(session: SessionRunner) -> None:
    assert session.tensor_name("x", is_input=True) == "x:0"
    assert session.tensor_name("active", is_input=False) == "active:0"
    assert session.tensor_name("gone", is_input=False) is None
    assert session.output_tensor("y") == "y:0"
    graph, live = session.session_graph()
    feed = session.session_feed({"x": X})
    assert live.graph is graph
    np.testing.assert_allclose(live.run("product:0", feed), expected()["MatMul"], rtol=1e-5, atol=1e-6)
    assert session.trackable is None


def test_a_file_that_tensorflow_cannot_read_is_explained(tmp_path: Path) -> None:
    for name, content in (("binary.pb", b"\x0a\xff\xff\xff"), ("text.pbtxt", b"node { nam: 1 }")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CannotRun, match="read the graph"):
            import_graph(ModelFile.at(tmp_path / name), (), (), {}, {}, {})


@pytest.mark.parametrize("error", [ValueError, tf.errors.InvalidArgumentError])
@pytest.mark.parametrize(
    "text", ["Incompatible shapes: [32,3] vs. [8,3]", "Cannot reshape a tensor with 4 elements to shape [8,4]"]
)
def test_sizes_that_do_not_go_together_are_no_old_file(tmp_path: Path, error: type, text: str) -> None:
    """Neither while it runs nor while it is traced."""
    (tmp_path / "m").write_bytes(b"")
    for doing in (tf_calls.RUNNING, "tracing it"):
        raised = error(text) if error is ValueError else error(None, None, text)
        with (
            pytest.raises((CannotRun, BadInput), match="--batch-size"),
            tf_calls.explained(ModelFile.at(tmp_path / "m"), doing),
        ):
            raise raised
