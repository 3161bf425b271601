"""Evidence for the contract checks, made by hand: a two-layer network and real arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.checks import all_checks
from stethoscope.checks.findings import Finding, Severity
from stethoscope.checks.judging.examination import examine
from stethoscope.evidence.kinds import EvidenceSet
from stethoscope.evidence.training import RunCurve, Scores, TrainingEvidence
from stethoscope.tasks.profile import profile_data
from stethoscope.types import Architecture, CompileSettings, Layer, Status, TensorSpec

CONTRACT = (
    "softmax-one-unit",
    "output-activation-loss",
    "from-logits",
    "loss-for-task",
    "output-range",
    "output-units",
    "label-encoding",
    "label-range",
    "label-shape",
    "input-shape",
    "embedding-range",
    "metric-for-task",
    "multilabel-softmax",
    "initial-loss",
)
RANDOM = np.random.default_rng(0)
ROWS = 120
X = RANDOM.normal(size=(ROWS, 4)).astype("float32")
BINARY = (X[:, 0] > 0).astype("float32")
CLASSES = np.arange(ROWS) % 3
ONE_HOT = np.eye(3, dtype="float32")[CLASSES]
TAGS = (X[:, :3] > 0).astype("float32")
NUMBERS = (3 * X[:, 0] + X[:, 1]).astype("float32")
SHARES = ((NUMBERS - NUMBERS.min()) / (NUMBERS.max() - NUMBERS.min())).astype("float32")


def evidence(
    units: int | None,
    activation: str,
    loss: str,
    y: npt.NDArray[Any] | None,
    *,
    x: npt.NDArray[Any] = X,
    metrics: Sequence[str] = (),
    from_logits: bool = False,
    output: tuple[int | None, ...] | None = None,
    after: Sequence[Layer] = (),
    skill: float | None = None,
    declared: tuple[int | None, ...] | None = None,
) -> EvidenceSet:
    """A Dense(8, relu) and a Dense(units, activation), compiled with `loss`, beside x and y; `after` follows the output layer."""
    inputs = (None, *x.shape[1:]) if declared is None else (None, *declared)
    shape = (None, units) if output is None else (None, *output)
    config = {"from_logits": True} if from_logits else {}
    serialised = (
        {"class_name": "".join(part.title() for part in loss.split("_")), "config": config} if from_logits else loss
    )
    layers = (
        Layer("input", "InputLayer", inputs, 0, 0, "float32"),
        Layer("hidden", "Dense", (None, 8), 40, 40, "float32", ("input",), {"activation": "relu"}),
        Layer("output", "Dense", shape, 9, 9, "float32", ("hidden",), {"units": units, "activation": activation}),
        *after,
    )
    architecture = Architecture(
        format_id="keras",
        framework_version="Keras 3.15.1",
        parameters=49,
        trainable_parameters=49,
        inputs=(TensorSpec("input", inputs, "float32"),),
        outputs=(TensorSpec("y", layers[-1].output_shape, "float32"),),
        layers=layers,
        compile=CompileSettings(serialised, "Adam", 0.001, tuple(metrics), {"loss": serialised}),
        output_layers=(layers[-1].path,),
    )
    arrays = {"x": x} if y is None else {"x": x, "y": y}
    training = None if skill is None else trained(skill)
    return EvidenceSet(architecture=architecture, data=profile_data(arrays, architecture, "test"), training=training)


def trained(skill: float, **more: Any) -> TrainingEvidence:
    """A short run that ended with `skill`."""
    final = Scores(0.1, skill, skill, distinct_predictions=1 if skill == 0 else 3)
    run = RunCurve(1, 100, 10, (), (), (), (), final=final)
    return TrainingEvidence("loss", "adam", 0.001, 32, 10, 4, ROWS, 0, "accuracy", 0.5, base=(run,), **more)


def found(known: EvidenceSet) -> list[Finding]:
    """What all contract checks find; none may break."""
    outcomes = examine(known, [all_checks()[check_id] for check_id in CONTRACT])
    assert not [outcome for outcome in outcomes if outcome.status is Status.FAILED]
    return [finding for outcome in outcomes for finding in outcome.findings]


def named(known: EvidenceSet) -> dict[str, str]:
    """check id → severity, of findings at MEDIUM or above."""
    return {f.check_id: f.severity.label for f in found(known) if f.severity >= Severity.MEDIUM}
