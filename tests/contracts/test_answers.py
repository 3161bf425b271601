"""Recorded answers are what jobs answer: every kind is a task's, and a live job has the same keys and JSON types."""

from __future__ import annotations

import os

import pytest

from stethoscope.tasks import all_tasks
from tests import answers

AT_ONCE = 3
"""Jobs that run again in an ordinary run: others with every commit."""


@pytest.mark.parametrize("name", answers.RECIPES)
def test_a_recorded_answer_is_of_a_kind_of_job(name):
    recipe = answers.RECIPES[name]
    assert recipe.kind in all_tasks()
    assert name == recipe.kind or name.startswith(f"{recipe.kind}-")
    assert answers.recorded(name)["params"] == dict(recipe.params)
    assert str(answers.ROOT) not in (answers.FOLDER / f"{name}.json").read_text("utf-8")


def test_no_answer_is_kept_that_nobody_records():
    assert sorted(path.stem for path in answers.FOLDER.iterdir()) == sorted(answers.RECIPES)


def test_live_jobs_answer_with_the_same_keys_and_types(engine, commit, tmp_path):
    names = sorted(answers.RECIPES)
    if os.environ.get("STETHOSCOPE_TEST_ALL") != "1":
        names = [names[(commit + step) % len(names)] for step in range(AT_ONCE)]
    for name in names:
        result, kept = answers.run(engine, name, tmp_path), answers.recorded(name)
        assert (result.status.value, result.error) == (kept["status"], kept["error"]), f"{name}: {result.reason}"
        live, known = answers.shape_of([result.value]), answers.shape_of([kept["value"]])
        unlike = answers.differences(live, known, answers.OPEN.get(answers.RECIPES[name].kind, ()))
        assert not unlike, f"{name}: {unlike}; a renamed key breaks who reads it: python -m tests.answers {name}"


@pytest.mark.parametrize(
    "changes",
    [
        {"sice_bytes": 1},
        {"time_s": {"befor": 1.0}},
        {"outputs": [answers.row_of("convert", "outputs") | {"max_diff": 1.0}]},
    ],
)
def test_a_key_that_no_answer_has_is_refused(changes):
    with pytest.raises(KeyError, match=r"sice_bytes|befor|max_diff"):
        answers.answer("convert", **changes)


@pytest.mark.parametrize("changes", [{"rows": "8"}, {"time_s": 0.1}, {"outputs": [{"name": "y"}]}])
def test_a_value_of_another_type_or_half_a_row_is_refused(changes):
    with pytest.raises(AssertionError):
        answers.answer("convert", **changes)


def test_changes_go_into_what_is_there_and_leave_what_was_recorded():
    changed = answers.answer("convert", time_s={"before": 2.0}, max_abs_diff=None)
    kept = answers.answer("convert")
    assert changed["time_s"] == {**kept["time_s"], "before": 2.0}
    assert changed["max_abs_diff"] is None
    assert kept["max_abs_diff"] is not None
    assert answers.answer("convert", operators={"after": {"Gemm": 1}})["operators"]["after"] == {"Gemm": 1}


def test_keys_and_types_that_part_are_found_at_any_depth():
    known = answers.shape_of([{"rows": [{"a": 1, "b": None}, {"c": "x"}], "notes": []}])
    same = answers.shape_of([{"rows": [{"a": 1.5, "b": "y", "c": "z"}], "notes": ["n"]}])
    assert answers.differences(known, same) == []
    other = answers.shape_of([{"rows": [{"a": "1", "b": None, "d": "x"}], "notes": []}])
    assert answers.differences(known, other) == ["rows[].c", "rows[].d", "rows[].a: ['number'] and ['string']"]
