"""What the layers alone tell: activations, shapes, dropout, frozen parts, learning rates."""

from __future__ import annotations

import dataclasses

import pytest

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Fault, Severity
from stethoscope.checks.judging.examination import examine
from stethoscope.data.study.profiles import ArrayProfile, DataEvidence, TargetProfile
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.types import Status
from tests.checks.architectures import architecture, bias, layer, points, tensor, weights
from tests.checks.training_evidence import run, training, trial
from tests.tables import each

STATIC = (
    "linear-hidden-layers",
    "softmax-hidden",
    "doubled-activation",
    "missing-flatten",
    "vanishing-spatial-size",
    "bias-before-batchnorm",
    "dropout-placement",
    "dropout-rate",
    "recurrent-activation",
    "frozen-layers",
    "learning-rate-range",
    "constant-initialisation",
)


def found(check_id, **evidence):
    (outcome,) = examine(EvidenceSet(**evidence), [all_checks()[check_id]])
    assert outcome.status == Status.OK, outcome.reason
    return outcome.findings


def dense(path, units=16, act="linear", **config):
    return layer(path, "Dense", (None, units), units=units, activation=act, **config)


def conv(path, shape, act="linear", size=3, **config):
    return layer(path, "Conv2D", shape, filters=shape[-1], activation=act, kernel_size=[size, size], **config)


def labels(shape, kind="classes"):
    array = ArrayProfile("y", shape, "int64")
    target = TargetProfile(array, kind, tuple(map(float, range(3))), (80, 80, 80))
    return DataEvidence("data.npz", targets={"kind": target}, rows=shape[0])


@each("check_id", STATIC)
def test_a_sound_network_is_left_alone(check_id):
    sound = points(dense("one", 32, "relu"), layer("drop", "Dropout", (None, 32), rate=0.3), dense("two", 16, "relu"))
    assert found(check_id, architecture=sound) == ()


@each("check_id", STATIC)
def test_layers_without_connections_or_settings_are_no_reason_to_guess(check_id):
    loose = architecture(
        layer("a", "Weights", None, ()),
        layer("b", "Dense", None, ()),
        layer("c", "Conv", (1, 8, 4, 4), ("a",)),
        layer("d", "Gemm", (1, 3), ("c",)),
    )
    assert found(check_id, architecture=dataclasses.replace(loose, output_layers=(), compile=None)) == ()


@each("check_id", STATIC)
def test_without_an_architecture_it_is_skipped(check_id):
    (outcome,) = examine(EvidenceSet(), [all_checks()[check_id]])
    assert outcome.status == Status.SKIPPED


def test_two_linear_maps_in_a_row_are_named_with_a_fix():
    (finding,) = found("linear-hidden-layers", architecture=points(dense("hidden")))
    assert (finding.severity, finding.fault, finding.where) == (Severity.MEDIUM, Fault.ACTIVATION, "hidden")
    assert "relu" in finding.fix.code()


@each("between", ["Dropout", "Flatten", "BatchNormalization", "MaxPooling2D"])
def test_what_is_no_nonlinearity_does_not_hide_it(between):
    net = points(dense("hidden"), layer("step", between, (None, 16), rate=0.1))
    assert found("linear-hidden-layers", architecture=net)


def test_linear_layers_are_high_only_when_nothing_is_learned_and_relu_helps():
    net = points(dense("hidden"))
    works = found("linear-hidden-layers", architecture=net, training=training(base=run(0.97)))
    stuck = found(
        "linear-hidden-layers", architecture=net, training=training(trial("relu-hidden", 0.9), base=run(0.02))
    )
    slow = found("linear-hidden-layers", architecture=net, training=training(base=run(0.5)))
    assert [item[0].severity for item in (works, stuck, slow)] == [Severity.LOW, Severity.HIGH, Severity.MEDIUM]


@each(
    "net",
    [
        points(dense("wide", 32, "relu"), dense("code", 4), dense("again", 32, "relu")),
        architecture(
            layer("image", "InputLayer", (None, 8, 8, 64)),
            conv("project", (None, 8, 8, 16), size=1),
            layer("norm", "BatchNormalization", (None, 8, 8, 16)),
            conv("expand", (None, 8, 8, 96), "relu6", size=1),
        ),
        architecture(
            layer("image", "InputLayer", (None, 8, 8, 16)),
            conv("project", (None, 8, 8, 16), size=1),
            layer("sum", "Add", (None, 8, 8, 16), ("project", "image")),
            conv("next", (None, 8, 8, 16), "relu"),
        ),
        points(dense("hidden"), layer("bend", "Activation", (None, 16), activation="relu")),
        points(
            dense("hidden"), layer("norm", "BatchNormalization", (None, 16)), layer("bend", "LeakyReLU", (None, 16))
        ),
        points(),
    ],
    ids=["bottleneck", "linear bottleneck", "sum", "activation layer", "normalised", "linear model"],
)
def test_linear_on_purpose_is_left_alone(net):
    assert found("linear-hidden-layers", architecture=net) == ()


def test_softmax_between_layers_and_as_attention():
    (finding,) = found("softmax-hidden", architecture=points(dense("hidden", 16, "softmax")))
    assert finding.where == "hidden" and finding.severity == Severity.MEDIUM
    gate = points(dense("scores", 8, "softmax"), layer("weigh", "Multiply", (None, 8), ("scores", "columns")))
    assert found("softmax-hidden", architecture=gate) == ()


@pytest.mark.parametrize(
    ("first", "second", "severity"),
    [("relu", "relu", Severity.LOW), ("softmax", "softmax", Severity.MEDIUM), ("relu", "softmax", Severity.MEDIUM)],
)
def test_two_activations_in_a_row(first, second, severity):
    net = architecture(
        layer("columns", "InputLayer", (None, 8)),
        dense("kind", 3, first),
        layer("again", "Activation", (None, 3), activation=second),
    )
    (finding,) = found("doubled-activation", architecture=net)
    assert (finding.severity, finding.where) == (severity, "again")


def image_head(before="Conv2D"):
    source = conv("map", (None, 6, 6, 8), "relu") if before == "Conv2D" else layer("map", before, (None, 6, 8))
    shape = (None, 6, 6, 3) if before == "Conv2D" else (None, 6, 3)
    head = layer("kind", "Dense", shape, units=3, activation="softmax")
    return architecture(layer("image", "InputLayer", (None, 8, 8, 1)), source, head)


def test_a_head_on_every_position_is_named_when_the_labels_are_one_each():
    (finding,) = found("missing-flatten", architecture=image_head(), data=labels((240,)))
    assert (finding.severity, finding.where) == (Severity.CRITICAL, "kind")
    assert "6 × 6 × 3" in finding.message


def test_labels_for_every_position_or_none_at_all():
    assert found("missing-flatten", architecture=image_head(), data=labels((240, 6, 6))) == ()
    (unsure,) = found("missing-flatten", architecture=image_head())
    assert unsure.severity == Severity.MEDIUM
    assert found("missing-flatten", architecture=image_head("LSTM")) == ()
    (steps,) = found("missing-flatten", architecture=image_head("LSTM"), data=labels((240, 1)))
    assert "return_sequences=False" in steps.message


def pooled(last_size, channels=8):
    return architecture(
        layer("image", "InputLayer", (None, 16, 16, 1)),
        conv("look", (None, 16, 16, channels), "relu"),
        layer("pool", "MaxPooling2D", (None, last_size, last_size, channels), pool_size=[4, 4]),
        conv("last", (None, last_size, last_size, channels), "relu"),
        layer("flat", "Flatten", (None, 8)),
        dense("kind", 3, "softmax"),
    )


def test_a_convolution_on_one_pixel_is_named():
    (finding,) = found("vanishing-spatial-size", architecture=pooled(1))
    assert (finding.where, finding.severity) == ("last", Severity.MEDIUM)
    assert finding.fix.to_json()["params"]["layer"] == "pool"
    assert found("vanishing-spatial-size", architecture=pooled(4)) == ()


def test_dropout_after_the_output():
    def net(loss, units):
        return architecture(
            layer("columns", "InputLayer", (None, 8)),
            dense("kind", units),
            layer("drop", "Dropout", (None, units), rate=0.5),
            loss=loss,
        )

    (regression,) = found("dropout-placement", architecture=net("mean_squared_error", 1))
    assert regression.severity == Severity.HIGH and "too low" in regression.message
    (classes,) = found("dropout-placement", architecture=net("sparse_categorical_crossentropy", 3))
    assert classes.severity == Severity.MEDIUM
    helps = training(trial("no-dropout", 0.9))
    assert (
        found("dropout-placement", architecture=net("sparse_categorical_crossentropy", 3), training=helps)[0].severity
        == Severity.HIGH
    )


@each(
    ("rate", "evidence", "severity"),
    [
        (0.9, None, Severity.MEDIUM),
        (1.0, None, Severity.CRITICAL),
        (0.9, training(base=run(0.95)), Severity.LOW),
        (0.5, training(trial("no-dropout", 0.9)), Severity.MEDIUM),
        (0.5, None, None),
    ],
)
def test_dropout_rates(rate, evidence, severity):
    net = points(dense("hidden", 16, "relu"), layer("drop", "Dropout", (None, 16), rate=rate))
    findings = found("dropout-rate", architecture=net, training=evidence)
    assert [finding.severity for finding in findings] == ([severity] if severity is not None else [])


def test_recurrent_activations():
    def net(**config):
        return points(layer("memory", "LSTM", (None, 16), units=16, **config))

    (finding,) = found("recurrent-activation", architecture=net(activation="relu"))
    assert (finding.severity, finding.fix.activation) == (Severity.MEDIUM, "tanh")
    broke = training(base=run(0.0, stopped="non-finite"))
    assert (
        found("recurrent-activation", architecture=net(activation="relu"), training=broke)[0].severity == Severity.HIGH
    )
    assert found("recurrent-activation", architecture=net(activation="tanh", recurrent_activation="sigmoid")) == ()
    inner = {"class_name": "GRU", "config": {"units": 8, "activation": "linear"}}
    assert found("recurrent-activation", architecture=points(layer("both", "Bidirectional", (None, 16), layer=inner)))


def test_frozen_layers_by_what_is_frozen():
    zeros = {"bias_initializer": {"class_name": "Zeros", "config": {}}}
    everything = points(dense("hidden", 16, "relu", trainable=False))
    frozen_head = layer("kind", "Dense", (None, 3), units=3, activation="softmax", trainable=False)
    everything = architecture(*everything.layers[:-1], frozen_head)
    (finding,) = found("frozen-layers", architecture=everything)
    assert finding.severity == Severity.HIGH and "changes nothing" in finding.message
    base = points(dense("base", 16, "relu", trainable=False, **zeros))
    assert found("frozen-layers", architecture=base, weights=weights(bias("base", distinct=3))) == ()
    (random,) = found("frozen-layers", architecture=base, weights=weights(bias("base")))
    assert random.severity == Severity.MEDIUM and "random" in random.message
    uncompiled = dataclasses.replace(everything, compile=None)
    assert found("frozen-layers", architecture=uncompiled) == ()
    assert found("frozen-layers", architecture=uncompiled, fit=FitSettings(epochs=3))


@each(
    ("optimizer", "rate", "severity"),
    [
        ("Adam", 1.0, Severity.MEDIUM),
        ("SGD", 0.5, None),
        ("SGD", 3.0, Severity.MEDIUM),
        ("Adam", 0.0, Severity.CRITICAL),
        ("Adam", 1e-9, Severity.MEDIUM),
        ("Adam", 1e-5, None),
    ],
)
def test_learning_rates_by_optimizer(optimizer, rate, severity):
    findings = found("learning-rate-range", architecture=points(optimizer=optimizer, rate=rate))
    assert [finding.severity for finding in findings] == ([severity] if severity is not None else [])


def test_a_learning_rate_that_works_is_a_remark_and_one_that_does_not_is_high():
    net = points(optimizer="SGD", rate=3.0)
    works = found("learning-rate-range", architecture=net, training=training(base=run(0.8)))
    fails = found("learning-rate-range", architecture=net, training=training(trial("rate-down", 0.9), base=run(0.0)))
    assert (works[0].severity, fails[0].severity) == (Severity.LOW, Severity.HIGH)
    assert found("learning-rate-range", architecture=net, fit=FitSettings(learning_rate=0.01)) == ()


def test_a_bias_before_normalisation_is_a_remark():
    net = points(dense("hidden", use_bias=True), layer("norm", "BatchNormalization", (None, 16), center=True))
    (finding,) = found("bias-before-batchnorm", architecture=net)
    assert finding.severity == Severity.LOW and finding.fix.layers == ("hidden",)


def test_equal_units_by_settings_or_by_weights():
    zeros = {"kernel_initializer": {"class_name": "Zeros", "config": {}}}
    net = points(dense("hidden", 16, "relu", **zeros))
    assert found("constant-initialisation", architecture=net)[0].severity == Severity.CRITICAL
    assert found("constant-initialisation", architecture=net, weights=weights(tensor("hidden"))) == ()
    same = weights(tensor("hidden", identical_columns=15), trained=True)
    assert (
        found("constant-initialisation", architecture=points(dense("hidden", 16, "relu")), weights=same)[0].severity
        == Severity.HIGH
    )
    last = weights(tensor("kind", shape=(16, 3), distinct=1, minimum=0.0, std=0.0))
    assert found("constant-initialisation", architecture=points(dense("hidden", 16, "relu")), weights=last) == ()
