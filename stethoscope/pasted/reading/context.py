"""What any message may name besides its cause: the layer, the operator, the device, the version."""

from __future__ import annotations

import re
from collections.abc import Mapping

_MANY = 200
_NODE = re.compile(r"\{\{(?:function_)?node ([\w./-]{1,300})\}\}|\[\[node ([\w./-]{1,300})|Node: '([\w./-]{1,300})'")
_LAYER = re.compile(
    r"Exception encountered when calling layer [\"'‘]([\w./-]{1,100})|Input \d{1,3} (?:with name '[^']{0,60}' )?(?:is incompatible with|of) layer [\"']?([\w./-]{1,100})|"
    r"^Layer [\"']?([\w./-]{1,100})[\"']? expects"
)
_CALLED = re.compile(r"Exception encountered when calling (?:layer [\"'][^\"']{0,100}[\"'] \(type )?(\w{1,80})")
_OPERATOR = re.compile(r"\[Op:(\w{1,80})\]")
_DEVICE = re.compile(r"device:(GPU|CPU|TPU|XLA_GPU|XLA_CPU):(\d{1,3})", re.IGNORECASE)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}")
_NO_LAYER = re.compile(
    r"(?:compile_loss|loss|metrics|training|gradients?|gradient_tape|categorical|sparse_|binary_|mean_|save)\b|cond/"
)
_OPERATORS = re.compile(
    r"^(?:__wrapped|cond|while|StatefulPartitionedCall|PartitionedCall|gradient|Iterator|PyFunc|EagerPyFunc)"
)


def context(text: str) -> Mapping[str, str]:
    """Reads the text around a match."""
    found: dict[str, str] = {}
    if layer := _LAYER.search(text):
        found["layer"] = next(part for part in layer.groups() if part).strip(".")
    if called := _CALLED.search(text):
        found["layer class"] = called[1]
    for match in _NODE.finditer(text):
        node = next(part for part in match.groups() if part)
        if not _OPERATORS.match(node):
            found["node"] = node[:_MANY]
            parts = node.split("/")
            if "layer" not in found and len(parts) >= 3 and _NAME.fullmatch(parts[-2]) and not _NO_LAYER.match(node):
                found["layer"] = parts[-2]
            break
    if (operator := _OPERATOR.search(text)) and not operator[1].startswith("__"):
        found["operator"] = operator[1]
    if device := _DEVICE.search(text):
        found["device"] = f"{device[1].upper()}:{device[2]}"
    return found
