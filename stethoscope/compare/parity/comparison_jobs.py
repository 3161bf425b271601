"""The jobs of a comparison: the first model is recorded once, whatever it is compared with, each in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import all_formats
from stethoscope.types import Budget, Job, ModelFile, WorkerKind

RECORDED = "recorded"
"""The role in which the task `compare` gets what `record` left of the first model."""
AGAINST = "against-"
"""What begins the roles in which the task `record` gets models that the first is compared with."""
_OF_THE_FIRST = ("rows", "layers", "edges", "batch_size", "seed", "preparation", "data_options", "trusted")


@dataclass(frozen=True)
class Compared:
    """A model that is compared, and how it is run."""

    files: Mapping[str, ModelFile]
    """"model", and what lies beside it ("beside-…")."""
    worker: WorkerKind
    """The kind of worker that its format needs."""
    settings: RunSettings | None = None
    """None for the usual way."""
    format_id: str = ""


def comparison_job(
    first: Compared,
    other: Compared,
    data: ModelFile | None,
    params: Mapping[str, Any],
    budget: Budget,
    beside: Sequence[Compared] = (),
) -> Job:
    """The job that compares two models; the recording of the first comes before it, once for all comparisons with it.

    Args:
        first: the model that is right.
        other: the one that should answer the same; it may be the same file, run in another way.
        data: rows to compare on; None for random ones.
        params: of the task `compare`.
        budget: of either job.
        beside: all others that are compared in the same breath: the random rows suit every one of them.
    """
    asked = {name: params[name] for name in _OF_THE_FIRST if name in params}
    if first.settings is not None:
        asked["settings"] = first.settings.to_json()
    files = dict(first.files) | ({"data": data} if data is not None else {})
    if data is None:
        integers = dict.fromkeys(
            one.files["model"]
            for one in (other, *beside)
            if one.format_id and all_formats()[one.format_id].packs_weights
        )
        files |= {
            f"{AGAINST}{place}": file for place, file in enumerate(sorted(integers, key=lambda one: str(one.path)))
        }
    record = Job("record", files, asked, budget, first.worker)
    more = dict(params)
    if first.settings is not None:
        more["settings"] = first.settings.to_json()
    if other.settings is not None:
        more["other_settings"] = other.settings.to_json()
    renamed = {
        "other" if role == "model" else f"other-{role}" if role.startswith("beside-") else role: file
        for role, file in other.files.items()
    }
    return Job("compare", {**first.files, **renamed}, more, budget, other.worker, {RECORDED: record})
