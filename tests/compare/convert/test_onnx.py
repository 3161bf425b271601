"""Operators of TFLite that tf2onnx does not know: the ONNX file answers as the TFLite file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stethoscope.compare.convert import all_converters
from tests.compare.convert.sources import answers, converted, opened

ROWS = np.linspace(-4, 4, 40, dtype=np.float32).reshape(10, 4)


def _models() -> dict[str, Callable[[Any], Any]]:
    import tensorflow as tf

    return {
        "GELU": tf.nn.gelu,
        "GELU, by tanh": lambda x: tf.nn.gelu(x, approximate=True),
        "RELU_N1_TO_1": lambda x: tf.maximum(tf.minimum(x, 1.0), -1.0),
    }


@pytest.mark.parametrize("name", ["GELU", "GELU, by tanh", "RELU_N1_TO_1"])
def test_the_onnx_file_answers_as_the_tflite_file(name, tmp_path):
    import tensorflow as tf

    function = tf.function(_models()[name], input_signature=[tf.TensorSpec((None, 4), name="x")])
    path = tmp_path / "one.tflite"
    path.write_bytes(tf.lite.TFLiteConverter.from_concrete_functions([function.get_concrete_function()]).convert())
    with opened(path, {}, tmp_path / "source") as source:
        feed = {source.runner.inputs[0].name: ROWS}
        assert [layer.type for layer in source.architecture.layers] == [name.partition(",")[0]]
        expected = source.runner.predict(feed)
        made = converted(all_converters()["onnx"], source, tmp_path / "made")
        found = answers(made, source, feed, tmp_path / "target")
    for output, values in expected.items():
        np.testing.assert_allclose(found[output], values, atol=2e-6)
