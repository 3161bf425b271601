"""What TensorFlow is told for a card, recorded by a stand-in; the CPU's settings are tried in real jobs elsewhere."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from stethoscope.errors import BadSetting
from stethoscope.memory.configure import configure
from stethoscope.memory.run_settings import RunSettings

MIB = 1 << 20


class Recorder:
    """Notes each call by name; `set_…` calls raise `failing` if there is one."""

    def __init__(self) -> None:
        self.said: list[tuple] = []
        self.failing: Exception | None = None

    def __getattr__(self, name: str):
        def set_it(*arguments):
            if self.failing:
                raise self.failing
            self.said.append((name, *arguments))

        set_it.__name__ = name
        return set_it


@pytest.fixture
def tensorflow(monkeypatch):
    recorder = Recorder()
    cards = {"GPU": ["card 0", "card 1"], "CPU": ["the CPU"]}
    config = SimpleNamespace(
        threading=recorder,
        experimental=recorder,
        list_physical_devices=lambda kind: cards[kind],
        set_visible_devices=recorder.set_visible_devices,
        set_logical_device_configuration=recorder.set_logical_device_configuration,
        LogicalDeviceConfiguration=lambda memory_limit=None: memory_limit,
    )
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(config=config))
    return SimpleNamespace(recorder=recorder, cards=cards)


def test_growth_on_the_chosen_card(tensorflow):
    said = configure(RunSettings(device="gpu", gpu_index=1, memory_growth=True))
    assert tensorflow.recorder.said == [
        ("set_visible_devices", ["card 1"], "GPU"),
        ("set_memory_growth", "card 1", True),
    ]
    card, growth = said
    assert card == "GPU 1." and "grows" in growth


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        (RunSettings(gpu_memory_limit_bytes=2048 * MIB), [2048]),
        (RunSettings(device="gpu", logical_devices=(1024 * MIB, 512 * MIB)), [1024, 512]),
    ],
)
def test_limits_are_logical_devices_in_mebibytes(tensorflow, settings, sizes):
    said = configure(settings)
    assert tensorflow.recorder.said[-1] == ("set_logical_device_configuration", "card 0", sizes)
    assert "MiB" in said[-1]


def test_the_cpu_hides_the_cards(tensorflow):
    assert configure(RunSettings(device="cpu")) == ("The CPU only; 2 GPUs hidden.",)
    assert tensorflow.recorder.said == [("set_visible_devices", [], "GPU")]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (RunSettings(device="gpu", memory_growth=True, gpu_memory_limit_bytes=MIB), "keep the limit"),
        (RunSettings(device="gpu", gpu_index=2), "one of 0 to 1"),
        (RunSettings(device="cpu", logical_devices=(MIB,)), "Memory limit .* of the process"),
    ],
)
def test_contradictions_are_said(tensorflow, settings, words):
    with pytest.raises(BadSetting, match=words):
        configure(settings)


def test_without_a_card(tensorflow):
    tensorflow.cards["GPU"] = []
    with pytest.raises(BadSetting, match="none here"):
        configure(RunSettings(device="gpu"))


def test_after_the_first_operation_it_is_too_late(tensorflow):
    tensorflow.recorder.failing = RuntimeError("Intra op parallelism cannot be modified after initialization.")
    with pytest.raises(BadSetting, match="process"):
        configure(RunSettings(intra_threads=2))
    tensorflow.recorder.failing = ValueError("Cannot set memory growth on device when virtual devices configured")
    with pytest.raises(BadSetting, match="virtual devices"):
        configure(RunSettings(device="cpu"))
