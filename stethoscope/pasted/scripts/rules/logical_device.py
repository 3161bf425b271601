"""A logical device that TensorFlow does not have: an argument or a name of articles.

Why: `LogicalDeviceConfiguration` takes a memory limit and no `allow_growth`, which belongs to a Session of TensorFlow 1: TypeError. A
logical device is called "/GPU:0" or "/device:GPU:1"; "/virtual_gpu:0" is a name that no device has: ValueError.
Example: `tf.config.LogicalDeviceConfiguration(memory_limit=4096, allow_growth=True)`; `with tf.device("/virtual_gpu:0"):`
Fix: leave the argument out; name the device "/GPU:0".
Source: tensorflow.org/api_docs/python/tf/config/LogicalDeviceConfiguration; tensorflow.org/guide/gpu; raised by TensorFlow 2.21.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import text

_CONFIGURATIONS = (
    "tensorflow.config.LogicalDeviceConfiguration",
    "tensorflow.config.experimental.VirtualDeviceConfiguration",
)
_KNOWN = frozenset(
    {"cpu", "gpu", "tpu", "xla_cpu", "xla_gpu", "tpu_system", "job", "replica", "task", "device", "coordinator"}
)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if id(call.node) in done:
            continue
        done.add(id(call.node))
        name = meaning(call.name)
        if name in _CONFIGURATIONS:
            for keyword in call.call_node.keywords:
                if keyword.arg == "allow_growth":
                    yield facts.finding(
                        keyword.lineno,
                        Fault.MEMORY,
                        Severity.HIGH,
                        0.98,
                        "A logical device has no allow_growth: the call raises TypeError. Its memory_limit is the whole share it takes.",
                        "Leave allow_growth out.",
                        [facts.spans.remove_argument(call.call_node, keyword)],
                    )
        elif name == "tensorflow.device" and call.args:
            device = text(call.args[0])
            kind = re.search(r"/?(?:device:)?(\w+):(?:\d+|\*)$", device or "")
            if device is None or kind is None or kind.group(1).lower() in _KNOWN:
                continue
            better = re.sub(rf"{kind.group(1)}(?=:)", "GPU" if "gpu" in kind.group(1).lower() else "CPU", device)
            yield facts.finding(
                call,
                Fault.DEPLOYMENT,
                Severity.HIGH,
                0.95,
                f"TensorFlow knows no device {device!r}: the line raises ValueError. Logical devices of a card are /GPU:0, /GPU:1 ….",
                f"Write {better!r}.",
                [facts.spans.replace(call.call_node.args[0], f'"{better}"')],
            )


RULE = Rule(_run)
