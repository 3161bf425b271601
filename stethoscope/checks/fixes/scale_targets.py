"""Brings regression targets to a scale that networks learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup

_STANDARDISE = ("mean, std = y.mean(axis=0), y.std(axis=0)", "y = (y - mean) / np.where(std > 0, std, 1)")
_MINMAX = (
    "lowest, highest = y.min(axis=0), y.max(axis=0)",
    "y = (y - lowest) / np.where(highest > lowest, highest - lowest, 1)",
)
_BACK = {
    "standardise": "predicted = model.predict(x) * std + mean",
    "minmax": "predicted = model.predict(x) * (highest - lowest) + lowest",
}


@dataclass(frozen=True)
class ScaleTargets(Fix):
    """Scales the targets of `output`; predictions are scaled back."""

    output: str = ""
    method: Literal["standardise", "minmax"] = "standardise"

    @property
    def summary(self) -> str:
        """One line."""
        name = f"targets of {self.output}" if self.output else "targets"
        to = "0 … 1" if self.method == "minmax" else "mean 0 and standard deviation 1"
        return f"Scale the {name} to {to}"

    def code(self) -> str:
        """The lines that scale, and the one that undoes it for predictions."""
        what = f" (y: the targets of {self.output})" if self.output else ""
        lines = [comment(f"before model.fit{what}")]
        lines += _MINMAX if self.method == "minmax" else _STANDARDISE
        lines += [comment("after model.predict: back to the original unit"), _BACK[self.method]]
        return "\n".join(lines)

    def apply(self, setup: Setup) -> Setup:
        """A copy with scaled targets and `decode_targets` set."""
        from stethoscope.program.data_changes import scaled_targets

        return scaled_targets(setup, self.output, self.method)


FIX = ScaleTargets
