"""What the learning rates that were tried came to.

Why: runs that differ in their rate alone show what no single curve can: which rate suits this network and these data, and whether
the best one lies at the edge of what was tried.
Example: of 0.1, 0.01 and 0.001 the first breaks, the last hardly moves, and 0.01 ends lowest.
Fix: the rate that did best; one step further where it is the largest or smallest that was tried.
Limits: a remark, for a sweep of rates is no fault. Compares runs that agree in every other setting they note (or in the rest of
their names), at the end of each.
Source: Bengio, Practical recommendations for gradient-based training (2012), section 3.1.1: the best rate is close to the largest
that does not diverge, and one at the edge of the grid asks for a wider grid (Bergstra and Bengio, 2012).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.siblings import Family, Setting, families
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_FOLD, _LOST = 1.5, 0.2
_NUMBER = r"(\d+(?:\.\d+)?(?:e-?\d+)?|\.\d+)"
_RATE = Setting(
    names=("learning_rate", "lr", "learningrate", "initial_learning_rate", "base_lr"),
    in_run_name=re.compile(
        rf"(?:^|[/_\-. ,=])(?:lr|learning[_\-]?rate)[_\-=: ]?{_NUMBER}(?=$|[/_\- ,]|\.[a-z])", re.IGNORECASE
    ),
    like="learning_rate",
)


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.runs is None:
        return
    for family in families(evidence.runs.runs, _RATE):
        worse = family.worse(_FOLD, _LOST)
        if worse and math.isfinite(family.levels[family.best]):
            yield _finding(family, worse)


def _finding(family: Family, worse: list[float]) -> Finding:
    best, levels, rates = family.best, family.levels, list(family.runs)
    said = "; ".join(
        f"{rate:.3g} {'breaks' if math.isinf(levels[rate]) else f'ends at {levels[rate]:.3g}'}" for rate in worse[:4]
    )
    further = best * 3 if best == rates[-1] else best / 3 if best == rates[0] else None
    edge = ""
    if further is not None:
        edge = f" It is the {'largest' if further > best else 'smallest'} that was tried: try {further:.2g} too."
    return Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.LOW,
        confidence=0.6,
        where="runs",
        message=f"Of the learning rates tried, {best:.3g} does best ({family.measure} {levels[best]:.3g}): {said}.{edge}",
        evidence=(
            Table(
                "Runs by learning rate",
                ("learning rate", "runs", f"{family.measure} at the end"),
                tuple((rate, len(family.runs[rate]), levels[rate]) for rate in rates),
            ),
        ),
        fix=SetLearningRate(learning_rate=best),
        marks=family.spans({rate: f"rate {rate:.3g}" for rate in (best, *worse[:3])}),
    )


CHECK = Check(needs=frozenset({Evidence.RUNS}), run=_run)
