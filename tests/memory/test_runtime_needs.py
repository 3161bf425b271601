"""Whether TensorFlow has its pool of memory on a processor, and what is foretold where it has none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sample_models import BUILT
from stethoscope.memory import runtime_needs
from stethoscope.memory.run_settings import RunSettings
from stethoscope.memory.runtime_needs import onednn_runs, runtime_of
from stethoscope.models.formats import all_formats
from tests.plain_process import KEPT

ASKED = "from tensorflow.python.util import _pywrap_util_port as port; print(port.IsMklEnabled())"
TAKEN = (
    KEPT
    + """
import sys, numpy, tensorflow, keras
before = kept("RssAnon")
model = keras.models.load_model(sys.argv[1], compile=False)
model.predict(numpy.zeros((8, *model.input_shape[1:]), "float32"), batch_size=8, verbose=0)
print(kept("VmHWM") - kept("RssFile") - before)
"""
)


def told(value: str | None) -> bool:
    """What TensorFlow itself says, started with a value of its variable."""
    environment = {key: text for key, text in os.environ.items() if key != "TF_ENABLE_ONEDNN_OPTS"}
    environment |= {} if value is None else {"TF_ENABLE_ONEDNN_OPTS": value}
    done = subprocess.run([sys.executable, "-c", ASKED], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()[-1] == "True"


@pytest.mark.parametrize("value", [None, "0", "1"])
def test_tensorflow_says_the_same(monkeypatch, value):
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    if value is not None:
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", value)
    assert onednn_runs() == told(value)


@pytest.mark.parametrize(("flags", "runs"), [({"avx2", "fma"}, False), ({"avx2", "avx512_vnni"}, True), (set(), False)])
def test_a_processor_without_its_instructions_has_no_pool(monkeypatch, flags, runs):
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    monkeypatch.setattr(runtime_needs, "_processor_flags", lambda: frozenset(flags))
    monkeypatch.setattr(runtime_needs.platform, "machine", lambda: "x86_64")
    assert onednn_runs() is (runs and sys.platform == "linux")


@pytest.mark.parametrize("asked", ["0", "1"])
def test_an_estimate_without_the_pool_says_so(monkeypatch, asked):
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", asked)
    keras = all_formats()["keras"]
    plain, lean = (runtime_of(keras, RunSettings(call="predict", allocator=kind)) for kind in ("pool", "system"))
    assert plain.pooled is (asked == "1") and bool(plain.notes) is (asked == "0")
    assert not lean.pooled and not lean.notes


@pytest.mark.sweep
def test_without_the_pool_the_estimate_is_what_a_process_takes(monkeypatch):
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    file = BUILT / "memory_hungry.keras"
    asked = [
        str(Path(sys.executable).parent / "stethoscope"),
        "sweep",
        str(file),
        "--estimate-only",
        "--batch-sizes",
        "8",
        "--json",
    ]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    (point,) = json.loads(done.stdout)["points"]
    words = [sys.executable, "-c", TAKEN, str(file)]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    assert point["estimated_peak_bytes"] == pytest.approx(int(ran.stdout.split()[-1]), rel=0.08)
