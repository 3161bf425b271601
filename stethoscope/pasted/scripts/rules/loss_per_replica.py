"""A mean for each replica, added up over the replicas.

Why: `strategy.reduce(SUM, …)` and the sum of the gradients add what the replicas give. A mean over a replica's own rows makes loss and
gradients larger by the number of replicas.
Example: `loss = tf.reduce_mean(loss_fn(y, p))` in the step that `strategy.run` calls, and `ReduceOp.SUM`.
Fix: `tf.nn.compute_average_loss(per_row, global_batch_size=…)`.
Source: tensorflow.org/tutorials/distribute/custom_training ("How to calculate loss when using tf.distribute.Strategy").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    if "ReduceOp.SUM" not in facts.source.text or "GradientTape" not in facts.source.text:
        return
    tree = facts.parsed.tree
    run = {
        ast.unparse(one.args[0]).rpartition(".")[2]
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "run" and one.args
    }
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name not in run:
            continue
        written = ast.unparse(function)
        if "apply_gradients" not in written or any(
            word in written
            for word in ("num_replicas", "global_batch", "GLOBAL_BATCH", "compute_average_loss", "scale_loss")
        ):
            continue
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Assign)
                and "loss" in ast.unparse(node.targets[0]).lower()
                and isinstance(node.value, ast.Call)
                and ast.unparse(node.value.func) in ("tf.reduce_mean", "tf.math.reduce_mean", "keras.ops.mean")
            ):
                yield facts.finding(
                    node.lineno,
                    Fault.LOSS,
                    Severity.MEDIUM,
                    0.82,
                    "Each replica takes the mean over its own rows, and the replicas are added up: loss and gradients grow with their number.",
                    "Use tf.nn.compute_average_loss with the global batch size.",
                )


RULE = Rule(_run)
