"""Changes are ranked by what they measured, and two peaks are taken apart into what was counted and what is left."""

from __future__ import annotations

from stethoscope.memory.fit_changes import fit_changes
from stethoscope.memory.training_points import FitTrial, HeldBytes, compared, ranked
from stethoscope.types import Status

MIB = 1 << 20
CHANGES = {change.id: change for change in fit_changes("Adam", 32, modern=True)}


def trial(name: str, peak_mib: int | None, status: Status = Status.OK) -> FitTrial:
    return FitTrial(CHANGES[name], status, peak_bytes=None if peak_mib is None else peak_mib * MIB)


def test_the_lowest_peak_leads_and_what_did_not_run_comes_last():
    trials = [trial("mixed_float16", None, Status.FAILED), trial("optimizer-lion", 99), trial("optimizer-sgd", 60)]
    found = ranked(trials, 100 * MIB)
    assert [item.change.id for item in found] == ["optimizer-sgd", "optimizer-lion", "mixed_float16"]
    assert [item.lowers for item in found] == [True, False, False]
    assert found[0].saved_fraction == 1 - 60 / 100
    assert found[-1].saved_fraction is None


def test_parts_add_up_to_the_peaks():
    fit = (900 * MIB, HeldBytes(weights=100 * MIB, gradients=90 * MIB, optimizer=200 * MIB, inputs=20 * MIB))
    predict = (300 * MIB, HeldBytes(weights=100 * MIB, inputs=18 * MIB, outputs=10 * MIB))
    found = compared(32, 96, fit, predict, 12.0 * MIB)
    assert sum(part.size_bytes for part in found.fit) == 900 * MIB
    assert sum(part.size_bytes for part in found.predict) == 300 * MIB
    assert {part.name: part.size_bytes for part in found.fit}["activations"] == (12 * 32 - 20) * MIB
    assert "364 MiB" in found.sentence
    assert "200 MiB" in found.sentence


def test_where_predict_needs_more_its_outputs_are_named():
    fit = (200 * MIB, HeldBytes(weights=10 * MIB, optimizer=20 * MIB))
    predict = (500 * MIB, HeldBytes(weights=10 * MIB, outputs=400 * MIB))
    assert "400 MiB" in compared(8, 24, fit, predict, 1.0 * MIB).sentence


def test_equal_peaks_have_no_reason():
    held = HeldBytes(weights=10 * MIB)
    assert "needs more" not in compared(8, 24, (200 * MIB, held), (201 * MIB, held), None).sentence
