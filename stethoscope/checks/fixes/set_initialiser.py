"""Starts layers from random weights of a suitable size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import listed, literal, rebuilt

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetInitialiser(Fix):
    """Gives `layers` the kernel and bias initialisers named."""

    kind: ClassVar[str] = "set-initialiser"
    layers: tuple[str, ...] = ()
    kernel: str = "glorot_uniform"
    bias: str = "zeros"

    @property
    def summary(self) -> str:
        """One line."""
        return f"Start {listed(self.layers)} from {self.kernel} weights and {self.bias} biases"

    def code(self) -> str:
        """The model made anew with other initialisers."""
        changes = {"kernel_initializer": literal(self.kernel), "bias_initializer": literal(self.bias)}
        return rebuilt(self.layers, changes)

    def apply(self, setup: Setup) -> Setup:
        """A copy whose layers draw new weights by these initialisers."""
        from stethoscope.program.model_config import with_initialisers

        return with_initialisers(setup, self.layers, self.kernel, self.bias)


FIX = SetInitialiser
