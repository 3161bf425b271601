"""Faults planted into sound scripts: found at their line? And sound scripts: left in peace? Do patches apply?"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from benchmarks.script_faults.plant import Plant
from benchmarks.script_faults.plants import PLANTS
from benchmarks.script_faults.sound import SOUND
from benchmarks.script_faults.unmet import scripts, sets
from stethoscope.checks.findings import Finding, Severity
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.errors import StethoscopeError
from stethoscope.pasted.scripts.parsing import parse
from stethoscope.pasted.scripts.review import review, rewritten
from stethoscope.pasted.scripts.source import read

_PUBLIC = "STETHOSCOPE_SCRIPTS"
"""The variable that names a folder of public scripts and notebooks that run: they are no part of this project."""


def faulty(plant: Plant) -> str:
    """The script with its fault.

    Raises:
        ValueError: the text to replace is not in it.
    """
    text = SOUND[plant.script]
    for old, new in plant.changes:
        if old not in text:
            raise ValueError(f"{plant.id}: {old!r} is not in {plant.script}")
        text = text.replace(old, new, 1)
    return text


def lines_of(plant: Plant, text: str) -> frozenset[int]:
    """The lines that may be named."""
    return frozenset(
        number for number, row in enumerate(text.split("\n"), 1) if any(mark.strip() in row for mark in plant.marks)
    )


def named(plant: Plant) -> tuple[Finding, ...]:
    """Findings at MEDIUM or above on the lines of a plant; LOW ones count for faults that cost no more."""
    text = faulty(plant)
    lines = lines_of(plant, text)
    return tuple(
        finding
        for finding in review(text.encode(), "train.py").findings
        if finding.severity >= Severity.LOW and int(finding.where.rpartition(":")[2]) in lines
    )


def unmet(folder: str = "") -> dict[str, Any]:
    """How many faults of one set in `unmet/` are found at their line, and what is said of its sound scripts at MEDIUM or above."""
    faults, missed, said = 0, [], {}
    for script in scripts(folder):
        findings = review(script.content, script.file).findings
        places = {one.where.partition(":")[2] for one in findings if one.severity >= Severity.LOW}
        faults += len(script.faults)
        missed += [f"{script.name}: {kind}" for kind, at in script.faults.items() if not at & places]
        grave = [f"{one.where} {one.check_id}" for one in findings if one.severity >= Severity.MEDIUM]
        if not script.faults and grave:
            said[script.name] = grave
    return {"faults": faults, "found": faults - len(missed), "missed": missed, "said_of_sound_ones": said}


def applies(content: bytes, name: str) -> tuple[int, int]:
    """How many patches a script gets, and how many of them leave it one that can be read; each alone, then all together."""
    findings = [one for one in review(content, name).findings if isinstance(one.fix, ScriptPatch)]
    whole = 0
    for chosen in ([one] for one in findings):
        whole += _parses(content, name, chosen)
    if findings and not _parses(content, name, findings):
        return len(findings), 0
    return len(findings), whole


def _parses(content: bytes, name: str, findings: Sequence[Finding]) -> bool:
    try:
        parse(read(rewritten(content, name, findings)[0], name))
    except StethoscopeError:
        return False
    return True


def alarms(paths: Sequence[Path]) -> dict[str, list[str]]:
    """Findings at HIGH or above in each of these files that has any."""
    found = {}
    for path in paths:
        grave = [one for one in review(path.read_bytes(), path.name).findings if one.severity >= Severity.HIGH]
        if grave:
            found[path.name] = [f"{one.where} {one.check_id}" for one in grave]
    return found


def run(_folder: Path) -> dict[str, Any]:
    """Scores both halves of the plants, the sound scripts, and public ones where a folder of them is named."""
    start = time.perf_counter()
    halves: dict[str, Any] = {}
    for half, plants in (("first_half", PLANTS[::2]), ("second_half", PLANTS[1::2])):
        missed = [plant.id for plant in plants if not named(plant)]
        halves[half] = {"plants": len(plants), "found": len(plants) - len(missed), "missed": missed}
    patches: Counter[str] = Counter()
    for plant in PLANTS:
        made, whole = applies(faulty(plant).encode(), "train.py")
        patches.update(made=made, whole=whole)
    sound = {
        name: [one.where for one in review(text.encode(), name).findings if one.severity >= Severity.MEDIUM]
        for name, text in SOUND.items()
    }
    folder = os.environ.get(_PUBLIC)
    public = sorted(path for path in Path(folder).rglob("*") if path.suffix in (".py", ".ipynb")) if folder else []
    found = alarms(public)
    others = unmet()
    share = [others["found"] / others["faults"], *(half["found"] / half["plants"] for half in halves.values())]
    return {
        "holds": min(share) >= 0.8
        and patches["made"] == patches["whole"]
        and not any(sound.values())
        and not others["said_of_sound_ones"],
        **halves,
        "unmet_at_first": others,
        "later_sets": {name: unmet(name) for name in sets()},
        "patches": dict(patches),
        "alarms_on_own_sound_scripts": {name: places for name, places in sound.items() if places},
        "public": {"scripts": len(public), "with_alarms": len(found), "alarms": found},
        "seconds": round(time.perf_counter() - start, 2),
    }


BENCHMARK = Benchmark(
    id="scripts",
    claim="of faults planted into scripts at least 80 % are found at their line; every patch leaves a script that can be read; no alarm on sound ones",
    run=run,
)
