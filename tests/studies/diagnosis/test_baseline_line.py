"""What simple models reach has a line of its own, the best first."""

from __future__ import annotations

from dataclasses import asdict

from stethoscope.evidence.trials import BaselineEvidence, Score
from stethoscope.studies.diagnosis.report import Report, baseline_line


def test_the_best_comes_first_with_its_interval():
    scores = (
        Score("majority class", 0.1, 0.08, 0.13),
        Score("gradient boosting", 0.98, 0.97, 0.99),
        Score("this network", 0.1, 0.07, 0.13),
    )
    evidence = BaselineEvidence("accuracy", scores, 1_350, 450)
    line = baseline_line(Report({}, facts={"baseline": asdict(evidence)}))
    assert line.index("gradient boosting 0.98") < line.index("majority class") and "450" in line and "0.97" in line
    assert (
        baseline_line(Report({}))
        == ""
        == baseline_line(Report({}, facts={"baseline": asdict(BaselineEvidence("r2", (), 1, 1))}))
    )
