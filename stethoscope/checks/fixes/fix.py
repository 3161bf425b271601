"""What a fix is: a frozen dataclass whose fields are plain values.

What only the user can do: said, with lines to start from.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from stethoscope.checks.fixes.layer_code import comment
from stethoscope.codec import WritesItself
from stethoscope.errors import CannotRun

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


@dataclasses.dataclass(frozen=True)
class Fix(WritesItself):
    """A change to a model, its compile settings, its data or its fit call. Subclass as a frozen dataclass with defaults last."""

    kind: ClassVar[str] = ""
    """The name of the class, with dashes."""
    provable: ClassVar[bool] = True
    """Whether training a changed copy can show its effect; False for advice that changes no training (a metric)."""

    def __init_subclass__(cls) -> None:
        cls.kind = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    @property
    def summary(self) -> str:
        """One line: what to change, imperative, with the user's names."""
        raise NotImplementedError

    def code(self) -> str:
        """Python to copy: the changed lines, complete enough to paste, without placeholders that hide the work."""
        raise NotImplementedError

    @property
    def has_code(self) -> bool:
        """Whether `code` is more than the advice as a comment."""
        return any(line.strip() and not line.lstrip().startswith("#") for line in self.code().splitlines())

    def apply(self, setup: Setup) -> Setup:
        """Returns a changed copy of the training.

        Raises:
            CannotRun: it cannot be applied to this model; says why.
        """
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """{"kind", "summary", "code", "params"}."""
        return {"kind": self.kind, "summary": self.summary, "code": self.code(), "params": self.params()}

    def params(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """A fix of any kind is read from what `to_json` gives, one of a known kind from its fields."""
        if cls is not Fix:
            return handler(source)
        from pydantic_core import core_schema

        from stethoscope.checks.fixes import fix_from_json

        return core_schema.no_info_after_validator_function(fix_from_json, core_schema.dict_schema())

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """The inverse of `params`.

        Raises:
            StethoscopeError: a field is missing, unknown or of the wrong type.
        """
        from stethoscope.codec import decode

        return decode(cls, dict(params))


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
