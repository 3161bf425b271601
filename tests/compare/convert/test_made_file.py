"""Which input and output of a converted file is which of the source's."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stethoscope.compare.convert.converter import Made
from stethoscope.compare.convert.made_file import fed_as, paired
from stethoscope.types import TensorSpec


def test_by_what_is_known_then_by_name_then_by_place():
    assert paired(["a", "b"], {"a": "x"}, [], ["x", "b"]) == {"a": "x", "b": "b"}
    assert paired(["p", "q"], {}, ["y", "x"], ["x", "y"]) == {"p": "y", "q": "x"}
    assert paired(["p", "q"], {}, [], ["x", "y"]) == {"p": "x", "q": "y"}
    assert paired(["p", "q"], {}, [], ["x"]) == {}


def test_a_feed_gets_the_names_and_dtypes_of_the_new_file():
    made = Made(Path("model.onnx"), inputs={"serving_rows": "rows"})
    originals = [TensorSpec("rows", (None, 2), "float64"), TensorSpec("unused", (None,), "int32")]
    specs = [TensorSpec("serving_rows", (None, 2), "float32")]
    found = fed_as({"rows": np.ones((3, 2)), "unused": np.ones(3, np.int32)}, made, originals, specs)
    assert found.keys() == {"serving_rows"}
    assert found["serving_rows"].dtype == np.float32


def test_real_rows_stay_real_where_only_a_scale_can_make_integers_of_them():
    made = Made(Path("model.tflite"))
    specs = [TensorSpec("rows", (None, 2), "int8")]
    found = fed_as({"rows": np.full((1, 2), 0.5, np.float32)}, made, [TensorSpec("rows", (None, 2), "float32")], specs)
    assert found["rows"].dtype == np.float32
