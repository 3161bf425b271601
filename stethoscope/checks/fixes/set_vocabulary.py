"""Makes an embedding large enough for every token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, last_name, literal, rebuilt

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetVocabulary(Fix):
    """Gives the Embedding `layer` room for `size` tokens."""

    kind: ClassVar[str] = "set-vocabulary"
    layer: str = ""
    size: int = 1
    was: int | None = None
    output_dim: int | None = None

    @property
    def summary(self) -> str:
        """One line."""
        before = f" instead of {self.was}" if self.was is not None else ""
        return f"Give {self.layer} room for {self.size} tokens{before}"

    def code(self) -> str:
        """The layer's new line."""
        if self.output_dim is None:
            return rebuilt((self.layer,), {"input_dim": str(self.size)})
        where = comment(f"in the model, in place of {self.layer}")
        return f"{where}\nlayers.Embedding({self.size}, {self.output_dim}, name={literal(last_name(self.layer))})"

    def apply(self, setup: Setup) -> Setup:
        """A copy with the larger embedding."""
        from stethoscope.program.model_config import with_settings

        return with_settings(setup, (self.layer,), input_dim=self.size)


FIX = SetVocabulary
