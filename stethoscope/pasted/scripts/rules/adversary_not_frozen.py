"""The discriminator is trained to be deceived.

Why: in the model that joins both, the generator learns what the discriminator takes for real. If the discriminator is not frozen there, it
learns to call everything real.
Example: `combined = Model(z, discriminator(generator(z)))` without `discriminator.trainable = False`.
Fix: freeze it before the joint model is compiled.
Source: Goodfellow et al. (NIPS 2014); Chollet, "Deep Learning with Python" (2018), 8.5; stackoverflow.com/questions/51108076.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import layer_of_tensor
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, ancestors


def _run(facts: Facts) -> Iterator[Finding]:
    frozen = {
        id(one.call)
        for assigned in facts.assignments
        if assigned.attribute == "trainable"
        for one in ancestors(assigned.target)
        if isinstance(one, Made)
    }
    for joint in facts.models:
        step = layer_of_tensor(joint.outputs[0]) if len(joint.outputs) == 1 else None
        if joint.kind != "functional" or step is None or not joint.compiled:
            continue
        judge = facts.model_of(step[0])
        maker = layer_of_tensor(step[1][0]) if step[1] else None
        if judge is None or maker is None or facts.model_of(maker[0]) in (None, judge):
            continue
        apart = judge.compiled and judge.calls("train_on_batch", "fit") and joint.calls("train_on_batch", "fit")
        if apart and id(judge.call) not in frozen:
            yield facts.finding(
                joint.call,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.88,
                "The model that is trained on its own is not frozen in the joint one: there it learns the opposite.",
                "Set its trainable to False before the joint model is compiled.",
            )


RULE = Rule(_run)
