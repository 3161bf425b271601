"""Several changes that only work together.

Fills in what an architecture knows of the layers that a fix changes, so that the printed line keeps their other settings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stethoscope.architecture.activations import ACTIVATION_LAYERS
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_code import listed as names_of
from stethoscope.checks.fixes.layer_code import literal, rebuilt
from stethoscope.checks.fixes.layer_settings import SetVocabulary
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.errors import StethoscopeError
from stethoscope.types import Architecture

if TYPE_CHECKING:
    from stethoscope.program.setup import Setup


_DEEPEST = 8
_MOST_SAID = 3
_ONE_SNIPPET = 3


@dataclass(frozen=True)
class Combined(Fix):
    """Makes `fixes` one after the other."""

    fixes: tuple[Fix, ...] = ()

    @property
    def summary(self) -> str:
        """One line; changes beyond the third are only counted."""
        if alike := self._alike():
            before = "" if len({fix.was for fix in alike}) > 1 or not alike[0].was else f" instead of {alike[0].was}"
            return f"Give {names_of(fix.layer for fix in alike)} the activation {alike[0].activation}{before}"
        listed = [fix.summary for fix in self.fixes]
        more = len(listed) - _MOST_SAID
        return "; ".join(listed[:_MOST_SAID]) + (f"; and {more} more like these" if more > 0 else "")

    def code(self) -> str:
        """The lines of each, in order; one activation for several layers at once."""
        if alike := self._alike():
            return rebuilt((fix.layer for fix in alike), {"activation": literal(alike[0].activation)})
        return "\n\n".join(dict.fromkeys(fix.code() for fix in self.fixes))

    def _alike(self) -> tuple[ReplaceActivation, ...]:
        """The fixes, where all give layers with a setting for it the same activation, and are too many to print each."""
        found = tuple(fix for fix in self.fixes if isinstance(fix, ReplaceActivation))
        own = all(fix.layer_type == "Activation" or fix.layer_type not in ACTIVATION_LAYERS for fix in found)
        one = len({fix.activation for fix in found}) == 1
        return found if len(found) == len(self.fixes) >= _ONE_SNIPPET and own and one else ()

    def apply(self, setup: Setup) -> Setup:
        """A copy with every change that training can show; advice in between changes nothing.

        Raises:
            CannotRun: one of them cannot be applied.
        """
        for fix in self.fixes:
            if fix.provable:
                setup = fix.apply(setup)
        return setup

    def params(self) -> dict[str, Any]:
        """The fixes as JSON."""
        return {"fixes": [fix.to_json() for fix in self.fixes]}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Combined:
        """The inverse of `params`.

        Raises:
            StethoscopeError: not a list of fixes, or nested beyond sense.
        """
        from stethoscope.checks.fixes import fix_from_json

        items = params.get("fixes", ())
        if not isinstance(items, list | tuple) or not all(isinstance(item, Mapping) for item in items):
            raise StethoscopeError(f"Fix combined: expected a list of fixes, got {type(items).__name__}.")
        if _depth(params) > _DEEPEST:
            raise StethoscopeError(f"Fix combined: expected at most {_DEEPEST} levels, got more.")
        return cls(tuple(fix_from_json(item) for item in items))


def _depth(params: Any) -> int:
    if not isinstance(params, Mapping):
        return 0
    inner = params.get("fixes")
    if not isinstance(inner, list | tuple):
        return 0
    return 1 + max((_depth(item.get("params")) for item in inner if isinstance(item, Mapping)), default=0)


FIX = Combined


def with_known_settings(fix: Fix, architecture: Architecture | None) -> Fix:
    """The same fix, printing the layer's whole line where the architecture has its settings."""
    if architecture is None:
        return fix
    if isinstance(fix, Combined):
        return Combined(tuple(with_known_settings(part, architecture) for part in fix.fixes))
    layer = next((layer for layer in architecture.layers if layer.path == getattr(fix, "layer", None)), None)
    if layer is None:
        return fix
    if isinstance(fix, ReplaceActivation) and not fix.settings:
        return dataclasses.replace(fix, layer_type=layer.type, settings=dict(layer.config))
    if isinstance(fix, SetVocabulary) and fix.output_dim is None and isinstance(layer.config.get("output_dim"), int):
        return dataclasses.replace(fix, output_dim=layer.config["output_dim"])
    return fix
