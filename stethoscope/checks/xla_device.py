"""Compiled by XLA for one device.

Why: a program that XLA compiled reads only variables of the device it runs on. With `jit_compile=True` a model whose variables
are on a GPU cannot predict under `tf.device("/CPU:0")` in that process: TensorFlow says “Trying to access resource … located in
device …/GPU:0 from device …/CPU:0”. Keras 3 turns `jit_compile="auto"` into True wherever it sees a GPU, and writes that into
the file. In a fresh process with the CPU alone the file loads and predicts; XLA compiles it there, again for each new shape.
Example: `model.compile("adam", "mse", jit_compile=True)`, `fit` on a GPU, then `predict` on the CPU of the same machine.
Fix: serving: load the file in a fresh process, on the device that predicts. Development in one process: compile again with
`jit_compile=False`. Several devices: load and compile again within a strategy's scope, where Keras leaves XLA off; without compiling
again, `fit` ends with the same message there. The Devices page makes the clash happen, and tries each.
Limits: read from the file; whether a second device is there is not known.
Source: tensorflow.org/xla/known_issues#tfvariable_on_a_different_device; Keras 3.15, `Trainer._resolve_auto_jit_compile`; tried
with TensorFlow 2.21 on two logical devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.xla_use import on_another_device, remedies_in_words, remedy_for_whom
from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_AGAIN = "model.compile(optimizer=model.optimizer, loss=model.loss, jit_compile=False)"


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    assert evidence.architecture is not None
    message = on_another_device(evidence.architecture)
    if not message:
        return
    yield Finding(
        fault=Fault.DEPLOYMENT,
        severity=Severity.LOW,
        confidence=1.0,
        where="compile",
        message=message,
        evidence=(Table("Which remedy when", ("for", "do"), remedy_for_whom()),),
        fix=Advice(text=f"On another device, {remedies_in_words()}", snippet=_AGAIN),
    )


CHECK = Check(needs=frozenset({Evidence.ARCHITECTURE}), run=_run)
