"""Whether values are in the range that a model takes, and the steps that bring them there, as Keras prepares them."""

from __future__ import annotations

import numpy as np

from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.study.profiles import ArrayProfile, Features
from stethoscope.evidence.data_fit.expected_input import ExpectedInput
from stethoscope.evidence.data_fit.fitting_steps import now, range_routes, wrong
from stethoscope.evidence.data_fit.sampled_rows import Statistics
from tests.frameworks import keras
from tests.tables import each


def expected(mode: str, span: tuple[float, float] | None = None, kind: str = "image", **more) -> ExpectedInput:
    axis = -1 if kind == "image" else None
    return ExpectedInput("x", (None, 8, 8, 3), "float32", kind, mode, span, "", axis, **more)


def values(low: float | None, high: float | None, dtype: str = "float32", **more) -> ArrayProfile:
    mean = None if low is None else (low + high) / 2
    return ArrayProfile("x", (9, 8, 8, 3), dtype, low, high, mean, None if low is None else (high - low) / 4, **more)


TOKENS = expected("tokens", (0.0, 99.0), "tokens")
TRAINED = expected("any", kind="table", trained=Statistics((10.0,), (2.0,)))
COLUMNS = expected("any", kind="table", trained=Statistics((10.0, 0.0), (2.0, 1.0)))
BETWEEN = expected("any", (0.0, 10.0), "table")


@each(
    ("model", "profile", "fits"),
    [
        (TOKENS, values(0, 99, integral=True), True),
        (TOKENS, values(0, 100, integral=True), False),
        (TOKENS, values(0, 9.5), False),
        (expected("pixels"), values(0, 255), True),
        (expected("pixels"), values(0, 1), False),
        (expected("signed"), values(-1, 1), True),
        (expected("signed"), values(0, 1), False),
        (expected("signed"), values(0, 255), False),
        (expected("caffe"), values(-123.7, 151), True),
        (expected("caffe"), values(0, 255), False),
        (expected("torch"), values(-2.1, 2.6), True),
        (expected("torch"), values(0, 1), False),
        (expected("torch"), values(-1, 1), False),
        (expected("around 0"), values(None, None), True),
        (expected("pixels"), values(None, None), True),
        (TRAINED, values(2, 18), True),
        (TRAINED, values(1_000, 1_008), False),
        (COLUMNS, values(2, 18), True),
        (BETWEEN, values(1, 9), True),
        (BETWEEN, values(20, 30), False),
        (BETWEEN, values(-500, 500), False),
        (BETWEEN, values(0, 0.01), False),
    ],
)
def test_values_beside_what_the_model_takes(model, profile, fits):
    assert (wrong(model, profile) == "") is fits


def test_the_column_that_is_of_another_unit_is_named():
    features = Features(mean=(10.0, 40.0), std=(2.0, 1.0), minimum=(0.0, 0.0), maximum=(0.0, 0.0))
    assert wrong(COLUMNS, values(0, 50, features=features)).startswith("expected column 1")


@each(
    ("profile", "is_now"),
    [
        (values(None, None), "other"),
        (values(0, 1), "unit"),
        (values(0, 1, "uint8"), "pixels"),
        (values(-1, 1), "signed"),
        (values(0, 255), "pixels"),
        (values(-5, 255), "other"),
    ],
)
def test_how_values_are_is_told_by_their_least_and_most(profile, is_now):
    assert now(profile, image=True) == is_now


PIXELS = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3)).astype(np.float32)


@each(
    ("mode", "family", "given"),
    [
        ("caffe", "resnet50", PIXELS),
        ("caffe", "resnet50", PIXELS / 255),
        ("torch", "densenet", PIXELS),
        ("caffe", "resnet50", PIXELS / 127.5 - 1),
        ("signed", "mobilenet", PIXELS),
        ("signed", "mobilenet", PIXELS / 255),
    ],
)
def test_the_steps_prepare_pictures_as_keras_does(mode, family, given):
    profile = values(float(given.min()), float(given.max()))
    steps = range_routes("x", expected(mode), profile)[0]
    made = Preparation.from_json(steps).apply_to("x", given.astype(np.float32))
    wanted = getattr(keras.applications, family).preprocess_input(PIXELS.copy())
    np.testing.assert_allclose(made, wanted, atol=1e-3)


def test_values_that_no_usual_preparation_explains_have_no_way_back():
    assert range_routes("x", expected("caffe"), values(-500, 3_000)) == []
    assert range_routes("x", expected("caffe"), values(-120, 150)) == [[]]
