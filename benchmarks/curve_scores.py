"""How the judging of training logs is scored: faults found, healthy logs called faulty, wrong names."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LEVELS = ("info", "low", "medium", "high", "critical")
_NAMED, _ALARM = _LEVELS.index("medium"), _LEVELS.index("high")

NAMES: dict[str, frozenset[str]] = {
    "nonfinite": frozenset({"nonfinite-training"}),
    "divergence": frozenset({"loss-diverging"}),
    "explosion": frozenset({"loss-diverging"}),
    "zero-loss": frozenset({"loss-zero"}),
    "flat": frozenset({"loss-flat"}),
    "plateau": frozenset({"loss-plateau"}),
    "oscillation": frozenset({"loss-oscillating"}),
    "too-slow": frozenset({"loss-slow"}),
    "overfitting": frozenset({"overfitting"}),
    "overtraining": frozenset({"overtraining"}),
    "underfitting": frozenset({"underfitting"}),
    "gap-from-start": frozenset({"validation-gap"}),
    "validation-better": frozenset({"validation-better"}),
    "jump": frozenset({"loss-jump"}),
    "restart": frozenset({"restarted-run"}),
    "rate-high": frozenset({"learning-rate-high"}),
    "rate-low": frozenset({"learning-rate-low"}),
    "batch-size": frozenset({"batch-size-runs"}),
    "stalled": frozenset({"stalled-writer"}),
    "copies": frozenset({"copied-runs"}),
}
"""Which checks name which kind."""


@dataclass(frozen=True)
class CurveScore:
    """What was said of one log.

    Attributes:
        kind: the fault; "" for a healthy log.
        accepted: kinds that describe it truly.
        neutral: kinds that are neither right nor wrong of it.
        named: check id → highest severity, for all findings at MEDIUM or above.
        errors: what kept it from being judged.
    """

    id: str
    split: str
    title: str
    kind: str
    accepted: frozenset[str]
    neutral: frozenset[str]
    named: Mapping[str, str]
    errors: tuple[str, ...]
    seconds: float

    @property
    def found(self) -> bool:
        """Whether a finding names a kind that describes the log truly."""
        return any(check in _checks(self.accepted) for check in self.named)

    @property
    def unjudged(self) -> bool:
        """Whether its silence proves nothing: there was no answer, or a check broke."""
        return bool(self.errors) and not self.named

    @property
    def exact(self) -> bool:
        """Whether a finding names the very kind."""
        return any(check in NAMES.get(self.kind, ()) for check in self.named)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Checks that name something else: on a healthy log all, unless it is known of it."""
        return tuple(check for check in self.named if check not in _checks(self.accepted | self.neutral))

    @property
    def alarms(self) -> tuple[str, ...]:
        """Of the wrong ones those at HIGH or above."""
        return tuple(check for check in self.wrong if _LEVELS.index(self.named[check]) >= _ALARM)


def score(label: Mapping[str, Any], answer: Mapping[str, Any]) -> CurveScore:
    """Scores the answer of `curves --json` (with "seconds" added, and "error" where there was none)."""
    named: dict[str, str] = {}
    for finding in answer.get("findings", ()):
        level = str(finding["severity"]).lower()
        before = named.get(finding["check_id"], "info")
        if _LEVELS.index(level) >= max(_NAMED, _LEVELS.index(before)):
            named[finding["check_id"]] = level
    errors = [str(answer["error"])] if answer.get("error") else []
    if not errors and not answer.get("runs"):
        errors.append("no run was read")
    errors += [
        f"check {one['check_id']} failed: {one['reason']}"
        for one in answer.get("outcomes", ())
        if str(one["status"]).lower() == "failed"
    ]
    return CurveScore(
        label["id"],
        label["split"],
        label["title"],
        label["kind"],
        frozenset(label["accepted"]),
        frozenset(label["neutral"]),
        named,
        tuple(errors),
        float(answer.get("seconds", 0.0)),
    )


def totals(scores: Sequence[CurveScore]) -> dict[str, Any]:
    """Recall over the faulty logs, false alarms over the healthy ones that were judged, wrong names; with 95 % intervals."""
    faulty = [one for one in scores if one.kind]
    healthy = [one for one in scores if not one.kind and not one.unjudged]
    found, false = sum(one.found for one in faulty), sum(bool(one.wrong) for one in healthy)
    return {
        "faulty": len(faulty),
        "found": found,
        "recall": _share(found, len(faulty)),
        "recall_interval": interval(found, len(faulty)),
        "exact": sum(one.exact for one in faulty),
        "with_wrong_names": sum(bool(one.wrong) for one in faulty),
        "with_wrong_alarms": sum(bool(one.alarms) for one in faulty),
        "healthy": len(healthy),
        "false_alarms": false,
        "false_alarm_fraction": _share(false, len(healthy)),
        "false_alarm_interval": interval(false, len(healthy)),
        "false_alarms_high": sum(bool(one.alarms) for one in healthy),
        "errors": sum(len(one.errors) for one in scores),
        "seconds_median": round(statistics.median(one.seconds for one in scores), 2) if scores else 0.0,
    }


def by_kind(scores: Sequence[CurveScore]) -> dict[str, dict[str, int]]:
    """For every kind: logs, how many were found, how many by the kind's own name."""
    table: dict[str, dict[str, int]] = {}
    for kind in NAMES:
        some = [one for one in scores if one.kind == kind]
        if some:
            table[kind] = {
                "logs": len(some),
                "found": sum(one.found for one in some),
                "exact": sum(one.exact for one in some),
            }
    return table


def by_check(scores: Sequence[CurveScore]) -> dict[str, dict[str, Any]]:
    """For every check that spoke at MEDIUM or above: logs where it was right, neutral, wrong, and healthy ones."""
    table: dict[str, dict[str, Any]] = {}
    for one in scores:
        for check in one.named:
            row = table.setdefault(check, {"right": 0, "neutral": 0, "wrong": [], "healthy": []})
            if not one.kind:
                row["healthy"].append(one.id)
            elif check in _checks(one.accepted):
                row["right"] += 1
            elif check in _checks(one.neutral):
                row["neutral"] += 1
            else:
                row["wrong"].append(one.id)
    return dict(sorted(table.items()))


def line(one: CurveScore) -> str:
    """One log as text."""
    said = " ".join(f"{check}:{level}" for check, level in one.named.items()) or "nothing"
    verdict = ("found" if one.found else "MISSED") if one.kind else ("FALSE ALARM" if one.wrong else "silent")
    verdict = "NOT JUDGED" if one.unjudged else verdict
    wrong = f" | wrong: {' '.join(one.wrong)}" if one.kind and one.wrong else ""
    errors = "".join(f" | ! {error}" for error in one.errors)
    return f"{verdict:11} {one.id:26} {one.kind or 'healthy':17} named: {said}{wrong}{errors}"


def to_json(scores: Sequence[CurveScore]) -> dict[str, Any]:
    """All of it, for comparing runs."""
    return {
        "totals": {name: totals(some) for name, some in splits(scores).items()},
        "kinds": {name: by_kind(some) for name, some in splits(scores).items()},
        "checks": by_check(scores),
        "logs": [
            {
                "id": one.id,
                "split": one.split,
                "kind": one.kind,
                "named": dict(one.named),
                "found": one.found,
                "wrong": list(one.wrong),
                "errors": list(one.errors),
                "seconds": one.seconds,
            }
            for one in scores
        ],
    }


def splits(scores: Sequence[CurveScore]) -> dict[str, list[CurveScore]]:
    """The scores of "dev", "other_seeds", "held_out" and "fresh", where there are some."""
    return {
        name: some
        for name in ("dev", "other_seeds", "held_out", "fresh")
        if (some := [one for one in scores if one.split == name])
    }


def interval(hits: int, count: int) -> list[float]:
    """Where the true share lies with 95 % certainty.

    Source: Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not count:
        return [0.0, 1.0]
    z = 1.96
    share, weight = hits / count, 1 + z * z / count
    middle = (share + z * z / (2 * count)) / weight
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / weight
    return [round(max(0.0, middle - half), 3), round(min(1.0, middle + half), 3)]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def _checks(kinds: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(NAMES[kind] for kind in kinds))
