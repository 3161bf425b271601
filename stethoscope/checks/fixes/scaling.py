"""Fixes that bring inputs and targets to a scale that networks learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup

_STANDARDISE = ("mean, std = x.mean(axis=0), x.std(axis=0)", "x = (x - mean) / np.where(std > 0, std, 1)")
_MINMAX = (
    "lowest, highest = x.min(axis=0), x.max(axis=0)",
    "x = (x - lowest) / np.where(highest > lowest, highest - lowest, 1)",
)


@dataclass(frozen=True)
class ScaleInputs(Fix):
    """Scales `input` (all when empty). Statistics are those of the training rows; `was_minimum`, `was_maximum` serve the text."""

    input: str = ""
    method: Literal["standardise", "minmax", "divide"] = "standardise"
    divisor: float | None = None
    was_minimum: float | None = None
    was_maximum: float | None = None

    @property
    def summary(self) -> str:
        """One line."""
        known = self.was_minimum is not None and self.was_maximum is not None
        span = f" (now {number(self.was_minimum or 0)} … {number(self.was_maximum or 0)})" if known else ""
        name = f"input {self.input}" if self.input else "inputs"
        if self.method == "divide":
            return f"Divide the {name} by {number(self.divisor or 255)}{span}"
        if self.method == "minmax":
            return f"Scale the {name} to 0 … 1{span}"
        return f"Scale the {name} to mean 0 and standard deviation 1{span}"

    def code(self) -> str:
        """The lines that scale, before fit."""
        what = f" (x: the input {self.input})" if self.input else ""
        lines = [comment(f"before model.fit{what}; do the same with every row predicted later")]
        if self.method == "divide":
            return "\n".join([*lines, f'x = x.astype("float32") / {number(self.divisor or 255)}'])
        if self.method == "minmax":
            return "\n".join([*lines, *_MINMAX])
        return "\n".join([*lines, *_STANDARDISE])

    def apply(self, setup: Setup) -> Setup:
        """A copy with scaled rows; validation rows by the training rows' statistics."""
        from stethoscope.program.data_changes import scaled_inputs

        return scaled_inputs(setup, self.input, self.method, self.divisor)


FIX = ScaleInputs
