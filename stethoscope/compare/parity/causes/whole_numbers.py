"""Values are cut to whole numbers on the way: a cast to an integer type and back.

Source: TensorFlow's tf.cast ("casting floats to integers truncates"), ONNX's operator Cast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from stethoscope.architecture.formulas import Array
from stethoscope.compare.parity.causes.case import Case, Cause, Guess

_CUTS: Mapping[str, Callable[[Array], Array]] = {
    "towards zero, as a cast does it": np.trunc,
    "to the nearest": np.round,
    "down": np.floor,
    "up": np.ceil,
}
_SAME = 1e-6


class WholeNumbers(Cause):
    """See the module's docstring."""

    id = "precision"
    title = "Values are cut to whole numbers"

    def weigh(self, case: Case) -> Guess | None:
        """Near certain where the one is the other cut so; what only one of them has on the way is looked at too."""
        pairs = [
            (case.a, case.b),
            *((x, one.answer) for x in case.inputs for one in case.added if one.answer.shape == x.shape),
        ]
        for left, right in pairs:
            if np.array_equal(left, np.round(left)):
                continue
            for how, cut in _CUTS.items():
                if float(np.max(np.abs(cut(left) - right))) <= _SAME:
                    return self.guess(
                        f"The second model cuts what {case.layer.path!r} answers to whole numbers ({how}).",
                        0.96,
                        case.layer.path,
                        "Take the cast to an integer type out, or put it into both.",
                    )
        return None


CAUSE = WholeNumbers()
