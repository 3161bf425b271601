"""A callback that cannot know whether its metric should rise or fall.

Why: Keras knows the direction of its own metrics. For a function or a metric of one's own, EarlyStopping, ModelCheckpoint and
ReduceLROnPlateau have to be told, or raise ValueError.
Example: `metrics=[iou]` with `def iou(y_true, y_pred)`, and `EarlyStopping(monitor="val_iou")`.
Fix: `mode="max"` (or "min").
Source: keras.io/api/callbacks/early_stopping; raised by Keras 3.15 ("isn't able to automatically determine").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import metrics_of
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Class, Function, Made, Value, text

_CALLBACKS = {"keras.callbacks.EarlyStopping": 0, "keras.callbacks.ModelCheckpoint": 1}
_RISES = re.compile(r"iou|dice|f1|acc|precision|recall|auc|jaccard|psnr|ssim|score|r2|coef", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    own = {_name(value) for model in facts.models for call in model.compiled for value in metrics_of(call)} - {""}
    done: set[int] = set()
    for call in facts.named(*_CALLBACKS):
        place = _CALLBACKS.get(f"keras.callbacks.{call.name.rpartition('.')[2]}", 0)
        monitor = (text(call.argument("monitor", place)) or "").removeprefix("val_")
        if monitor not in own or "mode" in call.keywords or call.spread or id(call.node) in done or facts.legacy:
            continue
        done.add(id(call.node))
        rises = _RISES.search(monitor) is not None and "loss" not in monitor
        yield facts.finding(
            call,
            Fault.EPOCHS,
            Severity.HIGH,
            0.9,
            f"{monitor} is a metric of the script's own: Keras 3 does not know whether it should rise or fall, and raises ValueError.",
            'Say mode="max" or mode="min".',
            [facts.spans.add_argument(call.call_node, 'mode="max"')] if rises else [],
        )


def _name(value: Value) -> str:
    """What a metric of the script's own is called in the logs; "" for those of Keras, and where it is not known."""
    if isinstance(value, Function):
        return value.name if value.name != "lambda" else ""
    if isinstance(value, Made) and isinstance(value.call.function, Class):
        kind = value.call.function
        if "_direction" in kind.attributes or "direction" in kind.attributes:
            return ""
        said = text(value.call.argument("name"))
        made = kind.methods.get("__init__")
        defaults = (
            {}
            if made is None
            else dict(zip([one.arg for one in made.node.args.args][::-1], made.node.args.defaults[::-1], strict=False))
        )
        default = getattr(defaults.get("name"), "value", None)
        return said or (default if isinstance(default, str) else "")
    return ""


RULE = Rule(_run)
