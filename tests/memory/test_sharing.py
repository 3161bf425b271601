"""Dividing a card between models, and the programs for it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.errors import BadSetting
from stethoscope.memory.planner.plan import together
from stethoscope.memory.planner.presets import device
from stethoscope.memory.sharing import sharing_codes, split

GIB, MIB = 1 << 30, 1 << 20


def test_what_is_left_goes_to_each_in_proportion():
    found = split({"a": GIB, "b": 2 * GIB}, 8 * GIB)
    assert found.fits and found.fitting == ("a", "b")
    a, b = found.shares
    assert a.share_bytes >= a.needed_bytes and b.share_bytes >= b.needed_bytes
    assert b.share_bytes == pytest.approx(2 * a.share_bytes, abs=MIB)
    assert 8 * GIB - 2 * MIB <= a.share_bytes + b.share_bytes <= 8 * GIB
    assert found.needed_bytes < 8 * GIB


def test_the_answer_is_the_planners():
    card = device("8GiB")
    for needs in ({"a": 3 * GIB, "b": 4 * GIB}, {"a": 4 * GIB, "b": 4 * GIB}):
        assert split(needs, card.usable_bytes).fits is together(needs, card).fits


def test_too_much_says_what_would_fit():
    found = split({"small": GIB, "large": 7 * GIB, "middle": 2 * GIB}, 8 * GIB)
    assert not found.fits and found.fitting == ("small", "middle")
    assert "large" in found.sentence and found.needed_bytes > found.device_bytes - found.reserved_bytes
    assert sum(share.share_bytes for share in found.shares) <= 8 * GIB


def test_headroom_and_the_runtime_count():
    assert split({"a": GIB, "b": GIB}, 2 * GIB + 300 * MIB, headroom_fraction=0.1).fits
    assert not split({"a": GIB, "b": GIB}, 2 * GIB + 300 * MIB, headroom_fraction=0.2).fits
    assert not split({"a": GIB, "b": GIB}, 2 * GIB + 300 * MIB, reserved_bytes=200 * MIB).fits


def test_a_chosen_share_smaller_than_the_peak_is_said():
    found = split({"a": GIB, "b": GIB}, 8 * GIB, own_shares={"a": 512 * MIB})
    assert not found.fits and found.share_of("a").share_bytes == 512 * MIB
    assert "a (" in found.sentence
    assert found.share_of("a").share_bytes < found.share_of("a").needed_bytes
    assert found.share_of("b").share_bytes >= found.share_of("b").needed_bytes


@pytest.mark.parametrize(
    "wrong",
    [
        {"predicted_bytes": {}, "device_bytes": GIB},
        {"predicted_bytes": {"a": 1}, "device_bytes": 0},
        {"predicted_bytes": {"a": 1}, "device_bytes": GIB, "reserved_bytes": GIB},
        {"predicted_bytes": {"a": 1}, "device_bytes": GIB, "headroom_fraction": -0.1},
        {"predicted_bytes": {"a": 1}, "device_bytes": GIB, "own_shares": {"b": 1}},
        {"predicted_bytes": {"a": 1, "b": 1}, "device_bytes": GIB, "own_shares": {"a": GIB}},
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(BadSetting):
        split(**wrong)


def codes(names, batch=4):
    shares = split(dict.fromkeys(names, 200 * MIB), 2 * GIB).shares
    return sharing_codes(shares, dict.fromkeys(names, batch))


def test_logical_devices_have_each_models_size_and_no_memory_growth():
    names = ["digits_cnn.keras", "gpu.keras", "2 odd-name.keras"]
    code = codes(names)[0]
    compile(code.code, "sharing.py", "exec")
    assert code.needs_gpu and code.code.count("LogicalDeviceConfiguration(memory_limit=") == 3
    assert "memory_growth" not in code.code and "allow_growth" not in code.code
    assert all(f'"{name}"' in code.code for name in names)


def test_a_process_for_each_model_runs_here(tmp_path):
    """The printed program, run: one model within its limit gives its outputs, one over it ends alone."""
    names = ["wide.keras", "digits_cnn.keras"]
    (tmp_path / names[1]).write_bytes((BUILT / names[1]).read_bytes())
    import keras

    wide = keras.layers.Dense(4_000_000, use_bias=False, kernel_initializer="ones")
    keras.Sequential([keras.layers.Input((8,)), wide, keras.layers.Dense(1)]).save(tmp_path / names[0])
    program = codes(names, batch=64)[2].code
    compile(codes(names)[1].code, "gpu.py", "exec")
    (tmp_path / "serve.py").write_text(program)
    np.savez(tmp_path / "wide.npz", np.ones((64, 8), np.float32))
    digits = np.load(BUILT / "digits_sample.npz")["x"][:8]
    np.savez(tmp_path / "digits.npz", digits)
    done = subprocess.run(
        [sys.executable, "serve.py", "wide.npz", "digits.npz"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert "digits_cnn.keras done" in done.stdout, done.stderr[-2000:]
    assert "wide.keras ended with" in done.stdout, done.stderr[-2000:]
    assert len(np.load(tmp_path / "digits.npz.outputs.npz")["arr_0"]) == len(digits)
