"""Gives an output the units, activation and loss that belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.compile_code import compile_line
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, last_name, layer_line, literal

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup

_LABELS = {
    "sparse_categorical_crossentropy": (
        "the labels as class numbers from 0",
        "y = np.unique(y, return_inverse=True)[1].reshape(-1) if y.ndim == 1 or y.shape[-1] == 1 else y.argmax(axis=-1)",
    ),
    "categorical_crossentropy": (
        "the labels as one column for each class",
        "y = keras.utils.to_categorical(y, {units}) if y.ndim == 1 or y.shape[-1] == 1 else y",
    ),
    "binary_crossentropy": (
        "the labels as 0 and 1 in one column",
        'y = (y.argmax(axis=-1) if y.ndim > 1 and y.shape[-1] == 2 else y == y.max()).astype("float32").reshape(-1, 1)',
    ),
}


@dataclass(frozen=True)
class ReplaceHead(Fix):
    """Gives the output's last layer with units, `layer`, `units` and `activation`, and trains it with `loss`; labels follow the loss."""

    kind: ClassVar[str] = "replace-head"
    layer: str = ""
    units: int = 1
    activation: str = "linear"
    loss: str = "mean_squared_error"
    was: str = ""
    output: str = ""
    layer_type: str = "Dense"

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was else ""
        unit = "unit" if self.units == 1 else "units"
        return f"Give {self.layer} {self.units} {unit} with {self.activation}, and compile with {self.loss}{before}"

    def code(self) -> str:
        """The last layer, the labels it needs, and the compile line."""
        kind = "Dense" if self.layer_type in ("", "Activation", "Softmax") else self.layer_type
        settings = {"units": self.units, "activation": self.activation}
        line = layer_line("Dense", self.layer, settings) if kind == "Dense" else None
        if line is None:
            line = f"layers.Dense({self.units}, activation={literal(self.activation)}, name={literal(last_name(self.layer))})"
        lines = [comment(f"the model's last layer, in place of {self.layer}"), line]
        labels = _LABELS.get(self.loss)
        if labels is not None and (self.loss != "binary_crossentropy" or self.units == 1):
            lines += [comment(labels[0]), labels[1].format(units=self.units)]
        return "\n".join([*lines, compile_line(loss=literal(self.loss), output=self.output, loss_name=self.loss)])

    def apply(self, setup: Setup) -> Setup:
        """A copy with the new head, the loss, and labels in the encoding that it reads."""
        from stethoscope.program.model_config import with_head
        from stethoscope.program.target_encoding import with_loss

        changed = with_head(setup, self.layer, self.units, self.activation)
        return with_loss(changed, self.output, self.loss, False, units=self.units)


FIX = ReplaceHead
