"""A picture is predicted in another scale than the training's.

Why: a model trained on pixels divided by 255 meets values up to 255 when a single picture is read and predicted as it comes.
Example: `x_train / 255.0` in the training, and `model.predict(np.array(Image.open("digit.png"))[None])`.
Fix: the same scaling for the picture.
Source: Humbatova et al. (ICSE 2020): missing preprocessing; stackoverflow.com/questions/63279168.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import of_pipeline
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Function, Operation, Value, ancestors, calls_behind, number

_OPENS = ("PIL.Image.open", "cv2.imread", "keras.utils.load_img", "keras.preprocessing.image.load_img")
_KEEPS = frozenset(
    [
        "open",
        "imread",
        "load_img",
        "img_to_array",
        "array",
        "asarray",
        "resize",
        "convert",
        "cvtColor",
        "reshape",
        "expand_dims",
        "astype",
        "squeeze",
        "stack",
        "vstack",
        "convert_to_tensor",
        "invert",
        "grayscale",
        "join",
        "print",
    ]
)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        fits = [call.argument("x", 0) for call in model.calls("fit")]
        if not fits or not all(_by_255(x) for x in fits):
            continue
        for call in model.calls("predict", "predict_on_batch"):
            value = call.argument("x", 0)
            if value is None or id(call.node) in done:
                continue
            behind = list(calls_behind(value))
            read = any(meaning(one.name) in _OPENS for one in behind)
            if read and all(_keeps(one) for one in behind) and not _changed(value):
                done.add(id(call.node))
                yield facts.finding(
                    call,
                    Fault.PREPROCESSING,
                    Severity.HIGH,
                    0.88,
                    "The training divides the pixels by 255, and this picture is given as it was read.",
                    "Divide it by 255 too.",
                )


def _by_255(value: Value | None) -> bool:
    if value is not None and any(
        one.name.endswith("ImageDataGenerator") and 0 < (number(one.argument("rescale")) or 1) < 0.01
        for one in calls_behind(value)
    ):
        return True
    for step in of_pipeline(value).pipeline:
        function = step.args[0] if step.method == "map" and step.args else None
        written = ast.unparse(function.node) if isinstance(function, Function) else ""
        if re.search(r"/ ?255|\b(?:rescal\w*|scale)\(", written):
            return True
    return value is not None and any(
        isinstance(one, Operation) and one.operator == "Div" and number(one.right) in (255.0, 256.0)
        for one in ancestors(value)
    )


def _keeps(call: Call) -> bool:
    return (meaning(call.name).rpartition(".")[2] or call.method) in _KEEPS


def _changed(value: Value) -> bool:
    return any(isinstance(one, Operation) and one.operator in ("Div", "Mult") for one in ancestors(value))


RULE = Rule(_run)
