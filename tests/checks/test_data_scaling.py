"""Checks of scale: inputs, targets, images scaled twice, held-out rows made differently."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.input_route import input_route
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.tasks.profile import profile_data
from stethoscope.types import Architecture, Layer
from tests.checks.architectures import architecture, layer
from tests.checks.training_evidence import run, training, trial
from tests.tables import each

RANDOM = np.random.default_rng(0)
TABLE = RANDOM.normal(size=(200, 8)).astype(np.float32)
IMAGES = RANDOM.uniform(size=(60, 16, 16, 1)).astype(np.float32)
LABELS = np.arange(200) % 3


def table_model(*first: Layer, loss: str = "sparse_categorical_crossentropy", optimizer: str = "Adam") -> Architecture:
    hidden = layer("hidden", "Dense", (None, 16), activation="relu")
    last = layer("kind", "Dense", (None, 3), activation="softmax")
    if loss in ("mse", "mae"):
        last = layer("kind", "Dense", (None, 1), activation="linear")
    return architecture(layer("x", "InputLayer", (None, 8)), *first, hidden, last, loss=loss, optimizer=optimizer)


def image_model(*first: Layer, behind: tuple[Layer, ...] = (), **convolution: object) -> Architecture:
    return architecture(
        layer("x", "InputLayer", (None, 16, 16, 1)),
        *first,
        layer("strokes", "Conv2D", (None, 14, 14, 8), **convolution),
        *behind,
        layer("flat", "Flatten", (None, 1568)),
        layer("kind", "Dense", (None, 3), activation="softmax"),
    )


def found(check: str, model: Architecture, more=None, **arrays) -> list[Finding]:
    data = profile_data({name: np.asarray(array) for name, array in arrays.items()}, model, "rows.npz")
    evidence = EvidenceSet(architecture=model, fit=FitSettings(), data=data, training=more)
    return list(all_checks()[check].run(evidence))


def incomes() -> np.ndarray:
    x = TABLE.copy()
    x[:, 2] = 50_000 + 20_000 * x[:, 2]
    return x


def test_an_unscaled_column_is_named_with_the_users_numbers():
    (finding,) = found("input-scaling", table_model(), x=incomes(), y=LABELS)
    assert (finding.severity, finding.fault, finding.where) == (Severity.MEDIUM, Fault.PREPROCESSING, "input:x")
    assert "hidden" in finding.message and "fold" in finding.message
    assert finding.fix.method == "standardise"


def test_pixels_are_to_be_divided_by_255():
    (finding,) = found("input-scaling", image_model(), x=IMAGES * 255, y=LABELS[:60])
    assert (finding.severity, finding.fix.method, finding.fix.divisor) == (Severity.MEDIUM, "divide", 255)


@each("x", [TABLE, TABLE * 2 + 1, np.abs(TABLE), TABLE > 0])
def test_values_of_ordinary_size_are_left_alone(x):
    assert not [one for one in found("input-scaling", table_model(), x=x, y=LABELS) if one.severity >= Severity.MEDIUM]


@each(
    "first",
    [
        layer("norm", "Normalization", (None, 8)),
        layer("norm", "BatchNormalization", (None, 8)),
        layer("words", "Embedding", (None, 8, 4)),
        layer("own", "Lambda", (None, 8)),
        layer("divided", "TrueDivide", (None, 8)),
    ],
)
def test_a_model_that_scales_or_looks_up_its_inputs_is_left_alone(first):
    assert not found("input-scaling", table_model(first), x=incomes(), y=LABELS)


def test_a_rescaling_layer_is_reckoned_with():
    rescaling = layer("to_one", "Rescaling", (None, 16, 16, 1), scale=1 / 255, offset=0.0)
    assert not found("input-scaling", image_model(rescaling), x=IMAGES * 255, y=LABELS[:60])


def test_frozen_first_weights_know_their_scale():
    assert not found("input-scaling", image_model(trainable=False), x=IMAGES * 255, y=LABELS[:60])


def test_a_normalisation_behind_the_first_convolution_takes_pixels_down_to_a_remark():
    behind = (layer("norm", "BatchNormalization", (None, 14, 14, 8)),)
    (finding,) = found("input-scaling", image_model(behind=behind), x=IMAGES * 255, y=LABELS[:60])
    assert finding.severity is Severity.LOW


def test_training_that_shows_it_makes_it_high():
    shown = training(trial("scale-inputs", 0.9, effect=0.7), base=run(0.2))
    (finding,) = found("input-scaling", table_model(), shown, x=incomes(), y=LABELS)
    assert finding.severity is Severity.HIGH and "0.9" in finding.message and "0.2" in finding.message


def test_a_small_gain_makes_it_medium_even_for_moderate_values():
    shown = training(trial("scale-inputs", 0.88, effect=0.08), base=run(0.8))
    (finding,) = found("input-scaling", table_model(), shown, x=TABLE + 5, y=LABELS)
    assert finding.severity is Severity.MEDIUM


def test_training_that_learns_all_the_same_makes_it_a_remark():
    shown = training(trial("scale-inputs", 0.97, helps=False, effect=0.01), base=run(0.96))
    (finding,) = found("input-scaling", table_model(), shown, x=incomes(), y=LABELS)
    assert finding.severity is Severity.LOW


def test_a_run_that_never_got_going_shows_nothing():
    barely = training(base=run(0.1, epochs_done=0.1, stopped="time"))
    (finding,) = found("input-scaling", table_model(), barely, x=incomes(), y=LABELS)
    assert finding.severity is Severity.MEDIUM


def test_where_another_fault_hides_the_effect_the_rule_stands():
    hidden = training(trial("scale-inputs", 0.0, helps=False, effect=0.0), base=run(0.0))
    (finding,) = found("input-scaling", table_model(), hidden, x=incomes(), y=LABELS)
    assert finding.severity is Severity.MEDIUM


def test_large_targets():
    y = RANDOM.normal(size=200) * 90_000 + 300_000
    (finding,) = found("target-scaling", table_model(loss="mse"), x=TABLE, y=y)
    assert (finding.severity, finding.where) == (Severity.MEDIUM, "target:kind")
    assert finding.fix.kind == "scale-targets"


@pytest.mark.parametrize(("size", "optimizer", "severe"), [(50.0, "SGD", True), (50.0, "Adam", False)])
def test_plain_gradient_descent_bears_less(size, optimizer, severe):
    model = table_model(loss="mse", optimizer=optimizer)
    findings = found("target-scaling", model, x=TABLE, y=RANDOM.normal(size=200) * size)
    assert any(one.severity >= Severity.MEDIUM for one in findings) == severe


@pytest.mark.parametrize(("loss", "y"), [("mse", TABLE[:, 0]), ("sparse_categorical_crossentropy", LABELS)])
def test_scaled_targets_and_classes_are_left_alone(loss, y):
    assert not found("target-scaling", table_model(loss=loss), x=TABLE, y=y)


def test_when_only_both_together_help_the_fix_is_both():
    shown = training(trial("scale-both", 0.95, effect=0.9), base=run(0.0))
    y = RANDOM.normal(size=200) * 90_000
    (finding,) = found("target-scaling", table_model(loss="mse"), shown, x=incomes(), y=y)
    assert finding.severity is Severity.HIGH
    assert [fix.kind for fix in finding.fix.fixes] == ["scale-inputs", "scale-targets"]


def test_images_scaled_before_a_model_that_scales_them():
    rescaling = layer("to_one", "Rescaling", (None, 16, 16, 1), scale=1 / 255, offset=0.0)
    (finding,) = found("rescaled-twice", image_model(rescaling), x=IMAGES, y=LABELS[:60])
    assert finding.severity is Severity.MEDIUM and "to_one" in finding.message
    assert not found("input-scaling", image_model(rescaling), x=IMAGES, y=LABELS[:60])


def test_images_divided_twice_in_the_data():
    (finding,) = found("rescaled-twice", image_model(), x=IMAGES / 255, y=LABELS[:60])
    assert "twice" in finding.message
    assert not found("rescaled-twice", image_model(), x=IMAGES, y=LABELS[:60])
    assert not found("rescaled-twice", image_model(), x=IMAGES * 255, y=LABELS[:60])


def test_doubled_scaling_that_stops_learning_is_high():
    (finding,) = found("rescaled-twice", image_model(), training(base=run(0.1)), x=IMAGES / 255, y=LABELS[:60])
    assert finding.severity is Severity.HIGH


def test_test_rows_left_unscaled():
    (finding,) = found("split-difference", image_model(), x=IMAGES, y=LABELS[:60], x_test=IMAGES[:30] * 255)
    assert finding.severity is Severity.HIGH and "x_test" in finding.message


def test_test_rows_of_another_shape_or_kind():
    (shape,) = found("split-difference", image_model(), x=IMAGES, y=LABELS[:60], x_test=IMAGES[:30, ..., 0])
    assert shape.severity is Severity.HIGH and "(16, 16)" in shape.message
    moved = TABLE.copy()
    moved[:, 5] += 3
    (shift,) = found("split-difference", table_model(), x=TABLE, y=LABELS, x_test=moved)
    assert shift.severity is Severity.MEDIUM and "Column 5" in shift.message


def test_labels_encoded_otherwise():
    (finding,) = found("split-difference", table_model(), x=TABLE, y=LABELS, y_test=np.eye(3)[LABELS])
    assert (finding.fault, finding.where) == (Fault.LABELS, "target:kind")


def test_test_rows_like_the_others_are_left_alone():
    assert not found("split-difference", table_model(), x=TABLE, y=LABELS, x_test=TABLE[::2], y_test=LABELS[::2])


def test_without_arrays_for_the_inputs_nothing_is_said():
    model = dataclasses.replace(table_model(), inputs=())
    for check in ("input-scaling", "rescaled-twice", "split-difference"):
        assert not found(check, model, unknown=TABLE)


def test_an_input_is_followed_through_layers_that_keep_its_scale():
    model = image_model(
        layer("drop", "Dropout", (None, 16, 16, 1)),
        layer("half", "Rescaling", (None, 16, 16, 1), scale=0.5, offset=1.0),
        layer("again", "Rescaling", (None, 16, 16, 1), scale=10.0, offset=-2.0),
    )
    route = input_route(model, "x")
    assert (route.scale, route.offset, route.first.path) == (5.0, 8.0, "strokes")
    assert route.rescaling == ("half", "again") and route.reaches_weights
