"""How a diagnosis is scored: named faults against true ones, alarms on repaired programs, seconds."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LEVELS = ("info", "low", "medium", "high", "critical")
_NAMED, _ALARM = _LEVELS.index("medium"), _LEVELS.index("high")

PUBLISHED = (
    ("UMLAUT (CHI 2021)", "14 of 52 programs", "27 %", "its softmax rule fires on 47 of 47 programs"),
    ("AUTOTRAINER (ICSE 2021)", "10 of 52 programs", "19 %", "none published"),
    ("DeepLocalize (ICSE 2021)", "21 of 40 localised", "53 %", "none published"),
    ("DeepDiagnosis (ICSE 2022)", "28 of 53 with the right place to repair", "53 %", "none published"),
    ("DeepFD (ICSE 2022)", "27 of 52 programs", "52 %", "none published"),
    ("NeuraLint (TOSEM 2021)", "64 faults in 34 programs", "70.5 % recall", "none published"),
    ("Theia (2024)", "57 of 75 structural faults in 40 programs", "76 %", "none published"),
    ("DEFault (2025)", "DeepFD's 52 programs", "63 %", "none published"),
    (
        "best of an independent comparison (EMSE 2025)",
        "33 faults",
        "33 % recall, 55 % with other patches",
        "precision .18 to .37",
    ),
)
"""Tool, on what, fraction diagnosed, alarms; each from the tool's own paper, or from DeepFD's tables for the older ones."""

PAGE = """# How often is the diagnosis right?

A program is a model, its data and what `fit` was told. Each comes twice: as it was, with at least one fault, and repaired.
Both go through `stethoscope check model.keras --data data.npz --fit …`, without a hint.

- **Diagnosed**: a fault that is truly in the program is named at MEDIUM or above.
- **Precision**: of all faults named at MEDIUM or above, those that are truly there. Where a program's authors would accept
  another patch that removes the symptom, its fault counts on neither side.
- **Alarm**: a finding at HIGH or CRITICAL on the repaired program.

*given* and *dev* are what the rules were developed on. *held out* was written beforehand, kept apart and scored
afterwards; the rules that compare loss, last activation and labels were, however, written with its list of combinations
in sight. All programs are rebuilt with today's Keras. Those with a number restate a question on Stack
Overflow: its layers, loss, optimizer, and the scale and encoding of its data. The others were written for this benchmark
after the kinds of fault in the studies below. Run it: `python -m benchmarks.diagnosis --split all`.

"""


@dataclass(frozen=True)
class Score:
    """What a diagnosis said about one case.

    Attributes:
        named: fault → ids of the checks that named it at MEDIUM or above on the faulty program.
        alarms: ids of the checks with a finding at HIGH or above on the repaired program.
        errors: what kept either program from being diagnosed, or a check from running.
    """

    id: str
    split: str
    title: str
    true: frozenset[str]
    neutral: frozenset[str]
    named: Mapping[str, tuple[str, ...]]
    alarms: tuple[str, ...]
    errors: tuple[str, ...]
    seconds: tuple[float, float]

    @property
    def diagnosed(self) -> bool:
        """Whether a true fault was named."""
        return bool(self.true & set(self.named))


def score(facts: Mapping[str, Any], faulty: Mapping[str, Any], repaired: Mapping[str, Any]) -> Score:
    """Scores the answers of `check --json` (with "seconds" added, and "error" where there was none) for one case."""
    named: dict[str, list[str]] = {}
    for finding in _at_least(_NAMED, faulty):
        checks = named.setdefault(finding["fault"], [])
        if finding["check_id"] not in checks:
            checks.append(finding["check_id"])
    errors = [*_not_answered("faulty", faulty), *_not_answered("repaired", repaired)]
    for stage in repaired.get("stages", ()):
        if stage["status"] == "failed":
            errors.append(f"repaired: its silence proves nothing, stage {stage['id']} failed: {stage['reason']}")
    return Score(
        facts["id"],
        facts["split"],
        facts["title"],
        frozenset(facts["faults"]),
        frozenset(facts["neutral"]),
        {fault: tuple(checks) for fault, checks in named.items()},
        tuple(dict.fromkeys(finding["check_id"] for finding in _at_least(_ALARM, repaired))),
        tuple(errors),
        (float(faulty["seconds"]), float(repaired["seconds"])),
    )


def totals(scores: Sequence[Score]) -> dict[str, Any]:
    """Diagnosed and false-alarm fractions, precision and seconds over some cases.

    Precision is the true ones of all distinct faults named at MEDIUM or above, summed over the cases; a case's neutral
    names count on neither side, and as false in `precision_strict`.
    """
    if not scores:
        return {"cases": 0}
    true = sum(len(one.true & set(one.named)) for one in scores)
    neutral = sum(len((one.neutral - one.true) & set(one.named)) for one in scores)
    named = sum(len(one.named) for one in scores)
    seconds = [second for one in scores for second in one.seconds]
    return {
        "cases": len(scores),
        "diagnosed": sum(one.diagnosed for one in scores),
        "diagnosed_fraction": round(sum(one.diagnosed for one in scores) / len(scores), 3),
        "precision": round(true / max(named - neutral, 1), 3),
        "precision_strict": round(true / max(named, 1), 3),
        "faults_named": named,
        "false_alarms": sum(bool(one.alarms) for one in scores),
        "false_alarm_fraction": round(sum(bool(one.alarms) for one in scores) / len(scores), 3),
        "errors": sum(len(one.errors) for one in scores),
        "seconds_median": round(statistics.median(seconds), 2),
        "seconds_max": round(max(seconds), 2),
    }


def by_check(scores: Sequence[Score]) -> dict[str, dict[str, Any]]:
    """For every check that spoke: cases where its fault was true, where it was not, and its alarms on repaired ones."""
    found: dict[str, dict[str, Any]] = {}

    def of(check: str) -> dict[str, Any]:
        return found.setdefault(check, {"right": 0, "wrong": [], "alarms": []})

    for one in scores:
        for fault, checks in one.named.items():
            for check in checks:
                if fault in one.true:
                    of(check)["right"] += 1
                elif fault not in one.neutral:
                    of(check)["wrong"].append(one.id)
        for check in one.alarms:
            of(check)["alarms"].append(one.id)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]["alarms"]), -len(item[1]["wrong"]), item[0])))


def line(one: Score) -> str:
    """One case as text."""
    named = " ".join(f"{_mark(one, fault)}{fault}({','.join(checks)})" for fault, checks in one.named.items())
    parts = [
        f"{'yes' if one.diagnosed else 'NO ':3}",
        f"{one.id:28}",
        f"true: {' '.join(sorted(one.true))}",
        f"named: {named or 'nothing'}",
        f"repaired: {'ALARM ' + ','.join(one.alarms) if one.alarms else 'silent'}",
        f"{one.seconds[0]:.1f} s, {one.seconds[1]:.1f} s",
        *(f"! {error}" for error in one.errors),
    ]
    return " | ".join(parts)


def to_json(scores: Sequence[Score]) -> dict[str, Any]:
    """All of it, for comparing runs."""
    return {
        "totals": {name: totals(some) for name, some in _splits(scores).items()},
        "checks": by_check(scores),
        "cases": [
            {
                "id": one.id,
                "split": one.split,
                "true": sorted(one.true),
                "neutral": sorted(one.neutral),
                "named": {fault: list(checks) for fault, checks in one.named.items()},
                "diagnosed": one.diagnosed,
                "alarms": list(one.alarms),
                "errors": list(one.errors),
                "seconds": list(one.seconds),
            }
            for one in scores
        ],
    }


def markdown(scores: Sequence[Score]) -> str:
    """The tables of docs/diagnosis-accuracy.md."""
    rows = [
        PAGE.rstrip("\n"),
        "",
        "| programs | diagnosed | precision | alarms on repaired | seconds, median and longest |",
        "|---|---|---|---|---|",
    ]
    for name, some in _splits(scores).items():
        all_in = totals(some)
        rows.append(
            f"| {name.replace('_', ' ')} | {all_in['diagnosed']} of {all_in['cases']} ({all_in['diagnosed_fraction']:.0%}) "
            f"| {all_in['precision']:.2f} | {all_in['false_alarms']} of {all_in['cases']} "
            f"({all_in['false_alarm_fraction']:.0%}) | {all_in['seconds_median']:.1f}, {all_in['seconds_max']:.1f} |"
        )
    rows += [
        "",
        "Published figures, on other programs, so they show the order of magnitude only:",
        "",
        "| tool | on | diagnosed | alarms |",
        "|---|---|---|---|",
    ]
    rows += [f"| {' | '.join(entry)} |" for entry in PUBLISHED]
    rows += [
        "",
        "| case | true faults | named at MEDIUM or above | diagnosed | alarms on the repaired |",
        "|---|---|---|---|---|",
    ]
    for one in scores:
        named = ", ".join(fault if fault in one.true else f"*{fault}*" for fault in one.named)
        cells = (_link(one), ", ".join(sorted(one.true)), named or "nothing", "yes" if one.diagnosed else "**no**")
        rows.append(f"| {' | '.join(cells)} | {', '.join(one.alarms) or 'none'} |")
    return "\n".join(rows) + "\n"


def _at_least(level: int, answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for one in answer.get("findings", ()) if _LEVELS.index(str(one["severity"]).lower()) >= level]


def _not_answered(variant: str, answer: Mapping[str, Any]) -> Iterator[str]:
    """What kept a program, or a check of it, from being examined."""
    if answer.get("error"):
        yield f"{variant}: {answer['error']}"
    elif answer.get("status", "ok") not in ("ok", "OK"):
        yield f"{variant}: {answer['status']}: {answer.get('reason', '')}"
    for outcome in answer.get("outcomes", ()):
        if outcome["status"].lower() == "failed":
            yield f"{variant}: check {outcome['check_id']} failed: {outcome['reason']}"


def _mark(one: Score, fault: str) -> str:
    return "" if fault in one.true else "~" if fault in one.neutral else "✗"


def _splits(scores: Sequence[Score]) -> dict[str, list[Score]]:
    return {
        name: some for name in ("given", "dev", "held_out") if (some := [one for one in scores if one.split == name])
    }


def _link(one: Score) -> str:
    number = one.id.split("-", maxsplit=1)[0]
    return f"[{one.id}](https://stackoverflow.com/questions/{number})" if number.isdigit() else one.id
