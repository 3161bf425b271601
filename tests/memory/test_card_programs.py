"""Lines about a card, run where there is none."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from stethoscope.memory.card_programs import choose_card, limit_card, named_devices, who_holds

GIB = 1 << 30
SHELL, DRIVER, TENSORFLOW = who_holds()


@pytest.mark.parametrize("lines", [choose_card(0), choose_card(1), limit_card(0, GIB)])
def test_without_a_card_it_is_a_sentence(lines):
    import tensorflow as tf

    with pytest.raises(SystemExit, match="0 GPUs"):
        exec("\n".join(lines), {"tf": tf})


def test_a_limit_is_in_mebibytes_and_before_any_operation():
    asked = []
    config = SimpleNamespace(
        list_physical_devices=lambda kind: ["first", "second"],
        set_visible_devices=lambda *of: asked.append(of),
        set_logical_device_configuration=lambda card, parts: asked.append((card, *parts)),
        LogicalDeviceConfiguration=lambda memory_limit: memory_limit,
    )
    exec("\n".join(limit_card(1, 3 * GIB)), {"tf": SimpleNamespace(config=config)})
    assert asked == [(["second"], "GPU"), ("second", 3072)]


def test_logical_devices_have_the_names_that_tensorflow_knows():
    import tensorflow as tf

    said = named_devices([GIB, GIB])
    assert "/GPU:1" in said and "/virtual_gpu:0" in said
    with pytest.raises(ValueError, match="virtual_gpu"), tf.device("/virtual_gpu:0"):
        pass


def test_what_tensorflow_holds_is_printed(capsys):
    exec(TENSORFLOW.code, {})
    printed = capsys.readouterr().out
    assert printed.startswith("CPU:0: ")
    assert float(printed.split()[1].replace(",", "")) >= 4  # a million float32


def test_who_holds_it_from_python(capsys, monkeypatch):
    import pynvml

    ast.parse(DRIVER.code)
    with pytest.raises(SystemExit, match="driver"):
        exec(DRIVER.code, {})
    answers = {
        "nvmlInit": None,
        "nvmlDeviceGetCount": 1,
        "nvmlDeviceGetHandleByIndex": "card",
        "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=6 * GIB, total=16 * GIB),
        "nvmlDeviceGetComputeRunningProcesses": [
            SimpleNamespace(pid=7, usedGpuMemory=5 * GIB),
            SimpleNamespace(pid=8, usedGpuMemory=None),
        ],
    }
    for name, value in answers.items():
        monkeypatch.setattr(pynvml, name, lambda *_, value=value, **__: value)
    exec(DRIVER.code, {})
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["card", "0:", "6,144", "of", "16,384", "MiB", "in", "use"],
        ["process", "7:", "5,120", "MiB"],
        ["process", "8:", "?"],
    ]


def test_the_drivers_own_command():
    assert SHELL.language == "bash"
    assert all(line.startswith("nvidia-smi --query-") for line in SHELL.code.splitlines())
