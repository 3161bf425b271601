"""Which columns of a log of predictions hold the moment, the prediction, how sure it was, and the label that came later."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from stethoscope.drift.reading import Side
from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import BadSetting

_PREDICTION = re.compile(
    r"(?:y_?pred(?:icted)?|pred(?:iction|icted)?s?|predicted_(?:label|class|value)|model_output)", re.I
)
_CONFIDENCE = re.compile(r"(?:confidence|conf|score|prob(?:ability|a)?|max_prob(?:ability)?|certainty)", re.I)
_LABEL = re.compile(r"(?:y|y_?true|labels?|target|truth|ground_?truth|actual|true_(?:label|class|value)|outcome)", re.I)


@dataclass(frozen=True)
class LogColumns:
    """Names of columns; "" for what there is not."""

    time: str = ""
    prediction: str = ""
    confidence: str = ""
    label: str = ""

    def role(self, name: str) -> Literal["prediction", "confidence", "label"] | None:
        """What a column is in the log."""
        if not name:
            return None
        if name == self.prediction:
            return "prediction"
        if name == self.confidence:
            return "confidence"
        return "label" if name == self.label else None


def log_columns(settings: DriftSettings, reference: Side, current: Side | None) -> LogColumns:
    """The columns that were named, else those whose names say what they are.

    Raises:
        BadSetting: a column was named that the reference does not have, or a column of moments that holds none.
    """
    for what, name in (
        ("time", settings.time),
        ("prediction", settings.prediction),
        ("confidence", settings.confidence),
        ("label", settings.label),
    ):
        if name not in ("", "none") and name not in reference.fields:
            known = ", ".join(list(reference.fields)[:20])
            raise BadSetting(f"--{what} {name[:60]!r}: expected a column of {reference.name} ({known}). Choose one.")
    moments = [one.name for one in reference.fields.values() if one.moments is not None]
    time = "" if settings.time == "none" else settings.time or (moments[0] if moments else "")
    if current is not None and time and time not in current.fields:
        time = ""
    found = [
        ""
        if asked == "none"
        else asked or next((name for name in reference.fields if form.fullmatch(name.strip())), "")
        for asked, form in (
            (settings.prediction, _PREDICTION),
            (settings.confidence, _CONFIDENCE),
            (settings.label, _LABEL),
        )
    ]
    prediction, confidence, label = found
    if not prediction and not settings.label:
        # Without predictions a column called "y" or "score" is data like any other.
        confidence, label = settings.confidence, ""
    return LogColumns(time, prediction, confidence if confidence != "none" else "", label)
