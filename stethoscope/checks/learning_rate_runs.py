"""What the learning rates that were tried came to.

Why: runs that differ in their rate alone show what no single curve can: which rate suits this network and these data, and whether
the best one lies at the edge of what was tried.
Example: of 0.1, 0.01 and 0.001 the first breaks, the last hardly moves, and 0.01 ends lowest.
Fix: the rate that did best; one step further where it is the largest or smallest that was tried.
A run that ends in NaN at a rate above those of all its siblings that stay finite has the rate as its likeliest cause, and is told so first.
Limits: else a remark, for a sweep of rates is no fault. Compares runs that agree in every other setting they note (or in the rest of
their names), at the end of each.
Source: Bengio, Practical recommendations for gradient-based training (2012), section 3.1.1: the best rate is close to the largest
that does not diverge, and one at the edge of the grid asks for a wider grid (Bergstra and Bengio, 2012).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from stethoscope.checks.check import UNSTEADY_LOSS, WILD_UPDATES, Check
from stethoscope.checks.curves.siblings import Family, Setting, families
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import LoggedRun

_FOLD, _LOST = 1.5, 0.2
_ABOVE, _TOLD = 2.0, 3
"""How far broken rates lie above healthy ones, and how many runs of such a rate are told."""
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
        broken = _broken(family)
        for rate in broken:
            yield from (_too_high(family, rate, run) for run in family.runs[rate][:_TOLD])
        worse = family.worse(_FOLD, _LOST)
        if [rate for rate in worse if rate not in broken] and math.isfinite(family.levels[family.best]):
            yield _finding(family, worse)


def _broken(family: Family) -> list[float]:
    """Rates all of whose runs end in no number, where they lie well above every rate whose runs do not."""
    broken = [rate for rate, runs in family.runs.items() if all(_ends_broken(run) for run in runs)]
    healthy = [rate for rate in family.runs if rate not in broken and math.isfinite(family.levels[rate])]
    others = [rate for rate in family.runs if rate not in broken and rate not in healthy]
    return broken if broken and healthy and not others and min(broken) >= _ABOVE * max(healthy) else []


def _ends_broken(run: LoggedRun) -> bool:
    values = () if run.curve is None else run.curve.loss or run.curve.val_loss
    return bool(values) and not math.isfinite(values[-1])


def _too_high(family: Family, rate: float, run: LoggedRun) -> Finding:
    best = family.best
    highest = max(value for value, level in family.levels.items() if math.isfinite(level))
    beside = family.runs[highest][0].run
    return Finding(
        fault=Fault.LEARNING_RATE,
        severity=Severity.CRITICAL,
        confidence=0.9,
        where="optimizer",
        message=(
            f"The learning rate is too high: {rate:.3g}, {rate / highest:.3g} times that of {beside} ({highest:.3g}), which agrees in "
            f"every other setting and stays a number. Of the rates tried, {best:.3g} ends lowest ({family.measure} {family.levels[best]:.3g})."
        ),
        evidence=(
            Number("learning rate", rate, threshold=highest),
            Table(
                "Runs by learning rate",
                ("learning rate", "runs", f"{family.measure} at the end"),
                tuple((value, len(family.runs[value]), family.levels[value]) for value in family.runs),
            ),
        ),
        fix=SetLearningRate(learning_rate=best, was=rate),
        title="Learning rate too high",
        run=run.run,
    )


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


CHECK = Check(needs=frozenset({Evidence.RUNS}), run=_run, explains=UNSTEADY_LOSS | WILD_UPDATES)
