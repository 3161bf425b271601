"""A script, held against every rule: what is read, what is wrong, and what each rule came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stethoscope.checks.findings import Finding, Outcome, Severity
from stethoscope.checks.fixes.script_patch import ScriptPatch
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.parsing import parse
from stethoscope.pasted.scripts.patches import patched
from stethoscope.pasted.scripts.rules import all_rules
from stethoscope.pasted.scripts.source import Source, read
from stethoscope.types import Status

_MOST_FINDINGS = 400


@dataclass(frozen=True)
class Seen:
    """What was read of a script: how many lines, calls and models, and what could not be read."""

    lines: int
    notebook: bool
    calls: int
    models: tuple[str, ...]
    """How each is built, with its last layer."""
    left_out: tuple[str, ...]
    legacy: str
    """Why it is taken for a script of Keras 2; "" otherwise."""
    keras: bool
    """Whether it imports TensorFlow or Keras."""


@dataclass(frozen=True)
class Review:
    """Findings in the order of their gravity, then of their lines."""

    seen: Seen
    findings: tuple[Finding, ...]
    outcomes: tuple[Outcome, ...]


def review(content: bytes, name: str) -> Review:
    """Reads a script and says what is wrong in it.

    Raises:
        StethoscopeError: it is no script, or none that can be read; says the line.
    """
    facts = Facts(parse(read(content, name)))
    findings: list[Finding] = []
    outcomes: list[Outcome] = []
    for rule in all_rules().values():
        found: list[Finding] = []
        reason = ""
        try:
            for finding in rule.run(facts):
                found.append(rule.completed(finding))
                if len(found) >= _MOST_FINDINGS:
                    break
        except Exception as error:  # noqa: BLE001 - one rule that breaks leaves the others standing
            reason = f"{type(error).__name__}: {error}"[:300]
        kept = tuple({(one.where, one.message): one for one in found}.values())
        outcomes.append(Outcome(rule.id, Status.FAILED if reason else Status.OK, kept, reason))
        findings.extend(kept)
    place = {facts.source.where(line): line for line in range(1, facts.source.text.count("\n") + 2)}
    findings.sort(key=lambda one: (-one.severity, place.get(one.where, 0)))
    return Review(_seen(facts), tuple(findings), tuple(outcomes))


def _seen(facts: Facts) -> Seen:
    models = []
    for model in facts.models:
        head = model.head
        end = f", ends in {head.units or '?'} units with {head.activation or '?'}" if head else ""
        models.append(f"{model.kind}{end}")
    return Seen(
        facts.source.text.count("\n") + 1,
        facts.source.notebook,
        len({id(call.node) for call in facts.calls}),
        tuple(models[:50]),
        facts.parsed.left_out,
        facts.legacy,
        facts.uses_keras,
    )


def rewritten(
    content: bytes, name: str, findings: Sequence[Finding], least: Severity = Severity.INFO
) -> tuple[bytes, int, int]:
    """A script with the patches of findings made in it; how many were made, and how many were left out since they meet others.

    Raises:
        StethoscopeError: it is no script.
    """
    source = read(content, name)
    groups = [
        one.fix.edits
        for one in findings
        if isinstance(one.fix, ScriptPatch) and one.fix.edits and one.severity >= least
    ]
    changed, left_out = patched(source, groups)
    return written(content, source, changed), len(groups) - left_out, left_out


def written(content: bytes, before: Source, after: Source) -> bytes:
    """The file with the parts of a changed source in it."""
    import json

    if not before.notebook:
        text = after.parts[0].text
        ends = b"\r\n" if b"\r\n" in content else b"\n"
        return text.encode("utf-8").replace(b"\n", ends)
    book = json.loads(content.decode("utf-8-sig"))
    cells = book["cells"] if isinstance(book.get("cells"), list) else book["worksheets"][0]["cells"]
    for one, other in zip(before.parts, after.parts, strict=True):
        if one.text != other.text:
            cell = cells[one.number - 1]
            key = "source" if "source" in cell else "input"
            cell[key] = other.text.splitlines(keepends=True) if isinstance(cell[key], list) else other.text
    return (json.dumps(book, indent=1, ensure_ascii=False) + "\n").encode("utf-8")
