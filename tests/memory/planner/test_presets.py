"""Devices by name or size."""

from __future__ import annotations

import pytest

from stethoscope.errors import BadSetting
from stethoscope.memory.planner.presets import DEVICES, device, gpu_usable_bytes, named
from tests.tables import each


@each(
    ("text", "found"),
    [
        ("T4", "t4"),
        ("NVIDIA A100 80GB", "a100-80"),
        ("nvidia_a100", "a100-40"),
        ("TPU v5e", "tpu-v5e"),
        ("v3", "tpu-v3"),
        ("rtx 4090", "rtx-4090"),
        ("NVIDIA GeForce RTX 3090", "rtx-3090"),
        ("Tesla V100", "v100-16"),
        ("H100", "h100-80"),
        ("AMD Instinct MI300X", "mi300x"),
        ("Trillium", "tpu-v6e"),
        ("B200", "b200"),
    ],
)
def test_people_write_names_as_they_like(text, found):
    assert named(text) is not None
    assert named(text).id == found


def test_every_preset_says_where_its_memory_comes_from():
    for found in DEVICES.values():
        assert 0.89 * found.memory_bytes < found.usable_bytes < found.memory_bytes, found.id
        assert found.source


def test_the_reserve_of_tensorflow_explains_the_logged_numbers():
    for name, capability in {
        "t4": 7,
        "v100-32": 7,
        "l4": 8,
        "a100-40": 8,
        "a100-80": 8,
        "h100-80": 9,
        "p100": 6,
    }.items():
        found = DEVICES[name]
        assert gpu_usable_bytes(found.memory_bytes, capability) == pytest.approx(found.usable_bytes, rel=0.025), name


def test_a_size_is_a_device():
    assert device("16GB").usable_bytes == 16 * 10**9
    assert device("80 GiB").usable_bytes == 80 * 2**30
    assert device("tpu-v2").usable_bytes == int(7.48 * 2**30)


@each("text", ["", "GTX 9999", "-5GB", "0GB", "16 bananas", "5000TB", "nan"])
def test_nonsense_names_what_is_known(text):
    with pytest.raises(BadSetting):
        device(text)
