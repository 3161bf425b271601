"""A change to the user's own script: the lines before and after, as a patch to apply."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from stethoscope.checks.fixes.fix import Fix
from stethoscope.errors import CannotRun
from stethoscope.program.setup import Setup


@dataclass(frozen=True)
class Edit:
    """Replaces characters `start` to `end` of a part of a script (0: all of it; else the cell of a notebook, from 1) by `text`."""

    part: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class ScriptPatch(Fix):
    """Changes a few characters of a script; all others stay as they are. `diff` is the same as a unified diff."""

    provable: ClassVar[bool] = False
    text: str = ""
    diff: str = ""
    edits: tuple[Edit, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return " ".join(self.text.split())

    def code(self) -> str:
        """The unified diff."""
        return self.diff

    @property
    def has_code(self) -> bool:
        """Whether there is a diff."""
        return bool(self.diff)

    def params(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {**super().params(), "edits": [asdict(edit) for edit in self.edits]}

    def apply(self, setup: Setup) -> Setup:
        """Never possible.

        Raises:
            CannotRun: always.
        """
        raise CannotRun("This patch changes a script, which is read here and never run.")


FIX = ScriptPatch
