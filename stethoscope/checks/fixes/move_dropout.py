"""Puts a dropout layer where it belongs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, last_name, literal, number

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class MoveDropout(Fix):
    """Moves the dropout layer `layer` before the layer `before`, or after the layer `after`."""

    kind: ClassVar[str] = "move-dropout"
    layer: str = ""
    before: str = ""
    after: str = ""
    rate: float | None = None

    @property
    def summary(self) -> str:
        """One line."""
        return f"Move {self.layer} {f'before {self.before}' if self.before else f'after {self.after}'}"

    def code(self) -> str:
        """The line and where to put it."""
        place = f"before {self.before}" if self.before else f"after {self.after}"
        rate = 0.5 if self.rate is None else self.rate
        where = comment(f"in the model, take this line from where it is and put it {place}")
        return f"{where}\nlayers.Dropout({number(rate)}, name={literal(last_name(self.layer))})"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the layer in its new place."""
        from stethoscope.program.model_graph import with_layer_moved

        return with_layer_moved(setup, self.layer, before=self.before, after=self.after)


FIX = MoveDropout
