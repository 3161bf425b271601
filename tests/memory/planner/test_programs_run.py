"""The programs that a plan prints, run on virtual processors in place of cards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stethoscope.architecture.model_shape import model_shape
from stethoscope.memory.planner.plan import Settings, plan
from stethoscope.memory.planner.presets import device
from stethoscope.memory.planner.strategy_code import strategy_codes
from tests.memory.planner.architectures import dense_stack

VIRTUAL = """
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * {count})
"""
DATA = """
import numpy as np

x = np.random.default_rng(0).normal(size=(32, 8)).astype("float32")
y = x @ np.ones((8, 4), "float32")
"""
REPORT = """
assert all(np.isfinite(weight).all() for weight in model.get_weights())
print("replicas:", strategy.num_replicas_in_sync)
"""


def program(kind: str, devices: int, title: str, *, training: bool = True) -> str:
    """The program of a plan for the network that `model_file` saves, with processors where it says cards."""
    shape = model_shape(dense_stack([16, 4], inputs=8))
    asked = Settings(device("t4"), devices, training, optimizer="sgd")
    chosen = next(item for item in plan(shape, asked) if item.kind == kind)
    codes = {code.title: code.code for code in strategy_codes(chosen, asked, shape, "model.keras", "mse")}
    return codes[title].replace("/GPU:", "/CPU:")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    import keras

    where = tmp_path_factory.mktemp("programs")
    layers = [keras.layers.Dense(width, "relu", name=f"dense_{n}") for n, width in enumerate((16, 4))]
    keras.Sequential([keras.Input((8,)), *layers]).save(where / "model.keras")
    return where


def start(folder: Path, name: str, code: str) -> subprocess.Popen[str]:
    (folder / name).write_text(code)
    return subprocess.Popen(
        [sys.executable, name],
        cwd=folder,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize(
    ("kind", "devices", "title", "training"),
    [
        ("single", 1, "OneDeviceStrategy", False),
        ("data", 4, "MirroredStrategy", True),
        ("data", 3, "MirroredStrategy", False),
    ],
)
def test_a_program_runs_on_as_many_virtual_devices(folder, kind, devices, title, training):
    code = program(kind, devices, title, training=training)
    run = start(folder, f"{kind}.py", VIRTUAL.format(count=devices) + DATA + code + REPORT)
    printed, _ = run.communicate(timeout=300)
    assert run.returncode == 0, printed[-2000:]
    assert f"replicas: {devices}" in printed
