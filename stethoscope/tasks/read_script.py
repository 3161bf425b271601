"""Read a training script or notebook: what is wrong in it, line by line. Executes and imports nothing of it."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.checks.findings import Finding, Outcome
from stethoscope.codec import SCHEMA_VERSION
from stethoscope.errors import TooLarge
from stethoscope.pasted.scripts.review import Seen, review, rewritten
from stethoscope.pasted.scripts.source import MOST_NOTEBOOK_BYTES
from stethoscope.task import TaskContext

PATCHED = "patched"
"""The name of the script with every patch in it, among a job's files."""


@dataclass(frozen=True)
class ScriptReport:
    """What was read of a script, and what is wrong in it."""

    seen: Seen
    findings: tuple[Finding, ...]
    """Most severe first, then by line."""
    outcomes: tuple[Outcome, ...]
    """One for each rule; without its findings."""
    schema_version: int = SCHEMA_VERSION


class ReadScript:
    """Files: "script". No params. Leaves the script with every patch in it, where there are any."""

    kind = "read_script"
    answer = ScriptReport

    def run(self, context: TaskContext) -> ScriptReport:
        """Reads the file and holds it against every rule."""
        file = context.files["script"]
        context.report("read", message=f"reading {file.name}")
        size = file.path.stat().st_size
        if size > MOST_NOTEBOOK_BYTES:
            raise TooLarge(f"{file.name}: expected a script, got {size >> 20} MiB.")
        found = review(file.path.read_bytes(), file.name)
        self._patched(context, file.path.read_bytes(), found.findings)
        outcomes = tuple(Outcome(one.check_id, one.status, reason=one.reason) for one in found.outcomes)
        return ScriptReport(found.seen, found.findings, outcomes)

    def _patched(self, context: TaskContext, content: bytes, findings: tuple[Finding, ...]) -> None:
        changed, made, _ = rewritten(content, context.files["script"].name, findings)
        if made:
            folder = context.folder / "out"
            folder.mkdir(exist_ok=True)
            (folder / PATCHED).write_bytes(changed)


TASK = ReadScript()
