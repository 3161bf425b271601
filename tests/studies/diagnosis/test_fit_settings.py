from __future__ import annotations

import pytest

from stethoscope.errors import BadSetting
from stethoscope.evidence.fit import FitSettings
from tests.tables import each


def test_what_is_said_is_read_and_the_rest_stays_open():
    fit = FitSettings.parse("epochs=50, batch_size=16,validation_split=0.2,shuffle=false")
    assert fit == FitSettings(epochs=50, batch_size=16, validation_split=0.2, shuffle=False)
    assert FitSettings.parse("") == FitSettings()
    assert FitSettings.from_mapping(fit.to_json()) == fit


@each("text", ["epochs=0", "epochs=many", "validation_split=1", "shuffle=maybe", "epoch=3", "epochs"])
def test_nonsense_is_named(text):
    with pytest.raises(BadSetting, match=text.split("=")[0]):
        FitSettings.parse(text)
