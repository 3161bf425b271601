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
from stethoscope.memory.sharing import split
from stethoscope.memory.sharing_programs import sharing_codes
from stethoscope.models.formats import detect
from stethoscope.types import ModelFile

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


def described(path):
    file = ModelFile.at(path)
    return detect(file).describe(file)


def codes(names, batch=4, share=200 * MIB, **files):
    """The programs for models of these names, which are the digits network unless `files` says otherwise."""
    shares = split(dict.fromkeys(names, share), len(names) * share * 2).shares
    known = {name: described(files.get(name, BUILT / "digits_cnn.keras")) for name in names}
    return sharing_codes(shares, dict.fromkeys(names, batch), known)


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
    files = {name: tmp_path / name for name in names}
    program = codes(names, batch=64, **files)[2].code
    compile(codes(names, **files)[1].code, "gpu.py", "exec")
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


def test_models_of_every_format_run_beside_each_other(tmp_path):
    """Each is loaded as its format says, and gives what its own job gives: the digits network in six files."""
    names = ["digits_cnn.keras", "digits_cnn_keras3.h5", "digits_cnn.onnx", "digits_cnn.tflite", "digits_cnn_frozen.pb"]
    for name in names:
        (tmp_path / name).write_bytes((BUILT / name).read_bytes())
    made = codes(names, batch=4, share=600 * MIB, **{name: BUILT / name for name in names})
    (code,) = made  # none for a card: other runtimes than TensorFlow take part
    assert "digits_cnn.onnx (onnxruntime)" in code.note and not code.needs_gpu
    (tmp_path / "serve.py").write_text(code.code)
    x = np.load(BUILT / "digits_sample.npz")["x"][:6].astype(np.float32)
    for place in range(len(names)):
        np.savez(tmp_path / f"{place}.npz", x)
    done = subprocess.run(
        [sys.executable, "serve.py", *(f"{place}.npz" for place in range(len(names)))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.stdout.split("\n")[:-1] == [f"{name} done" for name in names], done.stderr[-2000:]
    answers = [np.load(tmp_path / f"{place}.npz.outputs.npz")["arr_0"] for place in range(len(names))]
    assert answers[0].shape == (6, 10)
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0], atol=1e-4)
