"""The programs that a plan prints, run on virtual processors in place of cards and TPU cores; all in one TensorFlow process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from stethoscope.architecture.model_shape import model_shape
from stethoscope.memory.planner.plan import Settings, plan
from stethoscope.memory.planner.presets import device
from stethoscope.memory.planner.strategy_code import strategy_codes
from stethoscope.memory.sharing import Share
from stethoscope.memory.sharing_programs import sharing_codes
from tests.memory.planner.architectures import dense_stack
from tests.tables import each

RATE = 0.0625
CASES = {
    f"{target} {devices} {'training' if training else 'inference'}{' as compiled' if compiled else ''}{limit or ''}": (
        target,
        devices,
        training,
        compiled,
        limit,
    )
    for target, devices, training, compiled, limit in (
        ("t4", 1, True, False, None),
        ("t4", 1, False, False, None),
        ("t4", 1, True, True, 64 << 20),
        ("t4", 4, True, False, None),
        ("t4", 4, True, True, None),
        ("t4", 3, False, False, None),
        ("t4", 16, False, False, None),
        ("tpu-v3", 1, True, False, None),
        ("tpu-v3", 4, True, True, None),
        ("tpu-v3", 2, False, False, None),
    )
}
SHARED = {"a.keras": 48, "b.keras": 80}
"""MiB of each model on one card."""
RUNNER = f"""
import json, os, sys
import numpy as np
import keras
import tensorflow as tf

x = np.random.default_rng(0).normal(size=(32, 8)).astype("float32")
y = x @ np.ones((8, 4), "float32")
asked = []  # of a card with a limit: this machine has none, so that TensorFlow is asked for it in its place


def take_the_place_of_cards(count):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)
    cpus = [device.name for device in tf.config.list_logical_devices("CPU")]
    real = tf.config.list_physical_devices
    tf.config.list_physical_devices = lambda kind=None: ["card"] if kind == "GPU" else real(kind)
    tf.config.set_visible_devices = lambda *of: asked.append(of)
    tf.config.set_logical_device_configuration = lambda card, parts: asked.append([part.memory_limit for part in parts])
    tf.tpu.experimental.initialize_tpu_system = lambda resolver: None
    tf.config.experimental_connect_to_cluster = lambda resolver: None
    tf.distribute.cluster_resolver.TPUClusterResolver = lambda tpu: tpu

    class InPlaceOfCores(tf.distribute.MirroredStrategy):
        def __init__(self, resolver):
            super().__init__(cpus)

    tf.distribute.TPUStrategy = InPlaceOfCores


def run(name, devices, code):
    take_the_place_of_cards(min(devices, 8))
    layers = [keras.layers.Dense(width, "relu", name=f"dense_{{n}}") for n, width in enumerate((16, 4))]
    made = keras.Sequential([keras.Input((8,)), *layers])
    made.compile(keras.optimizers.SGD({RATE}), "mse")
    for file in ("model.keras", "a.keras", "b.keras"):
        made.save(file)
    made.compile(keras.optimizers.SGD({RATE}), "mse", jit_compile=True)
    made.save("tied.keras")
    held = {{"x": x, "y": y}}
    code = code.replace("/GPU:", "/CPU:").replace("/TPU:", "/CPU:")
    exec(code.replace('list_logical_devices("GPU")', 'list_logical_devices("CPU")'), held)
    if name == "shared":
        outputs = held["predict"]({{file: {{"x": x}} for file in ("a.keras", "b.keras")}})
        return {{"name": name, "asked": asked[-1], "shapes": [list(output[0].shape) for output in outputs.values()]}}
    model, outputs = held["model"], held.get("outputs")
    rate = model.optimizer.learning_rate if model.optimizer else None
    return {{
        "name": name,
        "replicas": held["strategy"].num_replicas_in_sync,
        "finite": all(bool(np.isfinite(weight).all()) for weight in model.get_weights()),
        "moved": not np.allclose(model.get_weights()[0], made.get_weights()[0]),
        "rate": None if rate is None else float(keras.ops.convert_to_numpy(rate)),
        "rows": None if outputs is None else len(outputs),
        "asked": repr(asked),
    }}


def refused(name, code):
    try:
        exec(code, {{"x": x, "y": y}})
    except SystemExit as ended:
        return {{"name": name, "said": str(ended)}}


given = json.load(open("programs.json"))
for name, (devices, code) in given.items():
    child = os.fork()  # TensorFlow is imported once; strategies of several sizes cannot share one process
    if child == 0:
        as_it_is = name.startswith("here: ")
        print(json.dumps(refused(name, code) if as_it_is else run(name, devices, code)), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def program(target: str, devices: int, training: bool, compiled: bool, limit: int | None, *, tied: bool = False) -> str:
    """The first program of the plan that uses them all, for the network that the runner saves."""
    shape = model_shape(dense_stack([16, 4], inputs=8))
    asked = Settings(device(target), devices, training, optimizer="sgd")
    chosen = next(item for item in plan(shape, asked) if item.kind == ("single" if devices == 1 else "data"))
    return strategy_codes(
        chosen,
        asked,
        shape,
        "tied.keras" if tied else "model.keras",
        "mse",
        as_compiled=compiled,
        tied_by_xla=tied,
        limit_bytes=limit,
    )[0].code


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("programs")
    given = {name: (case[1], program(*case)) for name, case in CASES.items()}
    shares = tuple(Share(name, 1, 1, limit << 20) for name, limit in SHARED.items())
    one = dense_stack([16, 4], inputs=8)
    given["tied"] = (2, program("t4", 2, True, True, None, tied=True))
    given["shared"] = (2, sharing_codes(shares, {}, dict.fromkeys(SHARED, one))[0].code)
    given |= {f"here: {name}": given[name] for name in CASES if name.startswith("t4")}
    (folder / "programs.json").write_text(json.dumps(given))
    (folder / "runner.py").write_text(RUNNER)
    done = subprocess.run(
        [sys.executable, "runner.py"],
        cwd=folder,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return {one["name"]: one for one in found}


def test_a_file_that_xla_tied_to_one_device_trains_on_two(ran):
    assert ran["tied"]["moved"] and ran["tied"]["replicas"] == 2
    assert ran["tied"]["rate"] == pytest.approx(RATE)


def test_several_models_share_a_card_in_one_process(ran):
    assert ran["shared"]["asked"] == list(SHARED.values())
    assert ran["shared"]["shapes"] == [[32, 4], [32, 4]]


@each("name", CASES)
def test_a_program_runs_on_as_many_devices_as_it_says(ran, name):
    _, devices, training, compiled, limit = CASES[name]
    one = ran[name]
    assert one["finite"]
    assert one["replicas"] == min(devices, 8)
    assert one["moved"] == training
    assert one["rows"] == (None if training else 32)
    assert ("64" in one["asked"]) == (limit is not None)
    if training:
        assert one["rate"] == pytest.approx(RATE if compiled else 0.01)  # of the file, or Keras' own for SGD


def test_on_this_machine_without_a_card_each_says_so_in_a_sentence(ran):
    said = {name: one["said"] for name, one in ran.items() if name.startswith("here: ")}
    assert len(said) == sum(name.startswith("t4") for name in CASES)
    assert all("GPU" in sentence for sentence in said.values())
