"""Half precision in a loop of one's own, and no loss scaling.

Why: with mixed_float16 small gradients are 0 in half precision. `compile` wraps the optimizer so that the loss is scaled; a loop of one's
own has to do it.
Example: `set_global_policy("mixed_float16")`, `tape.gradient(loss, …)`, and no `scale_loss`.
Fix: `optimizer = keras.optimizers.LossScaleOptimizer(optimizer)`, and `loss = optimizer.scale_loss(loss)` on the tape.
Source: tensorflow.org/guide/mixed_precision ("Training the model with a custom training loop"); Micikevicius et al. (ICLR 2018).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import text


def _run(facts: Facts) -> Iterator[Finding]:
    half = any(
        call.name.endswith(("set_global_policy", "set_dtype_policy", "set_policy", "mixed_precision.Policy"))
        and call.args
        and text(call.args[0]) == "mixed_float16"
        for call in facts.calls
    )
    written = facts.source.text
    if not half or any(word in written for word in ("scale_loss", "get_scaled", "loss_scale", "train_step(self, data")):
        return
    for node in ast.walk(facts.parsed.tree):
        if not isinstance(node, ast.FunctionDef | ast.For):
            continue
        calls = [one for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)]
        taken = next((one for one in calls if getattr(one.func, "attr", "") == "gradient"), None)
        if taken is not None and any(getattr(one.func, "attr", "") == "apply_gradients" for one in calls):
            yield facts.finding(
                taken.lineno,
                Fault.NUMERICAL,
                Severity.MEDIUM,
                0.88,
                "The policy is mixed_float16, and the loss is not scaled before its gradient is taken: small gradients become 0.",
                "Wrap the optimizer in LossScaleOptimizer, and scale the loss.",
                (),
                "optimizer = keras.optimizers.LossScaleOptimizer(optimizer)\nloss = optimizer.scale_loss(loss)  # on the tape",
            )
            return


RULE = Rule(_run)
