"""Pictures are joined side by side where their channels should be.

Why: with channels last a picture is (rows, height, width, channels). Joined on another axis than the last one, the pictures are laid next
to each other: other sizes raise ValueError, and where it passes, the next layer sees a larger picture.
Example: `Concatenate(axis=1)([up, skip])` in a U-Net.
Fix: `Concatenate()`, which takes the last axis.
Source: keras.io/api/layers/merging_layers/concatenate; Ronneberger et al., "U-Net" (2015); stackoverflow.com/questions/52016137.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import ACTIVATION_LAYERS
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import layer_name
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Items, Made, Value, number

_PICTURES = frozenset(
    {
        *(f"keras.layers.{name}" for name in ("Conv2D", "Conv2DTranspose", "SeparableConv2D", "DepthwiseConv2D")),
        *(f"keras.layers.{name}" for name in ("MaxPooling2D", "AveragePooling2D", "UpSampling2D", "ZeroPadding2D")),
    }
)
_KEEPS = frozenset(f"keras.layers.{name}" for name in ("BatchNormalization", "Dropout", "Add", *ACTIVATION_LAYERS))


def _run(facts: Facts) -> Iterator[Finding]:
    if "channels_first" in facts.source.text or "image_data_format" in facts.source.text:
        return
    done: set[int] = set()
    for call in facts.calls:
        made = call.function.call if isinstance(call.function, Made) else call
        name = meaning(made.name)
        tensors = call.args[0] if call.args else None
        if name not in ("keras.layers.Concatenate", "keras.layers.concatenate", "tensorflow.concat"):
            continue
        if name == "keras.layers.Concatenate" and made is call:
            continue
        axis = number(made.argument("axis", 0 if made is not call else 1))
        if axis not in (0, 1, 2, -2, -3, -4) or id(call.node) in done or not isinstance(tensors, Items):
            continue
        if len(tensors.items) < 2 or not all(_is_picture(one) for one in tensors.items):
            continue
        done.add(id(call.node))
        node = next((one for one in made.call_node.keywords if one.arg == "axis"), None)
        yield facts.finding(
            call,
            Fault.ARCHITECTURE,
            Severity.HIGH if axis in (0, -4) else Severity.MEDIUM,
            0.85,
            f"The pictures are joined on axis {axis:g}; their channels are on the last one (channels last).",
            "Join them on the last axis: axis=-1.",
            [] if node is None else [facts.spans.replace(node.value, "-1")],
        )


def _is_picture(value: Value) -> bool:
    for _ in range(6):
        if not isinstance(value, Made):
            return False
        call: Call = value.call
        if not isinstance(call.function, Made) or not call.args:
            return False
        name = layer_name(call.function.call)
        if name in _PICTURES:
            return True
        if name not in _KEEPS:
            return False
        value = call.args[0].items[0] if isinstance(call.args[0], Items) and call.args[0].items else call.args[0]
    return False


RULE = Rule(_run)
