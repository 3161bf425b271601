"""The latent of a variational autoencoder is bent or scaled wrongly.

Why: the mean and the logarithm of the variance may be any number: ReLU cuts off half of them. A draw is the mean plus the deviation times
noise, and the deviation is `exp(log_var / 2)`; `exp(log_var)` is the variance.
Example: `z_mean = Dense(2, activation="relu")(x)`; `z_mean + tf.exp(z_log_var) * epsilon`.
Fix: no activation; `tf.exp(0.5 * z_log_var)`.
Source: Kingma & Welling, "Auto-encoding variational Bayes" (2014), 2.4 and appendix B; keras.io/examples/generative/vae.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.architecture.activations import RELU
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_LATENT = re.compile(
    r"^(?:self\.)?(?:z_?(?:mean|mu)|mu|latent_mean|(?:z_?|latent_)?log_?(?:var|variance|sigma)(?:iance)?)(?:_layer)?$"
)
_LOG_VARIANCE = re.compile(r"log_?var|logvar", re.IGNORECASE)
_NOISE = re.compile(r"^(?:eps\w*|epsilon\w*|noise)$")


def _run(facts: Facts) -> Iterator[Finding]:
    for node in facts.nodes(ast.Assign):
        name = ast.unparse(node.targets[0])
        if not _LATENT.match(name):
            continue
        for call in ast.walk(node.value):
            given = next((one for one in getattr(call, "keywords", ()) if one.arg == "activation"), None)
            if (
                isinstance(call, ast.Call)
                and given is not None
                and ast.unparse(given.value).strip("'\"").endswith(RELU.name)
            ):
                yield facts.finding(
                    given.lineno,
                    Fault.ACTIVATION,
                    Severity.HIGH,
                    0.9,
                    f"{name} of the latent may be any number, and ReLU makes all below 0 to 0.",
                    "Leave the activation out.",
                    [facts.spans.remove_argument(call, given)],
                )
    for product in facts.nodes(ast.BinOp):
        if not isinstance(product.op, ast.Mult):
            continue
        for side, other in ((product.left, product.right), (product.right, product.left)):
            if (
                not isinstance(side, ast.Call)
                or ast.unparse(side.func).rpartition(".")[2] != "exp"
                or len(side.args) != 1
            ):
                continue
            power = side.args[0]
            if isinstance(power, ast.Name) and _LOG_VARIANCE.search(power.id) and _NOISE.match(ast.unparse(other)):
                yield facts.finding(
                    side.lineno,
                    Fault.LOSS,
                    Severity.MEDIUM,
                    0.9,
                    f"exp({power.id}) is the variance, and the noise is to be multiplied by its root, the deviation.",
                    "Halve the logarithm.",
                    [facts.spans.replace(power, f"0.5 * {power.id}")],
                )


RULE = Rule(_run)
