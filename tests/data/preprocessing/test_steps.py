"""Each step: what it does to arrays, that its code does the same, and what it says no to."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.data.preprocessing import all_steps
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.errors import BadInput, BadSetting
from tests.frameworks import keras
from tests.tables import each

RNG = np.random.default_rng(0)
PHOTOS = RNG.integers(0, 256, (3, 23, 31, 3), dtype=np.uint8)
GREY = RNG.integers(0, 256, (3, 8, 9), dtype=np.uint8)
TABLE = RNG.normal(3, 2, (7, 4)).astype("float32")
LABELS = np.array([2, 0, 1, 2])
WORDS = np.array(["cat", "dog", "cat", "owl"])


def prepare(values, *steps, of="x"):
    return Preparation.from_json([{"of": of, **step} for step in steps]).apply_to(of, values)


def by_code(values, *steps):
    names = {"x": values}
    exec(Preparation.from_json([{"of": "x", **step} for step in steps]).code(), names)
    return np.asarray(names["x"])


CASES = {
    "scale": [
        (PHOTOS, {"factor": 1 / 255}),
        (PHOTOS, {"factor": 1 / 127.5, "offset": -1}),
        (TABLE.astype("float64"), {"factor": 3.3}),
    ],
    "standardize": [
        (TABLE, {"mean": [3.0], "std": [2.0]}),
        (TABLE, {"mean": [1, 2, 3, 4], "std": [1, 2, 0, 4]}),
        (PHOTOS.transpose(0, 3, 1, 2), {"mean": [1, 2, 3], "std": [1, 2, 3], "axis": 1}),
    ],
    "imagenet": [
        (PHOTOS, {"mode": "caffe"}),
        (PHOTOS, {"mode": "torch"}),
        (PHOTOS, {"mode": "tf"}),
        (PHOTOS.transpose(0, 3, 1, 2), {"mode": "caffe", "axis": 1}),
        (PHOTOS.transpose(0, 3, 1, 2), {"mode": "torch", "axis": 1}),
    ],
    "transpose": [(PHOTOS, {"axes": [0, 3, 1, 2]})],
    "one_hot": [(LABELS, {"classes": 4}), (LABELS[:, None], {"classes": 3}), (GREY % 5, {"classes": 5})],
    "from_one_hot": [(np.eye(4)[[2, 0, 3]], {})],
    "to_class_numbers": [
        (WORDS, {"classes": ["cat", "dog", "owl"]}),
        (np.array([[1.0], [3.0]]), {"classes": ["1", "2", "3"]}),
    ],
    "resize": [
        (PHOTOS, {"height": h, "width": w, "method": m, "fit": f, "antialias": a})
        for h, w in ((10, 12), (40, 30), (23, 31), (7, 50))
        for m in ("bilinear", "nearest")
        for f in ("stretch", "crop", "pad")
        for a in ((False, True) if m == "bilinear" else (False,))
    ]
    + [(GREY, {"height": 4, "width": 4})],
    "pad": [
        ([[1, 2], [1, 2, 3, 4, 5], [9]], {"length": 3, "side": side, "cut": cut, "value": 7})
        for side in ("pre", "post")
        for cut in ("pre", "post")
    ]
    + [(TABLE[None], {"length": 9})],
    "cast": [(PHOTOS, {"dtype": "float32"}), (LABELS, {"dtype": "uint8"})],
    "channels": [
        (GREY, {"mode": "grey_to_rgb"}),
        (GREY[..., None], {"mode": "grey_to_rgb"}),
        (PHOTOS, {"mode": "rgb_to_bgr"}),
        (PHOTOS, {"mode": "rgb_to_grey"}),
        (PHOTOS.astype("float32"), {"mode": "rgb_to_grey"}),
        (np.concatenate([PHOTOS, PHOTOS[..., :1]], -1), {"mode": "drop_alpha"}),
        (PHOTOS.transpose(0, 3, 1, 2), {"mode": "rgb_to_grey", "axis": 1}),
    ],
    "flatten": [(PHOTOS, {}), (LABELS, {})],
    "reshape": [(PHOTOS, {"shape": [31, -1]}), (GREY, {"shape": [72]})],
    "add_axis": [(GREY, {}), (LABELS, {"axis": 1})],
    "remove_axis": [(GREY[..., None], {})],
    "select_columns": [(TABLE, {"columns": [3, 0]})],
    "fill_missing": [
        (np.where(TABLE > 3, np.nan, TABLE).astype("float32"), {"value": [5]}),
        (np.where(TABLE > 3, np.inf, TABLE).astype("float32"), {"value": [1, 2, 3, 4], "infinite": True}),
    ],
    "clip": [(TABLE, {"least": 0, "most": 2.5}), (PHOTOS, {"least": -5, "most": 100})],
    "quantise": [(TABLE, {"scale": 0.02, "zero_point": -3}), (PHOTOS / 255, {"scale": 1 / 255, "dtype": "uint8"})],
}


def test_every_step_is_tried():
    assert set(CASES) == set(all_steps())


@each("kind", CASES)
def test_the_code_does_what_the_step_does(kind):
    for values, params in CASES[kind]:
        before = [np.array(row) for row in values]
        given = [np.array(row) for row in values] if isinstance(values, list) else values
        applied = prepare(given, {"step": kind, **params})
        copied = by_code(given, {"step": kind, **params})
        assert applied.shape == copied.shape, params
        assert applied.dtype == copied.dtype, params
        np.testing.assert_allclose(applied, copied, rtol=1e-5, atol=1e-3)
        assert all(
            np.array_equal(row, old, equal_nan=row.dtype.kind == "f") for row, old in zip(given, before, strict=True)
        )
        assert all_steps()[kind].words(all_steps()[kind].checked(params))


@each("kind", CASES)
def test_rows_one_by_one_are_the_rows_at_once(kind):
    for values, params in CASES[kind]:
        whole = prepare(values, {"step": kind, **params})
        for place in range(len(whole)):
            alone = prepare(values[place : place + 1], {"step": kind, **params})[0]
            np.testing.assert_allclose(alone, whole[place], rtol=1e-6)


def test_resizing_is_tensorflows():
    import tensorflow as tf

    for method, antialias in (("bilinear", False), ("bilinear", True), ("nearest", False)):
        for size in ((11, 57), (224, 100), (3, 2)):
            ours = prepare(
                PHOTOS,
                {"step": "resize", "height": size[0], "width": size[1], "method": method, "antialias": antialias},
            )
            theirs = tf.image.resize(PHOTOS, size, method=method, antialias=antialias).numpy()
            np.testing.assert_allclose(ours, theirs, atol=1e-2 if antialias else 2e-3)


def test_resizing_with_antialias_is_pillows_up_to_its_rounding():
    from PIL import Image

    for size in ((11, 57), (60, 40), (5, 4)):
        ours = prepare(PHOTOS, {"step": "resize", "height": size[0], "width": size[1], "antialias": True})
        theirs = np.stack(
            [np.array(Image.fromarray(photo).resize(size[::-1], Image.Resampling.BILINEAR)) for photo in PHOTOS]
        )
        assert np.abs(ours - theirs).max() <= 1.01


def test_images_of_several_sizes_become_one_array():
    images = [PHOTOS[0], PHOTOS[1][:10], PHOTOS[2][:, :5]]
    with pytest.raises(BadInput, match="Resize"):
        prepare(images)
    made = prepare(images, {"step": "scale", "factor": 1 / 255}, {"step": "resize", "height": 8, "width": 8})
    assert made.shape == (3, 8, 8, 3)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, by_code(images, {"step": "resize", "height": 8, "width": 8}) / 255, atol=1e-5)


def test_standardizing_with_measured_numbers_gives_mean_0_and_deviation_1():
    made = prepare(TABLE, {"step": "standardize", "mean": TABLE.mean(0).tolist(), "std": TABLE.std(0).tolist()})
    np.testing.assert_allclose(made.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(made.std(0), 1, atol=1e-5)


def test_preprocess_input_of_each_family():
    for mode, module in (
        ("caffe", keras.applications.resnet50),
        ("torch", keras.applications.densenet),
        ("tf", keras.applications.mobilenet_v2),
    ):
        theirs = module.preprocess_input(PHOTOS.astype("float32"))
        np.testing.assert_allclose(prepare(PHOTOS, {"step": "imagenet", "mode": mode}), theirs, atol=1e-4)


@each(
    ("values", "step", "says"),
    [
        (WORDS, {"step": "scale", "factor": 2}, "expected numbers, got .* text"),
        (LABELS, {"step": "one_hot", "classes": 2}, "from 0 to 1, got 2"),
        (WORDS, {"step": "to_class_numbers", "classes": ["cat"]}, "'dog'"),
        (TABLE, {"step": "resize", "height": 2, "width": 2}, "expected images"),
        (TABLE, {"step": "transpose", "axes": [0, 2, 3, 1]}, "expected 4 axes"),
        (TABLE, {"step": "select_columns", "columns": [9]}, "column 9"),
        (TABLE, {"step": "remove_axis"}, "size 1"),
        (TABLE, {"step": "reshape", "shape": [3, 2]}, "6 values"),
        (TABLE, {"step": "standardize", "mean": [1, 2], "std": [1, 1]}, "2 values in axis -1"),
        (TABLE * np.nan, {"step": "cast", "dtype": "int32"}, "nan"),
        (PHOTOS, {"step": "cast", "dtype": "int8"}, "-128 to 127"),
        (PHOTOS, {"step": "channels", "mode": "grey_to_rgb"}, "1 channels"),
        (LABELS, {"step": "pad", "length": 3}, "sequences"),
    ],
)
def test_what_does_not_apply_is_said(values, step, says):
    with pytest.raises(BadInput, match=says) as raised:
        prepare(values, step)
    assert "Step " in str(raised.value)


@each(
    ("step", "says"),
    [
        ({"step": "scale"}, "'factor'"),
        ({"step": "scale", "factor": float("nan")}, "a number"),
        ({"step": "scale", "factor": True}, "a number"),
        ({"step": "scale", "factor": 1, "power": 2}, "'power'"),
        ({"step": "resize", "height": 0, "width": 2}, "from 1 to"),
        ({"step": "resize", "height": 1.5, "width": 2}, "whole number"),
        ({"step": "pickle"}, "no such step"),
        ({"step": ["scale"]}, "expected steps"),
        ({"step": "cast", "dtype": "object"}, "one of"),
        ({"step": "transpose", "axes": [1, 0]}, "0 \\(the rows\\) first"),
        ({"step": "standardize", "mean": [1], "std": [1, 2]}, "as many std"),
        ({"step": "scale", "factor": 1, "of": ""}, "array's name"),
        ({"step": "clip", "least": 2, "most": 1}, "up to most"),
    ],
)
def test_what_makes_no_sense_is_said(step, says):
    with pytest.raises(BadSetting, match=says):
        Preparation.from_json([step])
