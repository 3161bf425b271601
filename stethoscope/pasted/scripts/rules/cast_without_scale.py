"""Numbers from 0 to 1 are cast to 8 bits for a quantised input.

Why: a quantised input reads `value / scale + zero_point`. Pixels from 0 to 1 that are only cast become 0 (or 1) everywhere.
Example: `converter.inference_input_type = tf.uint8` and `interpreter.set_tensor(index, (x / 255).astype(np.uint8))`.
Fix: `scale, zero = details["quantization"]` and `np.clip(np.round(x / scale + zero), 0, 255).astype(np.uint8)`.
Source: ai.google.dev/edge/litert/models/quantization_spec; ai.google.dev/edge/litert/models/post_training_integer_quant.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, Operation, Ref, Value, ancestors, number, text

_EIGHT_BITS = ("uint8", "int8")


def _run(facts: Facts) -> Iterator[Finding]:
    quantised = any(
        one.attribute == "inference_input_type" and isinstance(one.value, Ref) and one.value.name.endswith(_EIGHT_BITS)
        for one in facts.assignments
    )
    if not quantised or "quantization" in facts.source.text.replace("post_training_quantization", ""):
        return
    done: set[int] = set()
    for call in facts.methods("set_tensor"):
        value = call.argument("value", 1)
        if value is None or id(call.node) in done or not _cast(value) or not _from_0_to_1(value):
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.DEPLOYMENT,
            Severity.HIGH,
            0.9,
            "The input is quantised, and numbers from 0 to 1 are cast to 8 bits: nearly all become 0.",
            'Divide by the scale of get_input_details()[0]["quantization"] and add its zero point, then round and cast.',
        )


def _cast(value: Value) -> bool:
    if not isinstance(value, Made) or value.call.method not in ("astype", "cast", "uint8", "int8"):
        return False
    kind = value.call.argument("dtype", 0 if value.call.method == "astype" else 1)
    name = kind.name if isinstance(kind, Ref) else text(kind) or value.call.method
    return name.endswith(_EIGHT_BITS)


def _from_0_to_1(value: Value) -> bool:
    steps = [one for one in ancestors(value) if isinstance(one, Operation)]
    return (
        len({one.line for one in steps}) == 1
        and steps[0].operator == "Div"
        and number(steps[0].right) in (255.0, 256.0)
    )


RULE = Rule(_run)
