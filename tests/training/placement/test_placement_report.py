"""What a file says about XLA, read without running it."""

from __future__ import annotations

import pytest

from stethoscope.models.formats import detect
from stethoscope.training.placement.placement_report import xla_use
from stethoscope.types import Architecture, CompileSettings, ModelFile


def use_of(path):
    file = ModelFile.at(path)
    return xla_use(detect(file).describe(file))


@pytest.mark.parametrize(("name", "setting"), [("plain", "off"), ("xla", "on"), ("old", "on")])
def test_the_file_says_how_it_was_compiled(models, name, setting):
    found = use_of(models / f"{name}.keras")
    assert found.setting == setting and found.pins is (setting == "on") and found.sentence


def test_what_keras_decides_later_is_told():
    for said, setting in (("auto", "auto"), (None, "not said")):
        compiled = CompileSettings(
            "mse", "SGD", 0.1, (), {"jit_compile": said, "optimizer": {"config": {"jit_compile": True}}}
        )
        found = xla_use(Architecture("keras", "Keras 3.15.1", 0, 0, (), (), (), compiled))
        assert (found.setting, found.pins, found.optimizer) == (setting, False, True)
        assert "accelerator" in found.sentence and "optimizer" in found.sentence
