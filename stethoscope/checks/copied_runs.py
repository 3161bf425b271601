"""Runs that are copies of each other.

Why: two runs with the same numbers to the last bit are one observation. Means and deviations over them look surer than they
are; and where they were meant to differ, the setting that should have changed did nothing, or a folder was copied.
Example: three “seeds” of which two are equal, because the seed is set inside the script.
Fix: leave one of them out; check that seed and settings reach the training.
Limits: compares every loss and metric that both runs have, at all points; a run that only begins like another is a remark.
Source: Bouthillier et al., Accounting for variance in machine learning benchmarks (2021), on seeds that must differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Severity, Span, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import LoggedRun

_SHOWN = 20


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.runs is None:
        return
    runs = {one.run: one for one in evidence.runs.runs}
    whole: dict[str, list[LoggedRun]] = {}
    for one in runs.values():
        for shared in one.shared:
            if shared.whole:
                first = _first(shared.other, runs)
                whole.setdefault(first, []).append(one)
    for first, copies in whole.items():
        yield _equal(runs[first], copies)
    begun = [(one, shared) for one in runs.values() for shared in one.shared if not shared.whole]
    if begun:
        one, shared = begun[0]
        more = f" (and {len(begun) - 1} other pairs)" if len(begun) > 1 else ""
        yield Finding(
            fault=Fault.DETERMINISM,
            severity=Severity.LOW,
            confidence=0.6,
            where="runs",
            title="A run that begins as another",
            message=(
                f"The first {shared.points:,} points of {one.run} are those of {shared.other}{more}: the same seed and settings until "
                "then, or a copy that went on."
            ),
            evidence=(),
            fix=Advice(text="Take them as one run until they part; give each run a seed of its own."),
            marks=tuple(_mark(run, "same beginning") for run in (one, runs[shared.other])),
        )


def _equal(first: LoggedRun, copies: list[LoggedRun]) -> Finding:
    every = (first, *copies)
    names = ", ".join(one.run for one in every[:6]) + (f" and {len(every) - 6} more" if len(every) > 6 else "")
    tags = copies[0].shared[0].tags
    differ = sorted({name for one in copies for name in _differing(first, one)})
    said = (
        f" They were to differ in {', '.join(differ[:4])}, which therefore has no effect."
        if differ
        else " They are one observation, not several."
    )
    return Finding(
        fault=Fault.DETERMINISM,
        severity=Severity.MEDIUM,
        confidence=0.9,
        where="runs",
        message=f"{names} have the same values to the last bit at all points of {', '.join(tags[:4])}.{said}",
        evidence=(
            Table(
                "Equal runs",
                ("run", "group", "points"),
                tuple((one.run, one.group, one.points) for one in every[:_SHOWN]),
            ),
        ),
        fix=Advice(text="Leave out all but one, and check that seed and settings reach the training."),
        marks=tuple(_mark(one, "copy") for one in every[:_SHOWN]),
    )


def _first(name: str, runs: dict[str, LoggedRun]) -> str:
    """The earliest run of a chain of copies."""
    seen = set[str]()
    while name not in seen:
        seen.add(name)
        found = next((shared.other for shared in runs[name].shared if shared.whole), None)
        if found is None:
            break
        name = found
    return name


def _differing(one: LoggedRun, other: LoggedRun) -> list[str]:
    names = set(one.parameters) | set(other.parameters)
    return [name for name in names if one.parameters.get(name) != other.parameters.get(name)]


def _mark(run: LoggedRun, label: str) -> Span:
    curve = run.curve
    steps = curve.steps if curve is not None and curve.steps else (0.0,)
    return Span(run.run, curve.tags.get("loss", "") if curve is not None else "", steps[0], steps[-1], label)


CHECK = Check(needs=frozenset({Evidence.RUNS}), run=_run)
