"""Every value is another function of what went in: another activation, or another form of it.

Source: onnx/onnx-tensorflow#607 (lost), huggingface/candle#900 (forms of GELU), PaddlePaddle/Paddle#44820 (hard sigmoids), jinyu121/DW2TF#2 (slopes).
"""

from __future__ import annotations

import numpy as np

from stethoscope.architecture.formulas import FORMS, Array, Form, leaky
from stethoscope.architecture.layer_kinds import names_activation
from stethoscope.compare.parity.causes.case import Case, Cause, Guess

_BINS = 512


class Elementwise(Cause):
    """See the module's docstring."""

    id = "activation"
    title = "Another activation"

    def weigh(self, case: Case) -> Guess | None:
        """Sure where the second value is a function of the first, and one of the known ones fits."""
        kind = next((layer for layer in reversed(case.group) if names_activation(layer.type)), None)
        told = str(dict(case.layer.config).get("activation", "")).lower() if case.layer.config else ""
        if kind is None and not told:
            return None
        read = [case.answers[path] for path in case.layer.inputs if path in case.answers]
        x = next((one for one in read or case.inputs if one.shape == case.a.shape), None)
        if x is not None and kind is case.layer:
            for form in (*FORMS, _sloped(x, case.b)):
                left = float(np.sqrt(np.mean(np.square(form.function(x) - case.b)))) / case.rms
                same = float(np.sqrt(np.mean(np.square(form.function(x) - case.a)))) / case.rms
                if left < 1e-5 < same:
                    gelu = form.name.startswith("gelu")
                    return Guess(
                        "gelu-form" if gelu else self.id,
                        "Another form of GELU" if gelu else self.title,
                        f"The second model's {case.layer.path!r} computes {form.title}; the first model does not.",
                        0.95,
                        case.layer.path,
                        f"Set the same form in both ({form.title}).",
                    )
        if "gelu" in told or (kind is not None and "gelu" in kind.type.lower()):
            far = float(np.max(np.abs(case.a - case.b)))
            if far < 5e-3:
                return Guess(
                    "gelu-form",
                    "Another form of GELU",
                    f"{case.layer.path!r} differs by at most {far:.2g}, as the exact form (erf) does from the approximate one (tanh).",
                    0.85,
                    case.layer.path,
                    "Set approximate to the same in both.",
                )
        if _is_function(case.a.reshape(-1), case.b.reshape(-1)):
            return self.guess(
                f"The second model's {case.layer.path!r} is another function of the same values.",
                0.6,
                (kind or case.layer).path,
                "Set the same activation in both.",
            )
        return None


def _sloped(x: Array, b: Array) -> Form:
    """ReLU with the slope below zero that least squares give."""
    below = np.where(x < 0, x, 0.0)
    squares = float(np.sum(below * below))
    slope = float(np.sum(below * b)) / squares if squares else 0.0
    return Form("leaky", f"leaky ReLU with slope {slope:.4g}", leaky(slope))


def _is_function(a: Array, b: Array) -> bool:
    """Whether equal values of the first always go with equal values of the second, on a fine grid."""
    order = np.argsort(a)
    left, right = a[order], b[order]
    if left.size < 64 or left[0] == left[-1]:
        return False
    step = max(1, left.size // (_BINS * 32))
    left, right = left[::step], right[::step]
    jumps = np.abs(np.diff(right))
    span = float(np.ptp(right)) or 1.0
    return bool(np.mean(jumps) < 4 * span / len(right) + 1e-4 * span)


CAUSE = Elementwise()
