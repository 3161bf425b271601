"""Reports metrics that mean something for the task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import comment, listed, literal
from stethoscope.errors import CannotRun

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class SetMetrics(Fix):
    """Compiles with `metrics` for `output` (the only one when empty)."""

    kind: ClassVar[str] = "set-metrics"
    provable: ClassVar[bool] = False
    metrics: tuple[str, ...] = ()
    was: tuple[str, ...] | str = ()
    output: str = ""

    @property
    def summary(self) -> str:
        """One line."""
        was = (self.was,) if isinstance(self.was, str) and self.was else tuple(self.was)
        return f"Report {listed(self.metrics)}{f' instead of {listed(was)}' if was else ''}"

    def code(self) -> str:
        """The new compile line."""
        names = f"[{', '.join(literal(name) for name in self.metrics)}]"
        metrics = f"{{{literal(self.output)}: {names}}}" if self.output else names
        where = comment("in place of your model.compile line")
        return f"{where}\nmodel.compile(optimizer=model.optimizer, loss=model.loss, metrics={metrics})"

    def apply(self, setup: Setup) -> Setup:
        """Never possible.

        Raises:
            CannotRun: always: metrics change what is shown, not what is learned.
        """
        raise CannotRun("Metrics change what is shown, not what is learned, so no run can show an effect.")


FIX = SetMetrics
