"""Whose memory ran out, and in doing what, is said as it was."""

from __future__ import annotations

import pytest

from dashboard.behaviour.prediction_parts import what_ran_out
from stethoscope.framework_errors import ShortageReport

MIB = 1 << 20


@pytest.mark.parametrize(
    ("mechanism", "phase", "said"),
    [
        ("limit", "load", "loading the model"),
        ("limit", "trace", "first call"),
        ("limit", "collect", "outputs together"),
        ("limit", "predict", "A batch of 64"),
        ("host", "predict", "machine itself"),
        ("kill", "predict", "from outside"),
    ],
)
def test_each_way_of_running_out_has_its_sentence(mechanism, phase, said):
    sentence = what_ran_out(ShortageReport(mechanism=mechanism), phase, 64, 200 * MIB)
    assert said in sentence
    assert ("200 MiB" in sentence) == (mechanism == "limit")
