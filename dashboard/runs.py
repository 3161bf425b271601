"""From a page's settings to a job: which task, which files, which worker, how much it may use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard import analysis
from dashboard.data.data_use import DataUse
from stethoscope.jobs.store import Entry
from stethoscope.memory.call_styles import usual_call
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import format_of
from stethoscope.settings import settings
from stethoscope.types import Architecture, Job, ModelFile


def consistency(
    entry: Entry, architecture: Architecture, params: Mapping[str, Any], data: DataUse | None = None
) -> Job:
    """The job behind the Consistency page. `params`: runs, seed, batch_size, atol."""
    return analysis.model_job("consistency", entry, architecture.format_id, params, data=data)


def predict(
    entry: Entry, architecture: Architecture, params: Mapping[str, Any], memory_bytes: int, data: DataUse | None
) -> Job:
    """The job behind the Prediction page: memory as in a process of the user's own. `params`: batch_size, samples, seed, size."""
    call = usual_call(format_of(architecture))
    own = RunSettings(batch_size=int(params["batch_size"]), call=call, allocator="pool").to_json()
    params = {"settings": own, **params}
    return analysis.model_job("predict", entry, architecture.format_id, params, memory_bytes=memory_bytes, data=data)


def overfit(entry: Entry, architecture: Architecture, params: Mapping[str, Any], data: DataUse | None) -> Job:
    """The job behind the Overfit test. `params`: samples, fit, time_s."""
    return analysis.model_job("overfit", entry, architecture.format_id, params, data=data)


def trial(kind: str, entry: Entry, architecture: Architecture, params: Mapping[str, Any], data: DataUse | None) -> Job:
    """A job that trains copies of the model on logical devices: "placement" or "replicas"."""
    return analysis.model_job(kind, entry, architecture.format_id, params, data=data)


def sweep(entry: Entry, architecture: Architecture, params: Mapping[str, Any], memory_bytes: int) -> Job:
    """The job behind the growth of memory with the batch. `params`: settings, batch_sizes."""
    return analysis.model_job("sweep", entry, architecture.format_id, params, memory_bytes=memory_bytes)


def sweep_training(
    entry: Entry, architecture: Architecture, params: Mapping[str, Any], memory_bytes: int, data: DataUse | None
) -> Job:
    """The job behind the memory of training. `params`: batch_sizes, changes."""
    return analysis.model_job(
        "sweep_training", entry, architecture.format_id, params, memory_bytes=memory_bytes, data=data
    )


def estimate(entry: Entry, architecture: Architecture, params: Mapping[str, Any]) -> Job:
    """The job behind an estimate without a run. `params`: settings, batch_sizes, sizes."""
    return analysis.model_job("estimate", entry, architecture.format_id, params)


def endurance(entry: Entry, architecture: Architecture, params: Mapping[str, Any], memory_bytes: int) -> Job:
    """The job behind the test of repeated calls. `params`: settings, tests, calls."""
    return analysis.model_job("endurance", entry, architecture.format_id, params, memory_bytes=memory_bytes)


def sample_data(entry: Entry) -> ModelFile | None:
    """The data file that comes with a sample model, if it has one."""
    name = _manifest_row(entry).get("data")
    path = settings().samples_dir / Path(str(name)).name if name else None
    return ModelFile(path, path.name) if path is not None and path.is_file() else None


def sample_fit(entry: Entry) -> dict[str, Any]:
    """How a sample model is trained, as its manifest says; empty for other models."""
    return dict(_manifest_row(entry).get("fit") or {})


def _manifest_row(entry: Entry) -> dict[str, Any]:
    manifest = settings().samples_dir / "manifest.json"
    if not entry.sample or not manifest.is_file():
        return {}
    for row in json.loads(manifest.read_text("utf-8")):
        if Path(row.get("file") or "").name in {entry.name, entry.name.removesuffix(".tar")}:
            return dict(row)
    return {}
