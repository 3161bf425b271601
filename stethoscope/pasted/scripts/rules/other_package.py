"""A package that does not work with Keras 3.

Why: TensorFlow Addons ended in 2024 and imports parts of TensorFlow that are gone; a `hub.KerasLayer` is a layer of Keras 2, which a
model of Keras 3 does not take: ValueError; `keras_contrib`, `keras_applications` and `keras_preprocessing` are for Keras 2.
Example: `keras.Sequential([hub.KerasLayer(url), …])`; `import tensorflow_addons as tfa`.
Fix: `tf_keras` for the whole model, or a layer that calls the loaded module; what Keras has by itself today.
Source: github.com/tensorflow/addons (end of life); github.com/tensorflow/hub/issues/908; keras.io/guides/migrating_to_keras_3.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_ENDED = {
    "tensorflow_addons": "TensorFlow Addons ended, and its last version does not import with TensorFlow 2.16 or later; most of it is in keras today (AdamW, GroupNormalization, F1Score).",
    "keras_contrib": "keras-contrib is for Keras 2 of before TensorFlow 2, and does not import today.",
    "keras_applications": "keras_applications went into keras.applications.",
    "keras_preprocessing": "keras_preprocessing went into tf.keras.preprocessing and keras.utils.",
    "keras_radam": "keras-radam is for Keras 2.",
    "keras_self_attention": "keras-self-attention is for Keras 2; keras.layers.MultiHeadAttention takes its place.",
}


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy:
        return
    done: set[int] = set()
    for use in facts.uses:
        root = use.name.split(".")[0]
        if use.imported and root in _ENDED and not use.guarded and use.line not in done:
            done.add(use.line)
            yield facts.finding(
                use, Fault.DEPLOYMENT, Severity.HIGH, 0.9, _ENDED[root], "Use what Keras has by itself."
            )
    uses_old = facts.imports("tf_keras")
    for call in facts.calls:
        if call.name == "tensorflow_hub.KerasLayer" and not call.guarded and not uses_old and id(call.node) not in done:
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.DEPLOYMENT,
                Severity.HIGH,
                0.9,
                "hub.KerasLayer is a layer of Keras 2. A model of Keras 3, which TensorFlow brings since 2.16, does not take it: ValueError.",
                "Build the model with tf_keras, or wrap hub.load in a layer of your own.",
                (),
                "import tensorflow_hub as hub\n\n\nclass HubLayer(keras.layers.Layer):\n    def __init__(self, url):\n        super().__init__()\n"
                "        self.module = hub.load(url)\n\n    def call(self, x):\n        return self.module(x)",
            )


RULE = Rule(_run)
