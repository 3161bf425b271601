"""Scoring of a diagnosis: what counts as diagnosed, as precise, as a false alarm."""

from __future__ import annotations

from typing import Any

from benchmarks.diagnosis_scores import markdown, score, to_json, totals

FACTS = {"id": "1234", "split": "given", "title": "t", "faults": ["loss", "labels"], "neutral": ["numerical"]}


def answer(*findings: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    return {
        "findings": [{"check_id": check, "fault": fault, "severity": level} for check, fault, level in findings],
        "outcomes": [],
        "seconds": 1.5,
        **more,
    }


def test_one_true_fault_at_medium_diagnoses_a_case() -> None:
    assert score(FACTS, answer(("loss-for-task", "loss", "medium")), answer()).diagnosed
    assert not score(FACTS, answer(("loss-for-task", "loss", "low")), answer()).diagnosed
    assert not score(FACTS, answer(("flat-loss", "optimizer", "critical")), answer()).diagnosed


def test_precision_counts_each_fault_once_and_neutral_names_on_neither_side() -> None:
    said = answer(
        ("a", "loss", "high"), ("b", "loss", "medium"), ("c", "activation", "high"), ("d", "numerical", "high")
    )
    figures = totals([score(FACTS, said, answer())])
    assert figures["precision"] == 0.5
    assert figures["precision_strict"] == round(1 / 3, 3)
    assert figures["faults_named"] == 3


def test_only_high_and_critical_on_the_repaired_program_are_alarms() -> None:
    quiet = score(FACTS, answer(), answer(("a", "loss", "medium")))
    loud = score(FACTS, answer(), answer(("a", "loss", "high"), ("a", "loss", "critical")))
    assert quiet.alarms == ()
    assert loud.alarms == ("a",)
    assert totals([quiet, loud])["false_alarm_fraction"] == 0.5


def test_failures_are_told_and_do_not_count_as_answers() -> None:
    broken = {"error": "exit code 2: no such file", "seconds": 0.2}
    failed = answer(outcomes=[{"check_id": "nan", "status": "FAILED", "reason": "division by zero"}])
    one = score(FACTS, broken, failed)
    assert not one.diagnosed
    faulty, repaired = one.errors
    assert faulty == f"faulty: {broken['error']}"
    assert repaired.startswith("repaired: ") and "nan" in repaired and "division by zero" in repaired


def test_tables_link_questions_and_mark_what_was_wrongly_named() -> None:
    scores = [score(FACTS, answer(("a", "loss", "high"), ("b", "data", "high")), answer(("c", "loss", "high")))]
    table = markdown(scores)
    assert "[1234](https://stackoverflow.com/questions/1234) | labels, loss | loss, *data* | yes | c |" in table
    assert to_json(scores)["checks"]["c"]["alarms"] == ["1234"]
    assert to_json(scores)["checks"]["b"]["wrong"] == ["1234"]
