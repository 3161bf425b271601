"""What can be chosen about a conversion, and what is refused."""

from __future__ import annotations

import json

import pytest

from stethoscope.compare.convert.converter import Options
from stethoscope.errors import BadSetting
from tests.tables import each


def test_survives_json():
    chosen = Options(opset=15, batch_size=4, integer_ends=True, allow_float=True, calibration_rows=7)
    assert Options.from_json(json.loads(json.dumps(chosen.to_json()))) == chosen
    assert Options.from_json({}) == Options()


@each(
    ("value", "why"),
    [
        ({"opset": 19}, "expected 13 to 18"),
        ({"opset": "18"}, "expected 13 to 18"),
        ({"batch_size": 0}, "batch_size: .* whole number"),
        ({"batch_size": True}, "batch_size: .* whole number"),
        ({"calibration_rows": None}, "calibration_rows: .* whole number"),
        ({"integer_ends": 1}, "integer_ends: .* true or false"),
        ({"speed": 2}, "no option 'speed'"),
    ],
)
def test_refuses_what_makes_no_sense(value, why):
    with pytest.raises(BadSetting, match=why):
        Options.from_json(value)
