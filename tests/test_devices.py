"""What the machine has, also where a container or a card says otherwise."""

from __future__ import annotations

import json
from types import SimpleNamespace

import psutil
import pytest

from stethoscope.codec import plain
from stethoscope.devices import (
    CardHolder,
    Gpu,
    Machine,
    SeenDevice,
    available_bytes,
    default_floor_bytes,
    device_list,
    this_machine,
    usable_bytes,
)

GIB = 1 << 30


def test_this_machine_is_as_psutil_sees_it():
    machine = this_machine()
    assert machine.total_bytes == psutil.virtual_memory().total
    assert 0 < machine.available_bytes <= machine.usable_bytes
    assert machine.cores >= 1
    assert machine.gpus or machine.gpus_reason
    json.dumps(plain(machine))


def test_a_container_s_limit_counts(tmp_path):
    (tmp_path / "memory.max").write_text(f"{GIB}\n")
    (tmp_path / "memory.current").write_text(f"{GIB // 4}\n")
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    machine = this_machine(tmp_path)
    assert machine.group_limit_bytes == machine.usable_bytes == GIB
    assert machine.available_bytes <= GIB - GIB // 4
    assert machine.core_limit == 1.5


def test_no_limit_and_the_older_control_groups(tmp_path):
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text(str(0x7FFFFFFFFFFFF000))
    machine = this_machine(tmp_path)
    assert machine.group_limit_bytes is None
    assert machine.core_limit is None
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text(str(2 * GIB))
    assert this_machine(tmp_path).group_limit_bytes == 2 * GIB


def test_what_is_asked_often_agrees_and_files_in_the_cache_are_not_used_memory(tmp_path):
    (tmp_path / "memory.max").write_text(f"{GIB}\n")
    (tmp_path / "memory.current").write_text(f"{GIB}\n")
    assert available_bytes(tmp_path) == 0 == this_machine(tmp_path).available_bytes
    (tmp_path / "memory.stat").write_text(f"anon {GIB // 2}\ninactive_file {GIB // 4}\nactive_file {GIB // 4}\n")
    assert available_bytes(tmp_path) == GIB // 4 == this_machine(tmp_path).available_bytes
    assert usable_bytes(tmp_path) == GIB
    assert 0 < default_floor_bytes() <= GIB // 2


@pytest.fixture
def driver(monkeypatch):
    """A driver with one card, as NVML answers for it."""
    import pynvml

    answers = {
        "nvmlInit": None,
        "nvmlShutdown": None,
        "nvmlDeviceGetCount": 1,
        "nvmlDeviceGetHandleByIndex": "handle",
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=16 * GIB, free=10 * GIB, used=6 * GIB),
        "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=50),
        "nvmlSystemGetDriverVersion": b"580.1",
        "nvmlDeviceGetCudaComputeCapability": (7, 5),
        "nvmlDeviceGetName": "Tesla T4",
        "nvmlDeviceGetComputeRunningProcesses": [
            SimpleNamespace(pid=7, usedGpuMemory=None),
            SimpleNamespace(pid=9, usedGpuMemory=5 * GIB),
        ],
    }
    for name, value in answers.items():
        monkeypatch.setattr(pynvml, name, lambda *_, value=value, **__: value)


def test_a_card_with_its_live_memory(driver):
    holders = (CardHolder(9, 5 * GIB), CardHolder(7, None))
    assert this_machine().gpus == (Gpu(0, "Tesla T4", 16 * GIB, 10 * GIB, 6 * GIB, 0.5, "580.1", "7.5", holders),)


def test_devices_have_their_memory_and_unusable_cards_a_reason():
    cards = (Gpu(0, "a", 16 * GIB, 8 * GIB, 8 * GIB), Gpu(1, "b", 24 * GIB, 24 * GIB, 0))
    machine = Machine("cpu", 4, None, 32 * GIB, 20 * GIB, None, cards)
    seen = [SeenDevice(f"/physical_device:{kind}:0", kind) for kind in ("CPU", "GPU")]
    host, first, second = device_list(seen, machine)
    assert (host.total_bytes, host.free_bytes) == (32 * GIB, 20 * GIB)
    assert (first.title, first.free_bytes, first.usable) == ("a", 8 * GIB, True)
    assert (second.title, second.usable) == ("b", False)
    assert "and-cuda" in second.reason


def test_an_old_driver_is_asked_in_the_old_way(driver, monkeypatch):
    import pynvml

    def memory(_, version=None):
        if version is not None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        return SimpleNamespace(total=8 * GIB, free=5 * GIB, used=3 * GIB)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", memory)
    (card,) = this_machine().gpus
    assert (card.total_bytes, card.used_bytes) == (8 * GIB, 3 * GIB)
