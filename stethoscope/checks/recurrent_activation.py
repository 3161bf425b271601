"""Recurrent layer with an unbounded activation.

Why: an LSTM or GRU feeds its output back at every step. Tanh keeps it within ±1; with relu or no activation it can grow
from step to step until loss and weights are NaN. Gates that are not sigmoids are no gates. It also loses the fast kernel
on GPUs.
Example: `LSTM(50, activation="relu")`.
Fix: leave `activation` and `recurrent_activation` at their defaults.
Limits: short sequences often work all the same; a `SimpleRNN` with relu and identity weights is a known design.
Source: Hochreiter and Schmidhuber (1997); Keras documentation of LSTM (requirements of the cuDNN kernel); Le, Jaitly and
Hinton (2015) for the exception.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import GATES, LINEAR, SIGMOID, SOFTMAX, TANH, UNBOUNDED
from stethoscope.architecture.endings import activation_name
from stethoscope.architecture.losses import initialiser_of, snake
from stethoscope.checks.check import NOTHING_FITTED, UNSTEADY_LOSS, WILD_UPDATES, Check
from stethoscope.checks.curves.short_run import weighed
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import core_of, units_of
from stethoscope.types import Layer


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for layer in evidence.architecture.layers if evidence.architecture else ():
        kind, config = core_of(layer)
        if kind not in ("LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D") or not config:
            continue
        activation = _name(config.get("activation"), LINEAR.name if "activation" in config else TANH.name)
        gates = _name(config.get("recurrent_activation"), SIGMOID.name)
        if kind == "SimpleRNN" and initialiser_of(layer.config, "recurrent")[0] == "identity":
            continue
        if activation_name(activation) in UNBOUNDED | {SOFTMAX.name}:
            yield _finding(evidence, layer, kind, "activation", activation, TANH.name)
        elif kind != "SimpleRNN" and activation_name(gates) not in GATES:
            yield _finding(evidence, layer, kind, "recurrent_activation", gates, SIGMOID.name)


def _name(value: object, missing: str) -> str:
    if isinstance(value, dict):
        value = value.get("config") if value.get("class_name") == "function" else value.get("class_name")
    return snake(str(value)) if value else missing


def _finding(evidence: EvidenceSet, layer: Layer, kind: str, setting: str, was: str, instead: str) -> Finding:
    severity = weighed(evidence.training, "relu-hidden")
    broke = evidence.training is not None and any(run.stopped == "non-finite" for run in evidence.training.base)
    if broke:
        severity = Severity.HIGH
    steps = layer.inputs and evidence.connections.layers.get(layer.inputs[0])
    length = steps.output_shape[1] if steps and steps.output_shape and len(steps.output_shape) > 2 else None
    over = f" over {length} steps" if length else ""
    what = (
        f"its state can grow without limit{over}"
        if activation_name(was) in UNBOUNDED and setting == "activation"
        else "its gates do not open and close between 0 and 1"
        if setting == "recurrent_activation"
        else "its units share a total of 1 at every step"
    )
    return Finding(
        fault=Fault.ACTIVATION,
        severity=severity,
        confidence=0.9 if broke else 0.6,
        where=layer.path,
        message=f"{layer.path} ({kind}) uses {setting}={was}, so {what}. Leave it at {instead}, its default.",
        evidence=(Table("Setting", ("setting", "value", "default"), ((setting, was, instead),)),),
        fix=ReplaceActivation(layer=layer.path, activation=TANH.name, was=was, layer_type=kind, units=units_of(layer))
        if setting == "activation"
        else None,
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=UNSTEADY_LOSS | WILD_UPDATES | NOTHING_FITTED | {"nonfinite-activations", "worse-than-baseline"},
)
