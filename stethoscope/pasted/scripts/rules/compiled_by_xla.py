"""A model that Keras compiles by XLA on a GPU, used on the CPU.

Why: since Keras 3 `jit_compile="auto"` is on where a GPU is and the model allows it. A step compiled for the GPU does not run under
`tf.device("/CPU:0")`: the program ends with an error about devices or about data on the wrong one.
Example: `model.compile(…)`, `model.fit(…)` on a GPU, and `with tf.device("/CPU:0"): model.predict(x)`.
Fix: `jit_compile=False`, or a copy of the model made on the CPU.
Source: keras.io/api/models/model_training_apis (jit_compile); github.com/keras-team/keras/issues (XLA device clash on predict).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, is_const, text


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy:
        return
    for model in facts.models:
        trained = [call for call in model.calls("fit") if not _on_cpu(call)]
        away = [call for call in model.calls("predict", "evaluate") if _on_cpu(call)]
        for compiled in model.compiled[:1]:
            given = compiled.argument("jit_compile")
            if (
                trained
                and away
                and (given is None or is_const(given, True) or text(given) == "auto")
                and not _on_cpu(model.call)
            ):
                yield facts.finding(
                    compiled,
                    Fault.DEPLOYMENT,
                    Severity.MEDIUM,
                    0.8,
                    f"Where a GPU is, Keras 3 compiles this model by XLA for it; line {facts.source.where(away[0].line).rpartition(':')[2]} runs it on the CPU, which then fails.",
                    "Say jit_compile=False.",
                    [facts.spans.add_argument(compiled.call_node, "jit_compile=False")] if given is None else [],
                )


def _on_cpu(call: Call) -> bool:
    return any(
        isinstance(value, Made)
        and meaning(value.call.name) == "tensorflow.device"
        and value.call.args
        and "cpu" in (text(value.call.args[0]) or "").lower()
        for value in call.contexts
    )


RULE = Rule(_run, same_as=frozenset({"xla-device"}))
