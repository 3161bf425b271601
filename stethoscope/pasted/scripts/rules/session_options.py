"""Options of a Session that nothing reads.

Why: Keras 3 and eager TensorFlow open no Session. A `ConfigProto` with `allow_growth` or a share of the memory, given to a
`compat.v1.Session`, holds for that session alone; a model of Keras trains as if it were not there.
Example: `config.gpu_options.allow_growth = True`, `tf.compat.v1.Session(config=config)` above `model.fit(…)`.
Fix: `tf.config.experimental.set_memory_growth(gpu, True)`, or `set_logical_device_configuration` with a memory limit.
Source: tensorflow.org/guide/gpu; tensorflow.org/guide/migrate; stackoverflow.com/questions/34199233.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Step

_OPTIONS = frozenset({"allow_growth", "per_process_gpu_memory_fraction", "visible_device_list"})
_SESSIONS = ("tensorflow.compat.v1.Session", "tensorflow.compat.v1.InteractiveSession")
_GROWTH = 'for gpu in tf.config.list_physical_devices("GPU"):\n    tf.config.experimental.set_memory_growth(gpu, True)'


def _run(facts: Facts) -> Iterator[Finding]:
    off = any(call.name.endswith((".disable_v2_behavior", ".disable_eager_execution")) for call in facts.calls) or any(
        model.call.name.startswith("tensorflow.compat.v1") for model in facts.models
    )
    if off or facts.legacy or not any(model.calls("fit", "predict") for model in facts.models):
        return
    places: list[tuple[Step, str]] = [
        (one, one.attribute)
        for one in facts.assignments
        if one.attribute in _OPTIONS and isinstance(one.target, Attribute) and one.target.name == "gpu_options"
    ]
    places += [(call, call.name.rpartition(".")[2]) for call in facts.calls if call.name in _SESSIONS]
    places += [(call, "GPUOptions") for call in facts.calls if call.name == "tensorflow.compat.v1.GPUOptions"]
    for step, what in places:
        if not step.guarded:
            yield facts.finding(
                step,
                Fault.MEMORY,
                Severity.MEDIUM,
                0.88,
                f"{what} belongs to a Session of TensorFlow 1. Keras opens none, so this changes nothing for the model.",
                "Configure the device: set_memory_growth, or set_logical_device_configuration with a limit.",
                (),
                _GROWTH,
            )


RULE = Rule(_run)
