"""What cannot be done is said before anything runs, with the nearest settings that can."""

from __future__ import annotations

import pytest

from stethoscope.devices import Gpu, Machine
from stethoscope.errors import BadSetting
from stethoscope.memory.refusals import hindrances, nearest_valid, refusals
from stethoscope.memory.run_settings import CALLS, PRECISIONS, RunSettings

GIB = 1 << 30
LAPTOP = Machine("a processor", 4, None, 16 * GIB, 12 * GIB, None, (), "No NVIDIA driver answers.")
SERVER = Machine("a processor", 32, None, 128 * GIB, 100 * GIB, None, (Gpu(0, "a card", 16 * GIB, 15 * GIB, GIB),))


def found(settings: RunSettings, machine: Machine) -> dict[str, str]:
    return {item.setting: item.kind for item in refusals(settings, machine)}


@pytest.mark.parametrize("machine", [LAPTOP, SERVER])
def test_plain_settings_are_never_refused(machine):
    assert refusals(RunSettings(), machine) == ()


def test_growth_with_logical_devices_is_explained_and_the_nearest_keeps_the_sizes():
    settings = RunSettings(device="gpu", memory_growth=True, logical_devices=(4 * GIB, 8 * GIB))
    (refusal,) = refusals(settings, SERVER)
    assert (refusal.setting, refusal.kind) == ("memory_growth", "refused")
    assert "allow_growth" in refusal.message
    assert refusal.nearest == RunSettings(device="gpu", logical_devices=(4 * GIB, 8 * GIB))


def test_on_the_cpu():
    assert found(RunSettings(memory_growth=True), LAPTOP) == {"memory_growth": "refused"}
    assert found(RunSettings(logical_devices=(GIB, GIB)), LAPTOP) == {"logical_devices": "refused"}
    assert found(RunSettings(logical_devices=(0, 0)), LAPTOP) == {}
    limited = RunSettings(gpu_memory_limit_bytes=2 * GIB)
    assert found(limited, LAPTOP) == {"gpu_memory_limit_bytes": "refused"}
    assert nearest_valid(limited, LAPTOP) == RunSettings(memory_limit_bytes=2 * GIB)
    assert found(RunSettings(device="cpu", memory_growth=True), SERVER) == {"memory_growth": "refused"}
    assert found(RunSettings(precision="mixed_float16"), LAPTOP) == {"precision": "note"}
    assert hindrances(RunSettings(precision="mixed_float16"), LAPTOP) == ()


def test_what_another_machine_could_do_is_not_here():
    (refusal,) = refusals(RunSettings(device="gpu"), LAPTOP)
    assert refusal.kind == "not here"
    assert refusal.nearest.device == "cpu"
    assert found(RunSettings(device="gpu", gpu_index=3), SERVER) == {"gpu_index": "not here"}
    too_much = RunSettings(device="gpu", gpu_memory_limit_bytes=16 * GIB)
    assert found(too_much, SERVER) == {"gpu_memory_limit_bytes": "not here"}
    assert nearest_valid(too_much, SERVER).gpu_memory_limit_bytes < 15 * GIB
    assert found(RunSettings(device="gpu", logical_devices=(10 * GIB, 10 * GIB)), SERVER) == {
        "logical_devices": "not here"
    }


def test_sizes_missing_on_a_card_are_shared_out():
    nearest = nearest_valid(RunSettings(device="gpu", logical_devices=(0, 0)), SERVER)
    assert len(nearest.logical_devices) == 2
    assert sum(nearest.logical_devices) < 15 * GIB


def test_xla_and_eager_exclude_each_other():
    (refusal, note) = refusals(RunSettings(call="call", xla=True), LAPTOP)
    assert (refusal.kind, refusal.nearest.call) == ("refused", "compiled")
    assert note.kind == "note"


def test_other_runtimes_have_none_of_tensorflow_s_settings():
    settings = RunSettings(call="predict", inter_threads=2, intra_threads=2, batch_size=8)
    items = refusals(settings, LAPTOP, tensorflow=False)
    assert {item.setting for item in items} == {"call", "inter_threads"}
    assert nearest_valid(settings, LAPTOP, tensorflow=False) == RunSettings(intra_threads=2, batch_size=8)


@pytest.mark.parametrize("machine", [LAPTOP, SERVER])
@pytest.mark.parametrize("tensorflow", [True, False])
def test_the_nearest_is_accepted_whatever_was_asked(machine, tensorflow):
    for call in CALLS:
        for precision in PRECISIONS:
            for device in ("auto", "cpu", "gpu"):
                for sizes in ((), (0, 0), (GIB, 0), (64 * GIB, 64 * GIB)):
                    for limit in (None, 20 * GIB):
                        settings = RunSettings(
                            call=call,
                            precision=precision,
                            xla=True,
                            device=device,
                            gpu_index=1,
                            memory_growth=True,
                            gpu_memory_limit_bytes=limit,
                            logical_devices=sizes,
                        )
                        nearest = nearest_valid(settings, machine, tensorflow=tensorflow)
                        assert hindrances(nearest, machine, tensorflow=tensorflow) == ()
                        assert nearest.batch_size == settings.batch_size


def test_values_that_make_no_sense_anywhere():
    for wrong in ({"call": "eager"}, {"batch_size": 0}, {"precision": "int4"}, {"device": "tpu"}):
        with pytest.raises(BadSetting):
            RunSettings(**wrong)
