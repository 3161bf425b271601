"""A drift study that is run again and again: its settings as a file, and what every run found as a line beside it.

Telling another program of an alarm: one POST of JSON, to http or https, without following where it leads.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from stethoscope.codec import SCHEMA_VERSION, fitting, plain
from stethoscope.drift.report import CategoryHistogram, DriftReport
from stethoscope.drift.settings import DriftSettings
from stethoscope.errors import BadSetting, UnreadableFile
from stethoscope.types import Status

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


@dataclass(frozen=True)
class MonitorRun:
    """One run of a monitor, as it is kept. Texts are hostile."""

    time: str
    """When it ended, as ISO 8601."""
    current: str = ""
    """Name of the data that was compared."""
    status: str | None = None
    verdict: Literal["drift", "no_drift"] | None = None
    sentence: str = ""
    """What was found, or why nothing was."""
    worst: str | None = None
    """The feature that drifted most."""
    p_value: float | None = None
    """The smallest corrected one."""
    psi: float | None = None
    """The largest above chance."""
    statistic: float | None = None
    """The largest Kolmogorov–Smirnov distance."""
    auc: float | None = None
    accuracy: float | None = None
    """Of the current data."""
    n_reference: int | None = None
    n_current: int | None = None
    alpha: float | None = None
    min_effect: float | None = None
    job: str = ""

    @property
    def drifted(self) -> bool:
        """Whether it found drift."""
        return self.verdict == "drift"

    @property
    def in_words(self) -> str:
        """Its answer."""
        return "drift" if self.drifted else "no drift" if self.status == "ok" else "did not run"


def history_path(monitor: Path) -> Path:
    """Where the runs of a monitor are written."""
    return monitor.with_name(f"{monitor.stem}.history.jsonl")


def remember(
    monitor: Path,
    current: str,
    status: Status,
    report: DriftReport | None,
    reason: str = "",
    *,
    when: datetime | None = None,
    job: str = "",
) -> None:
    """Appends one run to the history, as one line: a `MonitorRun`.

    Args:
        monitor: its file.
        current: name of the data that was compared.
        status: how the run ended.
        report: what it found; None where it did not come to an answer.
        reason: why it did not.
        when: it ended, with its time zone; None for now.
        job: id of the dashboard's job that gave the answer, while it is kept.

    Raises:
        BadSetting: the history cannot be written.
    """
    ended = (when or datetime.now(UTC)).isoformat(timespec="seconds")
    line = MonitorRun(ended, current, status.value, sentence=reason, job=job)
    if report is not None:
        line = _with_report(line, report)
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


def history(monitor: Path) -> list[MonitorRun]:
    """The runs of a monitor, oldest first, at most the last `_SHOWN_RUNS`; lines that are none are passed over."""
    path = history_path(monitor)
    if not path.exists():
        return []
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _MOST_HISTORY_BYTES))
        lines = stream.read().splitlines()
    runs = []
    for line in lines[-_SHOWN_RUNS:]:
        try:
            run = fitting(MonitorRun, json.loads(line))
        except (ValueError, RecursionError):
            continue
        if run is not None:
            runs.append(run)
    return runs


def _written(file: Path, monitor: Path) -> str:
    whole, folder = file.resolve(), monitor.parent.resolve()
    return str(whole.relative_to(folder)) if whole.is_relative_to(folder) else str(whole)


def _with_report(run: MonitorRun, report: DriftReport) -> MonitorRun:
    tests = [*report.features, *report.ran]
    return replace(
        run,
        verdict=report.verdict,
        sentence=report.sentence,
        worst=report.features[0].name if report.features else None,
        p_value=min((test.p_adjusted for test in tests), default=None),
        psi=max((row.psi_above_chance for row in report.features), default=None),
        statistic=max((row.ks.statistic for row in report.features if row.ks), default=None),
        auc=max((test.auc for test in report.ran), default=None),
        accuracy=_accuracy(report),
        n_reference=report.rows.reference.read,
        n_current=report.rows.current.read,
        alpha=report.alpha,
        min_effect=report.settings.min_effect,
    )


def _accuracy(report: DriftReport) -> float | None:
    """Of the current data; None where nothing is labelled, and of quantities."""
    drawn = next((row.histogram for row in report.features if row.role == "correctness"), None)
    if not isinstance(drawn, CategoryHistogram) or not sum(drawn.current):
        return None
    return dict(zip(drawn.categories, drawn.current, strict=True)).get("right", 0) / sum(drawn.current)


TIMEOUT_S = 10.0
_MOST_FEATURES = 50
_LEFT_OUT = ("histogram", "reference", "current")


def checked_url(url: str) -> str:
    """The address, if it is one that may be posted to; "" stays "".

    Raises:
        BadSetting: it is not http or https, or names no host.
    """
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host or any(character.isspace() for character in url):
        raise BadSetting(f"Webhook {url[:80]!r}: expected an http or https address, like https://host/path.")
    return url


def post(url: str, value: Mapping[str, Any], timeout_s: float = TIMEOUT_S) -> str:
    """Posts the answer of a run, without its histograms; returns "" or, in a sentence, why it did not arrive."""
    body = json.dumps(plain(bounded(value)), allow_nan=False).encode()
    request = urllib.request.Request(
        checked_url(url), body, {"Content-Type": "application/json", "User-Agent": "stethoscope"}, method="POST"
    )
    opener = urllib.request.build_opener(_NoRedirect)
    host = urlsplit(url).hostname
    try:
        with opener.open(request, timeout=timeout_s):
            return ""
    except urllib.error.HTTPError as error:
        return f"The webhook was not delivered: {host} answered {error.code}. Check the address."
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        return f"The webhook was not delivered: {host} cannot be reached ({reason}). Check the address and the network."


def bounded(value: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as it is sent: the first features without pictures, nothing that grows with the data."""
    features = [
        {name: item for name, item in one.items() if name not in _LEFT_OUT}
        for one in (value.get("features") or [])[:_MOST_FEATURES]
    ]
    return {name: item for name, item in value.items() if name not in ("over_time", "features")} | {
        "features": features
    }


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
