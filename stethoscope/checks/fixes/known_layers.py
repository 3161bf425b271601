"""Fills in what an architecture knows of the layers that a fix changes, so that the printed line keeps their other settings."""

from __future__ import annotations

import dataclasses

from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.replace_activation import ReplaceActivation
from stethoscope.checks.fixes.set_vocabulary import SetVocabulary
from stethoscope.types import Architecture


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
