"""A distribution strategy that the model does not stand under.

Why: variables made outside `strategy.scope()` lie on one device. A strategy whose scope is never opened changes nothing; a model built
outside and compiled inside raises RuntimeError or ValueError.
Example: `strategy = tf.distribute.MirroredStrategy()` and `model = build()` without `with strategy.scope():`.
Fix: build and compile the model within the scope.
Source: tensorflow.org/guide/distributed_training; tensorflow.org/tutorials/distribute/keras; raised by TensorFlow 2.21 with Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Value, ancestors

_NONE = ("get_strategy", "has_strategy", "in_cross_replica_context", "get_replica_context")


def _run(facts: Facts) -> Iterator[Finding]:
    strategies = [
        call
        for call in facts.calls
        if meaning(call.name).startswith("tensorflow.distribute.") and call.name.endswith("Strategy")
    ]
    handed_on = any(
        isinstance(value, Made) and any(value.call is strategy for strategy in strategies)
        for call in facts.calls
        for value in (*call.args, *call.keywords.values())
    )
    if not strategies or handed_on:
        return
    scopes = [call for call in facts.calls if call.method == "scope" and call.args == ()]
    models = [
        model
        for model in facts.models
        if model.kind in ("sequential", "functional", "subclass", "application", "loaded")
    ]
    fitted = [model for model in models if model.calls("fit", "compile")]
    if not fitted:
        return
    if not scopes:
        strategy = strategies[0]
        runs = any(
            one.method in ("run", "experimental_run_v2", "experimental_distribute_dataset") for one in facts.calls
        )
        if not runs:
            yield facts.finding(
                fitted[0].call,
                Fault.SPEED,
                Severity.HIGH,
                0.9,
                f"A strategy is made in line {facts.source.where(strategy.line).rpartition(':')[2]}, and its scope is never opened: the model lies on one device, and is trained there alone.",
                "Build and compile the model within strategy.scope().",
                (),
                "with strategy.scope():\n    model = build_model()\n    model.compile(…)",
            )
        return
    if any(_entered(call) for call in facts.calls):
        return
    done: set[int] = set()
    for model in fitted:
        inside = _under(model.call)
        for compiled in model.compiled:
            if id(compiled.node) in done or not compiled.reached:
                continue
            if _under(compiled) and not inside and model.call.order < compiled.order:
                done.add(id(compiled.node))
                yield facts.finding(
                    model.call,
                    Fault.ARCHITECTURE,
                    Severity.HIGH,
                    0.9,
                    f"The model is built outside the strategy's scope and compiled inside (line {facts.source.where(compiled.line).rpartition(':')[2]}): training raises an error.",
                    "Build it within the scope too.",
                )
    for model in fitted:
        for part in models if _under(model.call) else ():
            tensors = [one for out in model.outputs for one in ancestors(out)]
            held = part is not model and any(_is_part(one, part.call) for one in (*tensors, *model.layers))
            if held and not _under(part.call) and id(part.call.node) not in done:
                done.add(id(part.call.node))
                yield facts.finding(
                    part.call,
                    Fault.ARCHITECTURE,
                    Severity.HIGH,
                    0.9,
                    "This part of the model is made outside the strategy's scope, and the rest inside: training raises an error.",
                    "Make it within the scope too.",
                )
    alone = [model for model in fitted if not _under(model.call) and not any(_under(one) for one in model.compiled)]
    if (
        alone
        and not any(_under(call) and _opaque(call) for call in facts.calls)
        and not any(_under(model.call) for model in models)
        and not any(_under(call) for call in facts.calls if meaning(call.name).startswith("keras."))
    ):
        yield facts.finding(
            alone[0].call,
            Fault.SPEED,
            Severity.HIGH,
            0.85,
            "The strategy's scope is opened, but the model is built and compiled outside it: it is trained on one device.",
            "Build and compile it within the scope.",
        )


def _is_part(value: Value, call: Call) -> bool:
    return isinstance(value, Made) and value.call is call


def _opaque(call: Call) -> bool:
    """Whether it may build a model without being seen to."""
    return not call.name.startswith(("tensorflow.", "keras.", "print", "numpy."))


def _under(call: Call) -> bool:
    return any(_is_scope(value) for value in call.contexts)


def _is_scope(value: Value) -> bool:
    return isinstance(value, Made) and value.call.method == "scope"


def _entered(call: Call) -> bool:
    """Whether a scope is opened in another way than by `with`."""
    return call.method in ("enter_context", "__enter__", "experimental_set_strategy")


RULE = Rule(_run)
