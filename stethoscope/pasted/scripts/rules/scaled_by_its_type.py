"""A picture of floats is converted, and stays from 0 to 255.

Why: `convert_image_dtype` scales whole numbers to 0 … 1. What is float already, it takes for scaled and leaves as it is; `resize` gives
floats.
Example: `image = tf.image.resize(image, (224, 224))` and below it `tf.image.convert_image_dtype(image, tf.float32)`.
Fix: convert first, or divide by 255.
Source: tensorflow.org/api_docs/python/tf/image/convert_image_dtype; tensorflow.org/api_docs/python/tf/image/resize (returns float32).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, Operation, Ref, Value, ancestors, text

_RESIZES = frozenset({"tensorflow.image.resize", "tensorflow.image.resize_with_pad"})


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if call.name != "tensorflow.image.convert_image_dtype" or id(call.node) in done:
            continue
        value = call.argument("image", 0)
        if not isinstance(value, Made) or not _floats(value) or not _of_file(value):
            continue
        done.add(id(call.node))
        node = call.call_node
        yield facts.finding(
            call,
            Fault.PREPROCESSING,
            Severity.HIGH,
            0.93,
            f"{value.call.method} gives floats, and convert_image_dtype leaves floats as they are: the pixels stay from 0 to 255.",
            "Divide by 255.",
            [facts.spans.replace(node, f"{facts.spans.text(node.args[0])} / 255.0")] if node.args else [],
        )


def _floats(value: Made) -> bool:
    call = value.call
    if call.name in _RESIZES:
        return "method" not in call.keywords
    kind = call.argument("dtype", 1)
    name = kind.name if isinstance(kind, Ref) else text(kind) or ""
    return call.name == "tensorflow.cast" and name.endswith("float32")


def _of_file(value: Value) -> bool:
    """Whether it was decoded, and nothing has scaled it since."""
    behind = [one for one in ancestors(value) if isinstance(one, Made)]
    scaled = any(isinstance(one, Operation) for one in ancestors(value))
    converted = any(one.call.name.endswith("convert_image_dtype") for one in behind)
    return not scaled and not converted and any(".decode_" in one.call.name for one in behind)


RULE = Rule(_run)
