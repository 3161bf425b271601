"""What the page says of the memory of training."""

from __future__ import annotations

import pytest

from dashboard.cost import fit_memory_parts
from stethoscope.memory.fit_changes import fit_changes
from stethoscope.memory.training_points import FitTrial, HeldBytes, compared, ranked
from stethoscope.types import Status
from tests.dashboard.visiting import add, keys, open_page, text
from tests.small_models import tiny_onnx

MIB = 1 << 20
CHANGES = {change.id: change for change in fit_changes("Adam", 32, modern=True)}


def test_changes_are_shown_by_rank_with_what_they_cost():
    failed = FitTrial(CHANGES["checkpoint-layers"], Status.FAILED, "It cannot.")
    trials = ranked([failed, FitTrial(CHANGES["optimizer-sgd"], peak_bytes=50 * MIB)], 100 * MIB)
    table = fit_memory_parts.trials_table(trials)
    assert table["Difference"] == ["−50 %", "—"]
    assert table["Ended"] == [CHANGES["optimizer-sgd"].changes_result, "It cannot."]


def test_the_bars_are_as_long_as_the_peaks():
    fit = (200 * MIB, HeldBytes(weights=10 * MIB, optimizer=20 * MIB))
    predict = (120 * MIB, HeldBytes(weights=10 * MIB, outputs=30 * MIB))
    figure = fit_memory_parts.picture(compared(32, 96, fit, predict, 3.0 * MIB))
    lengths = {"fit": 0.0, "predict": 0.0}
    for trace in figure.data:
        for call, length in zip(trace.y, trace.x, strict=True):
            lengths[call] += length
    assert lengths == pytest.approx({"fit": 200.0, "predict": 120.0})


def test_what_cannot_be_trained_is_said_to_be(app, tmp_path):
    open_page(app, "memory", add(tmp_path, tiny_onnx), question="Training")
    assert "Keras" in text(app)
    assert "run-Train" not in keys(app)
