"""Ways of running a model, as text and in words."""

from __future__ import annotations

import pytest

from stethoscope.compare.parity.precision import OFFERED, as_text, parse_way, said
from stethoscope.errors import BadSetting
from stethoscope.memory.run_settings import RunSettings
from tests.tables import each


def test_text_becomes_settings_and_settings_words():
    assert parse_way("call=predict, threads=1") == RunSettings(call="predict", intra_threads=1)
    assert said(parse_way("precision=mixed_bfloat16,device=gpu")) == "mixed_bfloat16, on the GPU"
    assert said(RunSettings()) == "as usual"


@each("text", ["", "speed=high", "threads=0", "threads=many", "call=loud", "xla=maybe", "predict"])
def test_what_is_no_way_is_a_sentence(text):
    with pytest.raises(BadSetting):
        parse_way(text)


def test_each_way_on_offer_is_another_one():
    titles = [said(one) for one in OFFERED.values()]
    assert "as usual" not in titles
    assert len(set(titles)) == len(titles)
    assert [parse_way(as_text(one)) for one in OFFERED.values()] == list(OFFERED.values())
    assert all("_" not in key for key in OFFERED)
