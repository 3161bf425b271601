"""What running several models at once came to."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.memory.sharing import Split
from stethoscope.memory.sharing_programs import SharingCode


@dataclass(frozen=True)
class ModelRun:
    """One model, alone and beside the others. Sizes in bytes, times in seconds."""

    name: str
    state: str = "waiting"
    """"waiting", "alone", "together", "done"; for progress."""
    batch_size: int = 0
    predicted_bytes: int | None = None
    """The peak expected at that batch, from small batches; None where nothing could be measured."""
    alone_bytes: int | None = None
    """The peak measured when it ran alone."""
    alone_time_per_call_s: float | None = None
    share_bytes: int = 0
    asked_batch_size: int = 0
    """The batch it was given when run together: larger than `batch_size` for the model made to exceed its share."""
    status: str = ""
    """How it ended when run together: a `Status`."""
    reason: str = ""
    phase: str = ""
    peak_bytes: int | None = None
    calls: int = 0
    time_per_call_s: float | None = None
    started_s: float | None = None
    """Seconds since the first of them started, like `ended_s`."""
    ended_s: float | None = None
    same_as_alone: bool | None = None
    """Whether its outputs together were those it gave alone; None where there is nothing to compare."""
    exceeds: bool = False
    """Whether it was made to ask for more than its share."""


@dataclass(frozen=True)
class TogetherReport:
    """Several models on one card, planned and then really run."""

    runs: tuple[ModelRun, ...]
    split: Split | None = None
    at_once: int = 0
    """The most of them that were running at the same moment."""
    verdict: str = ""
    """"fit" (all finished in their shares), "contained" (those over their share died alone), "disturbed" (another one was
    affected), "not run" or "cancelled"."""
    sentence: str = ""
    codes: tuple[SharingCode, ...] = ()
    done: bool = False

    def run_of(self, name: str) -> ModelRun:
        """The run of a model by name."""
        return next(run for run in self.runs if run.name == name)


def at_once(spans: list[tuple[float, float]]) -> int:
    """The largest number of intervals (start, end) that share a moment."""
    events = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    running = most = 0
    for _, step in events:
        running += step
        most = max(most, running)
    return most


def judged(runs: tuple[ModelRun, ...]) -> tuple[str, str]:
    """The verdict on runs that have ended, and the sentence that says it."""
    bad = [run for run in runs if run.status == "out_of_memory"]
    others = [run for run in runs if run not in bad]
    hurt = [run for run in others if run.status != "ok" or run.same_as_alone is False]
    if any(run.status == "cancelled" for run in runs):
        return "cancelled", "Cancelled."
    if hurt:
        names = "; ".join(f"{run.name}: {run.reason or 'its outputs differ from those it gave alone'}" for run in hurt)
        return "disturbed", f"Not all finished as they do alone. {names}"
    meant = [run for run in runs if run.exceeds and run.status == "ok"]
    if not bad and meant:
        return "fit", f"{meant[0].name} was given {meant[0].asked_batch_size:,} rows and did not exceed its share."
    if not bad:
        return (
            "fit",
            f"{'Both' if len(runs) == 2 else f'All {len(runs)}'} ran at once, each within its share, with the outputs they give alone.",
        )
    over = ", ".join(run.name for run in bad)
    if not others:
        return "contained", f"{over} exceeded the share{'s' if len(bad) > 1 else ''}; nothing else was running."
    rest = ", ".join(run.name for run in others)
    return "contained", f"{over} exceeded its share and ended alone; {rest} finished with the outputs given alone."
