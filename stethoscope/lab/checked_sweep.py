"""What the end of a sweep's process means when it came while a batch was checked on purpose."""

from __future__ import annotations

from dataclasses import replace

from stethoscope.types import JobResult, Status


def as_checked(result: JobResult) -> JobResult:
    """What a process that ended during `--check` means.

    The batch just above the largest is expected not to fit: where its limit ended the process, and nothing was left to
    check, the question is answered. Any other end of the process says nothing about that batch, or that a batch which was
    said to fit did not: the check gets that status, and so does the command.
    """
    running = result.value.get("running")
    checks = list(result.value.get("checks") or ())
    if result.phase != "check" or not running or not checks or result.status is Status.OK:
        return result
    if result.status is Status.OUT_OF_MEMORY and (result.value.get("oom") or {}).get("mechanism") == "limit":
        if running["above"] and running["last"]:
            rest = {key: item for key, item in result.value.items() if key not in ("running", "oom")}
            return replace(result, status=Status.OK, value=rest, reason="", error="")
        return result
    checks[-1] = {**checks[-1], "status": result.status.value, "reason": result.reason}
    return replace(result, value={**result.value, **running["otherwise"], "checks": checks})
