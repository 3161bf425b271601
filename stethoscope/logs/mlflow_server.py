"""An MLflow tracking server, asked through its REST interface. Only a server whose address somebody gave is asked.

Source: mlflow.org/docs/latest/rest-api.html (2.0); recorded from MLflow 3.17.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from stethoscope.errors import StethoscopeError
from stethoscope.logs.bounded_json import JsonServer
from stethoscope.logs.mlflow_run import (
    MAX_RUNS,
    MAX_TAGS,
    MAX_TEXT,
    MAX_TOTAL_POINTS,
    MlflowRun,
    Points,
    as_logs,
    dataset_text,
    stored_value,
)
from stethoscope.logs.series import MAX_POINTS, RunLog

_API = "/api/2.0/mlflow"
_PAGE, _HISTORY_PAGE = 1_000, 20_000
_MAX_EXPERIMENTS = 10_000
_MAX_EXPERIMENTS_AT_ONCE = 100
_AT_ONCE = 4


class Experiment(NamedTuple):
    """One experiment of a server."""

    id: str
    name: str


class MlflowServer:
    """Lists experiments and reads their runs."""

    id = "mlflow-server"
    title = "MLflow runs (tracking server)"

    def __init__(self, server: JsonServer, total_s: float = 120.0) -> None:
        """Remembers the server; asks nothing yet.

        Args:
            server: where to ask.
            total_s: seconds that one call of a method may take.
        """
        self._server, self._total_s = server, total_s

    def experiments(self) -> tuple[Experiment, ...]:
        """Every experiment that was not deleted, by name.

        Raises:
            NotFound, BadSetting, UnreadableFile, TooLarge: see `JsonServer`.
        """
        question = {"max_results": _PAGE, "view_type": "ACTIVE_ONLY"}
        found: list[Experiment] = []
        for item in self._pages("/experiments/search", question, "experiments", self._deadline()):
            if _text(item, "lifecycle_stage") != "deleted" and len(found) < _MAX_EXPERIMENTS:
                found.append(Experiment(_text(item, "experiment_id"), _text(item, "name")))
        return tuple(sorted(found, key=lambda one: (one.name, one.id)))

    def read(self, experiments: Sequence[Experiment], ids: Collection[str] = ()) -> tuple[RunLog, ...]:
        """The runs of some experiments with every point, oldest first. See `whole_runs`."""
        return as_logs(self.whole_runs(experiments, ids), self.id)

    def whole_runs(self, experiments: Sequence[Experiment], ids: Collection[str] = ()) -> list[MlflowRun]:
        """The same as the server has it: one question per metric of a run.

        A metric whose history the server does not give keeps its last point, and the run's health says so.

        Args:
            experiments: of `experiments()`.
            ids: only these runs (`notes["id"]` of a summary); all without any.

        Raises:
            NotFound, BadSetting, UnreadableFile, TooLarge: see `JsonServer`.
        """
        deadline = self._deadline()
        runs = [run for run in self._runs(experiments, deadline) if not ids or run.id in ids]
        left = MAX_TOTAL_POINTS
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for run in runs:
                names = list(run.metrics)
                limit = min(MAX_POINTS, left) // max(1, len(names))
                answers = [pool.submit(self._history, run.id, name, limit, deadline) for name in names]
                for name, answer in zip(names, answers, strict=True):
                    try:
                        points, bad, cut = answer.result()
                    except StethoscopeError as error:
                        run.left_out.append(f"only the last point of {name} was read: {error}")
                        continue
                    run.metrics[name] = points
                    run.bad_records += bad
                    left -= len(points.step)
                    if cut:
                        run.left_out.append(f"only the first {len(points.step):,} points of {name} were read")
        return runs

    def _deadline(self) -> float:
        return time.monotonic() + self._total_s

    def _runs(self, experiments: Sequence[Experiment], deadline: float) -> list[MlflowRun]:
        names = {one.id: one.name for one in experiments}
        found: dict[str, MlflowRun] = {}
        chosen = list(names)
        for start in range(0, len(chosen), _MAX_EXPERIMENTS_AT_ONCE):
            question = {
                "experiment_ids": chosen[start : start + _MAX_EXPERIMENTS_AT_ONCE],
                "max_results": _PAGE,
                "run_view_type": "ACTIVE_ONLY",
                "order_by": ["attributes.start_time DESC"],
            }
            for item in self._pages("/runs/search", question, "runs", deadline):
                run = _run(item, names)
                if run is None:
                    continue
                if len(found) >= MAX_RUNS:
                    run.left_out.append(f"older runs than these {MAX_RUNS:,} were not read")
                    return list(found.values())
                found[run.id] = run
        return list(found.values())

    def _pages(self, path: str, question: Mapping[str, Any], key: str, deadline: float) -> Iterator[dict[str, Any]]:
        """Items of all pages. A token given twice ends it: the server would go round in circles."""
        token, seen = "", set[str]()
        while token not in seen:
            seen.add(token)
            asked = {**question, "page_token": token} if token else question
            answer = self._server.post(f"{_API}{path}", asked, deadline)
            yield from _items(answer, key)
            token = _text(answer, "next_page_token")
            if not token:
                return

    def _history(self, run: str, name: str, limit: int, deadline: float) -> tuple[Points, int, bool]:
        """Every point of a metric, how many were damaged, and whether there are more than `limit`."""
        points, bad, token, seen = Points(), 0, "", set[str]()
        while token not in seen:
            seen.add(token)
            question: dict[str, str | int] = {"run_id": run, "metric_key": name, "max_results": _HISTORY_PAGE}
            if token:
                question["page_token"] = token
            answer = self._server.get(f"{_API}/metrics/get-history", question, deadline)
            for item in _items(answer, "metrics"):
                if len(points.step) >= limit:
                    return points, bad, True
                bad += not _add(points, item)
            token = _text(answer, "next_page_token")
            if not token:
                break
        return points, bad, False


def _run(item: Mapping[str, Any], experiments: Mapping[str, str]) -> MlflowRun | None:
    info, data, inputs = (part if isinstance(part := item.get(key), dict) else {} for key in ("info", "data", "inputs"))
    identity, experiment = _text(info, "run_id") or _text(info, "run_uuid"), _text(info, "experiment_id")
    if not identity or _text(info, "lifecycle_stage") == "deleted" or experiment not in experiments:
        return None
    run = MlflowRun(
        identity,
        experiments[experiment],
        _text(info, "run_name"),
        _text(info, "status"),
        _text(info, "user_id"),
        _number(info.get("start_time")) or 0.0,
        _number(info.get("end_time")) or 0.0,
    )
    run.parameters = {_text(one, "key"): _text(one, "value") for one in _items(data, "params")[:MAX_TAGS]}
    run.tags = {_text(one, "key"): _text(one, "value") for one in _items(data, "tags")[:MAX_TAGS]}
    for one in _items(data, "metrics")[:MAX_TAGS]:
        points = run.metrics.setdefault(_text(one, "key"), Points())
        run.bad_records += not _add(points, one)
    for one in _items(inputs, "dataset_inputs"):
        dataset = one.get("dataset")
        if isinstance(dataset, dict):
            contexts = [
                _text(tag, "value") for tag in _items(one, "tags") if _text(tag, "key") == "mlflow.data.context"
            ]
            run.datasets.append(dataset_text(_text(dataset, "name"), _text(dataset, "digest"), "".join(contexts[:1])))
    return run


def _add(points: Points, item: Mapping[str, Any]) -> bool:
    """Adds one point; False when it is none. The server leaves out what is zero only in old versions."""
    value, step, timestamp = _number(item.get("value")), _number(item.get("step", 0)), _number(item.get("timestamp"))
    if value is None or step is None or not math.isfinite(step):
        return False
    try:
        points.add(int(item.get("step", 0)), math.nan if timestamp is None else timestamp, stored_value(value, False))
    except (OverflowError, ValueError):
        return False
    return True


def _items(answer: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = answer.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _text(answer: Mapping[str, Any], key: str) -> str:
    found = answer.get(key)
    return found[:MAX_TEXT] if isinstance(found, str) else ""


def _number(value: object) -> float | None:
    """Numbers come as such or, when they are large or not finite, as text ("NaN", "Infinity")."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, str))
        or (isinstance(value, str) and len(value) > 40)
    ):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
