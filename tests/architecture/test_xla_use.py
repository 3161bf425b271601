"""What a file says about XLA, and what follows on another device; the trial itself is in tests/training/placement."""

from __future__ import annotations

from stethoscope.architecture.xla_use import on_another_device, remedy_for_whom, xla_use
from stethoscope.tasks.describe import Description
from stethoscope.types import Architecture, CompileSettings
from tests.tables import each


def compiled_with(said: object, version: str = "Keras 3.15.1", optimizer: bool = False) -> Architecture:
    details = {"jit_compile": said, "optimizer": {"config": {"jit_compile": optimizer}}}
    return Architecture("keras", version, 0, 0, (), (), (), CompileSettings("mse", "SGD", 0.1, (), details))


@each(("said", "setting"), [(True, "on"), (False, "off"), ("auto", "auto"), (None, "not said")])
def test_the_file_says_how_it_was_compiled(said, setting):
    found = xla_use(compiled_with(said))
    assert (found.setting, found.pins) == (setting, setting == "on")
    assert found.sentence


def test_what_keras_decides_later_is_told():
    for said in ("auto", None):
        found = xla_use(compiled_with(said, optimizer=True))
        assert found.optimizer
        assert "accelerator" in found.sentence and "optimizer" in found.sentence


def test_describe_warns_of_what_is_tied_to_a_device_and_of_nothing_else():
    tied = compiled_with(True)
    (warning,) = Description.of(tied, 10).warnings
    assert on_another_device(tied) in warning
    assert all(what in warning for _, what in remedy_for_whom())
    assert "GPU:0" in on_another_device(tied)
    for said in (False, "auto", None):
        assert Description.of(compiled_with(said), 10).warnings == ()


def test_there_is_a_remedy_for_each_situation():
    assert [situation for situation, _ in remedy_for_whom()][::2] == ["serving", "several devices"]
