"""The programs for Keras on JAX, run on virtual processors in an environment of their own: JAX is no part of ours."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
from pathlib import Path

import pytest

from stethoscope.architecture.model_shape import model_shape
from stethoscope.memory.planner.plan import Settings, plan
from stethoscope.memory.planner.presets import device
from stethoscope.memory.planner.strategy_code import strategy_codes
from tests.memory.planner.architectures import dense_stack

UV = Path(__file__).resolve().parents[3] / ".uv" / "bin" / "uv"
RUNNER = """
import json, os

os.environ |= {
    "KERAS_BACKEND": "jax",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_force_host_platform_device_count=16",
}
import numpy as np
import keras

made = keras.Sequential([keras.Input((8,)), *(keras.layers.Dense(w, name=f"dense_{n}") for n, w in enumerate((16, 4)))])
made.compile("sgd", "mse")
made.save("model.keras")
x = np.random.default_rng(0).normal(size=(32, 8)).astype("float32")
y = x @ np.ones((8, 4), "float32")
for name, code in json.load(open("programs.json")).items():
    held = {"x": x, "y": y}
    exec(code, held)
    model = held["model"]
    kernel = model.layers[0].kernel.value
    print(json.dumps({
        "name": name,
        "devices": len(kernel.sharding.device_set),
        "split": "model" in kernel.sharding.spec,
        "moved": not np.allclose(np.asarray(kernel), np.asarray(made.layers[0].kernel.value)),
        "rows": len(held["outputs"]) if "outputs" in held else None,
    }), flush=True)
"""


def programs() -> dict[str, tuple[str, int, bool]]:
    """Each with its code, the devices it uses, and whether layers are split."""
    shape = model_shape(dense_stack([16, 4], inputs=8))
    found = {}
    for target, devices, training in (("t4", 4, True), ("t4", 4, False), ("t4", 16, True), ("tpu-v3", 8, True)):
        asked = Settings(device(target), devices, training, optimizer="sgd")
        for item in plan(shape, asked):
            for code in strategy_codes(item, asked, shape, "model.keras", "mse"):
                if "JAX" in code.runs_on:
                    name = f"{target} {devices} {training} {item.kind}"
                    found[name] = (code.code, item.devices, item.layout.tensor > 1)
    return found


@pytest.mark.sweep  # makes an environment with JAX, from the package index or uv's cache
def test_each_runs_on_its_devices(tmp_path):
    if not UV.exists():
        pytest.skip("uv, which makes the environment, is not here")
    given = programs()
    assert {kind.rsplit(" ", 1)[1] for kind in given} == {"data", "tensor", "tensor+data"}
    (tmp_path / "programs.json").write_text(json.dumps({name: code for name, (code, _, _) in given.items()}))
    (tmp_path / "runner.py").write_text(RUNNER)
    keras = f"keras=={importlib.metadata.version('keras')}"
    done = subprocess.run(
        [UV, "run", "--quiet", "--isolated", "--no-project", "--with", keras, "--with", "jax", "python", "runner.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    if "runner.py" not in done.stderr and not done.stdout:
        pytest.skip(f"no environment with JAX could be made: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr[-2000:]
    ran = {one["name"]: one for line in done.stdout.splitlines() if line.startswith("{") for one in [json.loads(line)]}
    assert ran.keys() == given.keys()
    for name, (_, devices, split) in given.items():
        training = " True " in name
        assert (ran[name]["devices"], ran[name]["split"]) == (devices, split), name
        assert (ran[name]["moved"], ran[name]["rows"]) == (training, None if training else 32), name
