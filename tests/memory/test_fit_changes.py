"""What is tried to lower the memory of a training."""

from __future__ import annotations

from stethoscope.memory.fit_changes import CHANGE_KINDS, fit_changes, not_offered


def test_each_kind_is_offered_with_its_code():
    found = list(fit_changes("Adam", 32, modern=True))
    assert {change.kind for change in found} == set(CHANGE_KINDS)
    assert all(change.code for change in found)
    assert len({change.id for change in found}) == len(found)
    assert not list(not_offered(32, modern=True))


def test_the_optimizer_in_use_is_not_tried_again():
    assert "optimizer-sgd" not in {change.id for change in fit_changes("sgd", 32, modern=True)}


def test_a_batch_is_cut_into_whole_pieces_only():
    pieces = {
        rows: [c.accumulate for c in fit_changes("Adam", rows, modern=True) if c.accumulate] for rows in (32, 12, 7)
    }
    assert pieces == {32: [8], 12: [4], 7: []}
    assert [item.kind for item in not_offered(7, modern=True)] == ["accumulation"]


def test_keras_2_has_neither_remat_nor_accumulation():
    kinds = {change.kind for change in fit_changes("Adam", 32, modern=False)}
    assert kinds == {"precision", "optimizer"}
    assert {item.kind for item in not_offered(32, modern=False)} == {"checkpointing", "accumulation"}
