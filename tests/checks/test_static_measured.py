"""What weights, outputs and behaviour tell."""

from __future__ import annotations

from dataclasses import replace

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Fault, Severity
from stethoscope.checks.judging.examination import examine
from stethoscope.data.study.profiles import ArrayProfile, DataEvidence, TargetProfile
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.model import BehaviourEvidence, BehaviourTest
from stethoscope.types import Status
from tests.checks.architectures import activation, architecture, bias, layer, output, points, seen, tensor, weights
from tests.checks.training_evidence import layer as trained_layer
from tests.checks.training_evidence import run, training, trial
from tests.tables import each

MEASURED = (
    "initialiser-scale",
    "output-bias",
    "frozen-batchnorm",
    "nonfinite-weights",
    "nonfinite-activations",
    "dead-relu",
    "saturation",
    "constant-output",
    "batch-dependence",
    "unsteady-output",
    "train-eval-difference",
    "save-load-parity",
    "null-input",
)
NORMAL = {"kernel_initializer": {"class_name": "RandomNormal", "config": {"mean": 0.0, "stddev": 1.0}}}
BEHAVES = BehaviourEvidence(
    True,
    tuple(
        BehaviourTest(name, name, True, "Fine.", 0.0)
        for name in (
            "same-input-tolerance",
            "batch-order",
            "batch-independence",
            "input-dependence",
            "train-vs-inference",
            "save-reload-outputs",
        )
    ),
    "data",
)


def found(check_id, **evidence):
    (outcome,) = examine(EvidenceSet(**evidence), [all_checks()[check_id]])
    assert outcome.status == Status.OK, outcome.reason
    return outcome.findings


def hidden(act="relu", **config):
    return layer("hidden", "Dense", (None, 16), units=16, activation=act, **config)


def behaves(name, detail="It differs.", **more):
    settings = {"passed": False, "max_abs_diff": 0.5, "layer": "hidden", "reason": "", **more}
    return BehaviourEvidence(False, (BehaviourTest(name, name, detail=detail, **settings),), "data")


@each("check_id", MEASURED)
def test_a_sound_network_is_left_alone(check_id):
    evidence = {
        "architecture": points(hidden()),
        "weights": weights(tensor("hidden"), bias("hidden"), tensor("kind", shape=(16, 3)), bias("kind")),
        "activations": seen(
            activation("hidden", dead_units_fraction=0.1), activation("kind", name="softmax"), output=output()
        ),
        "behaviour": BEHAVES,
    }
    assert found(check_id, **evidence) == ()


@each("check_id", MEASURED)
def test_without_evidence_it_is_skipped(check_id):
    (outcome,) = examine(EvidenceSet(), [all_checks()[check_id]])
    assert outcome.status == Status.SKIPPED


def test_weights_far_too_large_by_settings():
    net = architecture(
        layer("pixels", "InputLayer", (None, 784)),
        hidden("sigmoid", **NORMAL),
        layer("kind", "Dense", (None, 3), units=3, activation="softmax"),
    )
    start = weights(tensor("hidden", shape=(784, 30), std=1.0), bias("hidden"))
    (finding,) = found("initialiser-scale", architecture=net, weights=start)
    assert (finding.severity, finding.fault) == (Severity.MEDIUM, Fault.INITIALISATION)
    assert "392 times larger" in finding.message
    helps = training(trial("default-init", 0.9), base=run(0.0))
    assert found("initialiser-scale", architecture=net, weights=start, training=helps)[0].severity == Severity.HIGH
    assert found("initialiser-scale", architecture=net, weights=weights(*start.tensors, trained=True)) == ()


def test_weights_far_too_small_are_a_remark_unless_the_default_helps():
    small = {"kernel_initializer": {"class_name": "RandomNormal", "config": {"stddev": 0.001}}}
    evidence = {"architecture": points(hidden(**small)), "weights": weights(tensor("hidden", std=0.001))}
    assert found("initialiser-scale", **evidence)[0].severity == Severity.LOW
    helps = training(trial("default-init", 0.9), base=run(0.3))
    assert found("initialiser-scale", **evidence, training=helps)[0].severity == Severity.MEDIUM


def test_initialisers_that_divide_by_any_fan_are_left_alone():
    scaled = {"kernel_initializer": {"class_name": "VarianceScaling", "config": {"scale": 2.0, "mode": "fan_out"}}}
    squeeze = weights(tensor("hidden", shape=(96, 4), std=0.7))
    assert found("initialiser-scale", architecture=points(hidden(**scaled)), weights=squeeze) == ()


def test_biases_that_start_far_off():
    (finding,) = found("output-bias", architecture=points(hidden("sigmoid")), weights=weights(bias("hidden", -8.0)))
    assert (finding.severity, finding.where) == (Severity.MEDIUM, "hidden")
    assert found("output-bias", architecture=points(hidden("sigmoid")), weights=weights(bias("hidden", 1.0))) == ()


def test_a_rare_class_and_an_even_output_bias():
    target = TargetProfile(ArrayProfile("y", (1030,), "int64"), "classes", (0.0, 1.0, 2.0), (1000, 20, 10))
    data = DataEvidence("d", targets={"kind": target}, rows=1030)
    (finding,) = found("output-bias", architecture=points(hidden()), weights=weights(bias("kind")), data=data)
    assert finding.severity == Severity.LOW
    assert finding.fix.values[0] > finding.fix.values[2]


def test_normalisation_frozen_before_it_remembers():
    net = points(hidden(), layer("norm", "BatchNormalization", (None, 16), trainable=False))
    fresh = (replace(bias("norm"), name="moving_mean"), replace(bias("norm", 1.0), name="moving_variance"))
    (finding,) = found("frozen-batchnorm", architecture=net, weights=weights(*fresh))
    assert (finding.severity, finding.where) == (Severity.MEDIUM, "norm")
    used = (tensor("norm", "moving_mean", (16,)), tensor("norm", "moving_variance", (16,)))
    assert found("frozen-batchnorm", architecture=net, weights=weights(*used)) == ()


def test_weights_and_outputs_that_are_not_numbers():
    (finding,) = found("nonfinite-weights", weights=weights(tensor("hidden", nonfinite=3)))
    assert finding.severity == Severity.CRITICAL and "3 weights in hidden" in finding.message
    broken = seen(
        activation("log", "Log", "", nonfinite=9), activation("hidden", nonfinite=4), output=output(nonfinite=4)
    )
    (first,) = found("nonfinite-activations", activations=broken)
    assert (first.severity, first.where) == (Severity.CRITICAL, "log")
    gaps = DataEvidence("d", inputs={"x": ArrayProfile("x", (64, 8), "float32", nan=5)})
    assert found("nonfinite-activations", activations=broken, data=gaps) == ()
    guess = seen(activation("log", "Log", "", nonfinite=9), source="random input", output=output(nonfinite=4))
    assert found("nonfinite-activations", activations=guess)[0].severity == Severity.MEDIUM


@each(
    ("share", "source", "severity"),
    [
        (1.0, "data", Severity.HIGH),
        (0.6, "data", Severity.LOW),
        (1.0, "random input", Severity.MEDIUM),
        (0.6, "random input", Severity.LOW),
    ],
)
def test_dead_units_as_the_file_has_them(share, source, severity):
    (finding,) = found("dead-relu", activations=seen(activation("hidden", dead_units_fraction=share), source=source))
    assert finding.severity == severity


def test_dead_units_after_training_weigh_what_the_training_shows():
    given = seen(activation("hidden"))

    def after(skill, share):
        layers = (trained_layer("hidden", 0.1, "relu", dead_fraction=(0.0, share)),)
        return found("dead-relu", activations=given, training=training(base=run(skill), layers=layers))

    assert after(0.0, 1.0)[0].severity == Severity.HIGH
    assert after(0.5, 0.92)[0].severity == Severity.MEDIUM
    assert after(0.5, 0.7)[0].severity == Severity.LOW
    assert after(0.95, 0.7)[0].severity == Severity.LOW
    assert after(0.0, 0.2) == ()


def test_saturation_of_inner_layers_but_not_of_gates_or_outputs():
    flat = seen(activation("hidden", name="sigmoid", saturated_fraction=0.8))
    large = DataEvidence("d", inputs={"x": ArrayProfile("x", (64, 8), "float32", minimum=0.0, maximum=9000.0)})
    (finding,) = found("saturation", architecture=points(hidden("sigmoid")), activations=flat, data=large)
    assert (finding.severity, finding.fault) == (Severity.MEDIUM, Fault.PREPROCESSING)
    assert "9,000" in finding.message
    gate = architecture(
        layer("columns", "InputLayer", (None, 16)),
        hidden("sigmoid"),
        layer("gate", "Multiply", (None, 16), ("hidden", "columns")),
        layer("kind", "Dense", (None, 3), units=3, activation="softmax"),
    )
    assert found("saturation", architecture=gate, activations=flat) == ()


def three_classes():
    target = TargetProfile(ArrayProfile("y", (64,), "int64"), "classes", (0.0, 1.0, 2.0), (22, 22, 20))
    return DataEvidence("d", targets={"kind": target}, rows=64)


def test_one_class_for_every_row_matters_in_a_trained_model_only():
    alike = seen(activation("hidden"), output=output(predicted_class_counts=(64, 0, 0)))
    evidence = {"architecture": points(hidden()), "activations": alike, "data": three_classes()}
    (finding,) = found("constant-output", **evidence, weights=weights(trained=True))
    assert finding.severity == Severity.HIGH and "class 0" in finding.message
    assert found("constant-output", **evidence, weights=weights(trained=False)) == ()


def test_an_exact_constant_is_a_remark_until_training_shows_that_it_stays():
    constant = seen(activation("hidden"), output=output(row_std=0.0))
    fresh = {"architecture": points(hidden()), "activations": constant, "weights": weights(trained=False)}
    assert found("constant-output", **fresh)[0].severity == Severity.LOW
    assert found("constant-output", **fresh, training=training(base=run(0.0)))[0].severity == Severity.HIGH
    cut = training(base=run(0.0, stopped="time"))
    assert found("constant-output", **fresh, training=cut)[0].severity == Severity.LOW
    assert found("constant-output", **{**fresh, "weights": weights(trained=True)})[0].severity == Severity.HIGH


@each(
    ("check_id", "name", "severity"),
    [
        ("batch-dependence", "batch-independence", Severity.HIGH),
        ("batch-dependence", "batch-order", Severity.HIGH),
        ("unsteady-output", "same-input-tolerance", Severity.MEDIUM),
        ("train-eval-difference", "train-vs-inference", Severity.MEDIUM),
        ("save-load-parity", "save-reload-outputs", Severity.HIGH),
    ],
)
def test_behaviour_that_differs_is_named(check_id, name, severity):
    (finding,) = found(check_id, architecture=points(hidden()), behaviour=behaves(name))
    assert (finding.severity, finding.where) == (severity, "hidden")
    assert "It differs." in finding.message


def test_dropout_left_on_is_high():
    net = points(hidden(), layer("drop", "Dropout", (None, 16), rate=0.5))
    (finding,) = found("unsteady-output", architecture=net, behaviour=behaves("same-input-tolerance", layer="drop"))
    assert finding.severity == Severity.HIGH


def test_remembered_statistics_far_from_the_data():
    far = behaves(
        "train-vs-inference",
        passed=True,
        values={"batch_normalisation": [{"layer": "norm", "mean_shift": 40.0, "variance_ratio": 1.0}]},
    )
    (finding,) = found("train-eval-difference", behaviour=far, weights=weights(trained=True))
    assert (finding.severity, finding.where) == (Severity.HIGH, "norm")
    assert found("train-eval-difference", behaviour=far, weights=weights(trained=False)) == ()


def test_an_input_without_effect():
    evidence = {"architecture": points(hidden()), "behaviour": behaves("input-dependence", "Constant.")}
    assert found("null-input", **evidence, weights=weights(trained=True))[0].severity == Severity.HIGH
    assert found("null-input", **evidence, weights=weights(trained=False))[0].severity == Severity.LOW
    each = behaves("every-input-matters", passed=None, values={"text": 0.4, "extra": 0.0, "text_mask": 0.0})
    (finding,) = found("null-input", behaviour=each)
    assert (finding.severity, finding.where) == (Severity.LOW, "input:extra")
