"""A drift study that is run again and again: its settings as a file, and what every run found as a line beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stethoscope.codec import SCHEMA_VERSION, plain
from stethoscope.drift.settings import DriftSettings
from stethoscope.drift.webhook import checked_url
from stethoscope.errors import BadSetting, UnreadableFile

_MOST_BYTES = 1 << 20
_MOST_HISTORY_BYTES = 64 << 20
_SHOWN_RUNS = 1_000


@dataclass(frozen=True)
class Monitor:
    """What is compared with what, when this monitor is run on new data."""

    reference: Path
    settings: DriftSettings = field(default_factory=DriftSettings)
    model: Path | None = None
    webhook: str = ""
    """Where an alarm is sent; "" for nowhere."""
    job: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of the job: "data_options", "preparation", "trusted"."""

    def save(self, path: Path) -> None:
        """Writes it as JSON; paths of files below the monitor's folder are kept relative to it, so that both can be moved.

        Raises:
            BadSetting: it cannot be written there.
        """
        value = {
            "schema_version": SCHEMA_VERSION,
            "reference": _written(self.reference, path),
            "model": None if self.model is None else _written(self.model, path),
            "settings": self.settings.to_json(),
            "webhook": self.webhook,
            "job": plain(dict(self.job)),
        }
        temporary = path.with_name(path.name + ".new")
        try:
            temporary.write_text(json.dumps(value, indent=1) + "\n")
            temporary.replace(path)
        except OSError as error:
            raise BadSetting(
                f"{path}: the monitor cannot be written ({error.strerror}). Choose another place."
            ) from error

    @classmethod
    def load(cls, path: Path) -> Monitor:
        """Reads what `save` wrote.

        Raises:
            UnreadableFile: it is no monitor.
            BadSetting: one of its settings makes no sense.
        """
        try:
            text = path.read_bytes()
            value = json.loads(text) if len(text) <= _MOST_BYTES else None
        except OSError as error:
            raise UnreadableFile(f"{path}: the monitor cannot be read ({error.strerror}). Check the path.") from error
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or not isinstance(value.get("reference"), str) or not value["reference"]:
            raise UnreadableFile(
                f"{path.name}: expected a monitor, got other content. Make one with stethoscope drift … --save-monitor."
            )
        model, settings, job = value.get("model"), value.get("settings"), value.get("job")
        return cls(
            reference=(path.parent / value["reference"]).resolve(),
            settings=DriftSettings.from_json(settings if isinstance(settings, dict) else {}),
            model=(path.parent / model).resolve() if isinstance(model, str) and model else None,
            webhook=checked_url(str(value.get("webhook") or "")),
            job=job if isinstance(job, dict) else {},
        )


def history_path(monitor: Path) -> Path:
    """Where the runs of a monitor are written."""
    return monitor.with_name(f"{monitor.stem}.history.jsonl")


def remember(
    monitor: Path, current: str, value: Mapping[str, Any], *, when: datetime | None = None, job: str = ""
) -> dict[str, Any]:
    """Appends one run to the history, as one line.

    Args:
        monitor: its file.
        current: name of the data that was compared.
        value: the answer of the command.
        when: it ended, with its time zone; None for now.
        job: id of the dashboard's job that gave the answer, while it is kept.

    Returns:
        The line: {"time", "current", "status", "verdict", "sentence", "worst", "p_value" (the smallest corrected one), "psi" (the
        largest above chance), "statistic" (the largest Kolmogorov–Smirnov distance), "auc", "accuracy", "n_reference",
        "n_current", "alpha", "min_effect", "job"}.

    Raises:
        BadSetting: the history cannot be written.
    """
    features = value.get("features") or []
    whole = [one for one in value.get("whole") or [] if "p_value" in one]
    settings, rows = value.get("settings") or {}, value.get("rows") or {}
    right = next((one for one in features if one["role"] == "correctness" and one["kind"] == "category"), None)
    line = {
        "time": (when or datetime.now(UTC)).isoformat(timespec="seconds"),
        "current": current,
        "status": value.get("status"),
        "verdict": value.get("verdict"),
        "sentence": value.get("sentence") or value.get("reason") or "",
        "worst": features[0]["name"] if features else None,
        "p_value": min((one["p_adjusted"] for one in [*features, *whole]), default=None),
        "psi": max((one["psi_above_chance"] for one in features), default=None),
        "statistic": max((one["ks"]["statistic"] for one in features if one.get("ks")), default=None),
        "auc": max((one["auc"] for one in whole), default=None),
        "accuracy": None if right is None else _right(right),
        "n_reference": (rows.get("reference") or {}).get("read"),
        "n_current": (rows.get("current") or {}).get("read"),
        "alpha": settings.get("alpha"),
        "min_effect": settings.get("min_effect"),
        "job": job,
    }
    path = history_path(monitor)
    try:
        # One write of one line: runs that end at the same moment do not mix.
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, (json.dumps(plain(line), allow_nan=False) + "\n").encode())
        finally:
            os.close(handle)
    except OSError as error:
        raise BadSetting(f"{path}: the history cannot be written ({error.strerror}). Check the folder.") from error
    return line


def history(monitor: Path) -> list[dict[str, Any]]:
    """The runs of a monitor, oldest first, at most the last `_SHOWN_RUNS`; lines that are none are passed over."""
    path = history_path(monitor)
    if not path.exists():
        return []
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _MOST_HISTORY_BYTES))
        lines = stream.read().splitlines()
    found = []
    for line in lines[-_SHOWN_RUNS:]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "time" in value:
            found.append(value)
    return found


def _written(file: Path, monitor: Path) -> str:
    whole, folder = file.resolve(), monitor.parent.resolve()
    return str(whole.relative_to(folder)) if whole.is_relative_to(folder) else str(whole)


def _right(row: Mapping[str, Any]) -> float | None:
    counts = dict(zip(row["histogram"]["categories"], row["histogram"]["current"], strict=True))
    total = sum(counts.values())
    return counts.get("right", 0) / total if total else None
