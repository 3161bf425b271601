"""How logs are scored: what counts as found, as wrong, as an alarm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import labelled_curves
from benchmarks.curve_cases.case import KINDS
from benchmarks.curve_page import PAGE, markdown
from benchmarks.curve_scores import NAMES, by_kind, interval, line, score, to_json, totals
from stethoscope.checks import all_checks

ROOT = Path(__file__).resolve().parents[2]


def _label(kind: str, accepted: str = "", neutral: str = "", name: str = "case") -> dict[str, Any]:
    words = [kind, *accepted.split()] if kind else []
    return {"id": name, "split": "dev", "title": "t", "kind": kind, "accepted": words, "neutral": neutral.split()}


def _answer(*findings: tuple[str, str], **more: Any) -> dict[str, Any]:
    found = [{"check_id": check, "severity": severity} for check, severity in findings]
    return {"runs": [{"run": "a"}], "findings": found, "seconds": 1.0, **more}


def test_every_kind_is_named_by_a_check_that_exists() -> None:
    assert set(NAMES) == set(KINDS)
    assert all(names for names in NAMES.values())
    assert frozenset().union(*NAMES.values()) <= set(all_checks())


def test_a_true_name_at_medium_or_above_is_found() -> None:
    label = _label("rate-high", "divergence", "jump")
    assert not score(label, _answer(("loss-diverging", "low"))).found
    other = score(label, _answer(("loss-diverging", "medium"), ("loss-jump", "high"), ("overfitting", "medium")))
    assert (other.found, other.exact, other.wrong, other.alarms) == (True, False, ("overfitting",), ())
    assert score(label, _answer(("learning-rate-high", "high"))).exact


def test_anything_at_medium_on_a_healthy_log_is_an_alarm() -> None:
    quiet, loud = _answer(("loss-slow", "low")), _answer(("loss-slow", "low"), ("loss-slow", "high"))
    scores = [score(_label(""), quiet), score(_label("", name="loud"), loud)]
    assert [one.wrong for one in scores] == [(), ("loss-slow",)]
    figures = totals(scores)
    assert (figures["healthy"], figures["false_alarms"], figures["false_alarms_high"]) == (2, 1, 1)
    assert "FALSE ALARM" in line(scores[1])


def test_an_answer_without_runs_or_with_a_broken_check_is_an_error() -> None:
    assert score(_label("flat"), {"error": "exit code 2"}).errors == ("exit code 2",)
    (nothing,) = score(_label("flat"), {"runs": [], "findings": []}).errors
    assert "no run" in nothing
    broken = _answer(outcomes=[{"check_id": "x", "status": "failed", "reason": "broke"}])
    (failed,) = score(_label("flat"), broken).errors
    assert "check x" in failed and "broke" in failed


def test_silence_without_an_answer_is_no_silence() -> None:
    gone = score(_label(""), {"error": "exit code 2"})
    assert gone.unjudged
    assert "NOT JUDGED" in line(gone)
    assert (totals([gone])["healthy"], totals([gone])["errors"]) == (0, 1)
    assert (totals([score(_label("flat"), {"error": "exit code 2"})])["faulty"]) == 1


def test_the_interval_is_wilsons() -> None:
    assert interval(9, 10) == [0.596, 0.982]
    assert interval(0, 0) == [0.0, 1.0]
    assert interval(0, 40)[1] == pytest.approx(0.088, abs=0.001)


def test_the_page_shows_figures_and_what_went_wrong() -> None:
    scores = [
        score(_label("flat", name="one"), _answer(("loss-flat", "high"))),
        score(_label("jump", name="two"), _answer(("overfitting", "medium"))),
        score(_label("", name="three"), _answer(("loss-slow", "medium"))),
    ]
    assert by_kind(scores)["flat"] == {"logs": 1, "found": 1, "exact": 1}
    assert to_json(scores)["totals"]["dev"]["recall"] == 0.5
    page = markdown(scores)
    assert "| dev | 1 of 2 (50%" in page
    assert "| two | t | jump | *overfitting* | **no** |" in page
    assert "**alarm**" in page
    assert (ROOT / "docs" / "curve-accuracy.md").read_text().startswith(PAGE.rstrip("\n"))


def test_a_log_that_cannot_be_judged_is_an_error_and_no_crash(tmp_path: Path) -> None:
    assert "error" in labelled_curves.ask(tmp_path / "missing")
