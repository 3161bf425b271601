"""A layer or an optimizer is made anew in each call.

Why: a layer that is made within `call` has new weights each time and belongs to no model: they are not trained and not saved. An
optimizer made within a `tf.function` makes variables on a later call, which raises ValueError; it also forgets its moments.
Example: `def call(self, x): return keras.layers.Dense(10)(x)`.
Fix: make it once, in `__init__` (or before the function), and call it here.
Source: keras.io/guides/making_new_layers_and_models_via_subclassing; tensorflow.org/guide/function#creating_tfvariables
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.architecture.activations import ACTIVATIONS
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import is_model_class
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Class, Ref, Value

_WITHOUT_WEIGHTS = frozenset(
    [
        "Activation",
        "Add",
        "AlphaDropout",
        "Average",
        "AveragePooling1D",
        "AveragePooling2D",
        "AveragePooling3D",
        "Concatenate",
        "Cropping1D",
        "Cropping2D",
        "Dot",
        "Dropout",
        "Flatten",
        "GaussianDropout",
        "GaussianNoise",
        "GlobalAveragePooling1D",
        "GlobalAveragePooling2D",
        "GlobalMaxPooling1D",
        "GlobalMaxPooling2D",
        "Identity",
        "Input",
        "Lambda",
        "Masking",
        "MaxPooling1D",
        "MaxPooling2D",
        "MaxPooling3D",
        "Maximum",
        "Minimum",
        "Multiply",
        "Permute",
        "RepeatVector",
        "Rescaling",
        "Reshape",
        "Resizing",
        "SpatialDropout1D",
        "SpatialDropout2D",
        "Subtract",
        "UnitNormalization",
        "UpSampling1D",
        "UpSampling2D",
        "ZeroPadding1D",
        "ZeroPadding2D",
        "CenterCrop",
    ]
)


_WITHOUT = _WITHOUT_WEIGHTS | {one.layer for one in ACTIVATIONS.values() if one.layer}


def _run(facts: Facts) -> Iterator[Finding]:
    calls = {id(call.node): call for call in facts.calls}
    for owner in ast.walk(facts.parsed.tree):
        if isinstance(owner, ast.ClassDef):
            for method in owner.body:
                if isinstance(method, ast.FunctionDef) and method.name == "call" and _is_layer(facts, owner):
                    yield from _layers(facts, method, calls)
        if isinstance(owner, ast.FunctionDef) and any(_traced(one) for one in owner.decorator_list):
            yield from _optimizers(facts, owner, calls)


def _is_layer(facts: Facts, owner: ast.ClassDef) -> bool:
    for call in facts.calls:
        if isinstance(call.function, Class) and call.function.node is owner:
            return is_model_class(call.function) or any(_layer_base(base) for base in call.function.bases)
    written = {ast.unparse(base).rpartition(".")[2] for base in owner.bases}
    return bool(written & {"Model", "Layer"})


def _layer_base(base: Value) -> bool:
    return isinstance(base, Ref) and meaning(base.name).startswith("keras.layers.")


def _layers(facts: Facts, method: ast.FunctionDef, calls: dict[int, Call]) -> Iterator[Finding]:
    for node in ast.walk(method):
        # Only what is made and called at once: a layer that is kept is made under a question.
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Call):
            continue
        made = calls.get(id(node.func))
        kind = meaning(made.name) if made is not None else ""
        if made is not None and kind.startswith("keras.layers.") and kind.rpartition(".")[2] not in _WITHOUT:
            yield facts.finding(
                made,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.9,
                f"This {kind.rpartition('.')[2]} is made anew in each call: its weights belong to nothing, and are neither trained nor saved.",
                "Make it in __init__, and call it here.",
                (),
                "def __init__(self):\n    super().__init__()\n    self.last = keras.layers.Dense(10)",
            )


def _optimizers(facts: Facts, function: ast.FunctionDef, calls: dict[int, Call]) -> Iterator[Finding]:
    for node in ast.walk(function):
        made = calls.get(id(node)) if isinstance(node, ast.Call) else None
        if made is not None and meaning(made.name).startswith("keras.optimizers.") and ".schedules." not in made.name:
            yield facts.finding(
                made,
                Fault.OPTIMIZER,
                Severity.HIGH,
                0.9,
                "An optimizer is made within a tf.function: it makes its variables anew, which raises ValueError, and forgets its moments.",
                "Make it once, before the function.",
            )
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "numpy"
            and not node.args
        ):
            yield facts.finding(
                node.lineno,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.85,
                "Within a tf.function a tensor has no value yet: .numpy() raises AttributeError.",
                "Return the tensor, and take its value outside.",
            )


def _traced(decorator: ast.expr) -> bool:
    written = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return written in ("tf.function", "tensorflow.function")


RULE = Rule(_run)
