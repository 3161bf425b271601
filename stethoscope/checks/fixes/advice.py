"""What only the user can do: said, with lines to start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment
from stethoscope.errors import CannotRun

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class Advice(Fix):
    """Says `text`; `snippet` is Python to copy."""

    provable: ClassVar[bool] = False
    text: str = ""
    snippet: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        return " ".join(self.text.split())

    def code(self) -> str:
        """The snippet, or the advice as a comment."""
        return self.snippet or comment(self.text)

    def apply(self, setup: Setup) -> Setup:
        """Never possible.

        Raises:
            CannotRun: always.
        """
        raise CannotRun("This advice changes something outside the training, so no run here can show its effect.")


FIX = Advice
