"""Pixels that are not scaled.

Why: pixels of 0 … 255 make first activations of some hundreds: training starts far off, is slow, and often ends at chance.
Example: `(x, y), _ = mnist.load_data()` and `model.fit(x, y)`.
Fix: divide by 255, or begin the model with `Rescaling(1./255)`.
Source: UMLAUT (Schoop et al., CHI 2021): input not normalised; LeCun et al., "Efficient BackProp" (1998).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import fed
from stethoscope.pasted.scripts.models_built import layer_name
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Operation, Value, ancestors, calls_behind

_PICTURES = frozenset({"mnist", "fashion_mnist", "cifar10", "cifar100"})
_SHAPES = frozenset(
    {
        "astype",
        "reshape",
        "load_data",
        "expand_dims",
        "concatenate",
        "asarray",
        "array",
        "copy",
        "from_tensor_slices",
        "batch",
        "shuffle",
        "prefetch",
    }
)
_SCALING = ("Rescaling", "Normalization", "BatchNormalization", "LayerNormalization", "Lambda")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        if model.kind == "subclass" and "255" in facts.source.text:
            continue
        if model.kind not in ("sequential", "functional", "subclass"):
            continue
        layers = list(model.layer_calls())
        if (
            (model.kind == "sequential" and not model.whole)
            or not layers
            or any(_may_scale(facts, layer) for layer in layers)
        ):
            continue
        for call in model.calls("fit"):
            x = fed(call).x
            if id(call.node) in done or x is None or not _raw(x):
                continue
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.PREPROCESSING,
                Severity.MEDIUM,
                0.85,
                "The pixels come as they are, from 0 to 255: nothing between load_data and fit scales them.",
                "Divide by 255, for training and test alike.",
            )


def _may_scale(facts: Facts, layer: Call, depth: int = 0) -> bool:
    name = layer_name(layer)
    inner = facts.model_of(layer.result) if name in ("keras.Model", "keras.Sequential") and depth < 3 else None
    if inner is not None:
        return any(_may_scale(facts, one, depth + 1) for one in inner.layer_calls())
    return not name.startswith("keras.layers.") or name.rpartition(".")[2] in _SCALING


def _raw(value: Value) -> bool:
    """Whether pictures of a known set reach this unchanged but for shape and type."""
    loaded = [call for call in calls_behind(value) if call.method == "load_data"]
    if len(loaded) != 1 or meaning(loaded[0].name).rpartition(".")[0].rpartition(".")[2] not in _PICTURES:
        return False
    for one in ancestors(value):
        if isinstance(one, Operation):
            return False
        if isinstance(one, Made) and (one.call.method or one.call.name.rpartition(".")[2]) not in _SHAPES:
            return False
    return True


RULE = Rule(_run, same_as=frozenset({"input-scaling"}))
