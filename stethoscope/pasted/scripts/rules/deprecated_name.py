"""A name that still works and has another one today.

Why: it warns now and goes with one of the next versions.
Example: `tf.distribute.experimental.TPUStrategy(resolver)`, `tf.keras.preprocessing.image.ImageDataGenerator`.
Fix: the name of today.
Source: the deprecation notes in the documentation of TensorFlow 2.21 and Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.spelling import spelled

DEPRECATED = {
    "tensorflow.distribute.experimental.TPUStrategy": "tensorflow.distribute.TPUStrategy",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy": "tensorflow.distribute.MultiWorkerMirroredStrategy",
    "tensorflow.config.experimental_run_functions_eagerly": "tensorflow.config.run_functions_eagerly",
    "tensorflow.config.experimental.list_physical_devices": "tensorflow.config.list_physical_devices",
    "tensorflow.config.experimental.list_logical_devices": "tensorflow.config.list_logical_devices",
    "tensorflow.config.experimental.set_visible_devices": "tensorflow.config.set_visible_devices",
    "tensorflow.config.experimental.set_virtual_device_configuration": "tensorflow.config.set_logical_device_configuration",
    "tensorflow.config.experimental.VirtualDeviceConfiguration": "tensorflow.config.LogicalDeviceConfiguration",
    "tensorflow.data.experimental.AUTOTUNE": "tensorflow.data.AUTOTUNE",
}
_NOTED = {
    "tensorflow.keras.preprocessing.image.ImageDataGenerator": "keras.utils.image_dataset_from_directory, with layers that augment, takes its place",
    "tensorflow.keras.preprocessing.text.Tokenizer": "keras.layers.TextVectorization takes its place",
}


def _run(facts: Facts) -> Iterator[Finding]:
    seen: set[tuple[int, str]] = set()
    for use in facts.uses:
        if use.guarded or (use.line, use.name) in seen:
            continue
        seen.add((use.line, use.name))
        new = DEPRECATED.get(use.name)
        if new and not use.imported:
            name = spelled(facts, new)
            yield facts.finding(
                use,
                Fault.DEPLOYMENT,
                Severity.LOW,
                0.9,
                f"{use.name} is deprecated: it is {new} today.",
                f"Write {new}.",
                [facts.spans.replace(use.expression, name.text), *name.edits],
            )
        elif use.name in _NOTED and not use.imported:
            yield facts.finding(
                use,
                Fault.DEPLOYMENT,
                Severity.INFO,
                0.9,
                f"{use.name} is deprecated: {_NOTED[use.name]}.",
                f"{_NOTED[use.name]}.",
            )


RULE = Rule(_run)
