"""A plugin of pytest that writes down what each test took: wall time, and processor time of its process and of all below it."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

_FRAMEWORK = re.compile(r"^\s*(import|from) (tensorflow|keras|tf_keras)\b", re.MULTILINE)
_BELOW_S = 0.05
"""Tests that take less are not asked for the processes below theirs."""
_last_cpu_s = 0.0


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """How long it takes to find the tests."""
    start = time.monotonic()
    result = yield
    if "PYTEST_XDIST_WORKER" in os.environ:
        _write(
            {"id": "collection", "kind": "collection", "folder": "", "wall_s": time.monotonic() - start, "cpu_s": 0.0}
        )
    return result


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """How long one test takes, with what is set up and torn down around it."""
    global _last_cpu_s  # noqa: PLW0603 - one process, one test at a time
    before_s, start = _last_cpu_s or _cpu_s(), time.monotonic()
    result = yield
    wall_s = time.monotonic() - start
    _last_cpu_s = _cpu_s() if wall_s > _BELOW_S else before_s + wall_s
    place = Path(item.nodeid.split("::")[0])
    folder = place.parts[1] if len(place.parts) > 2 else place.name
    row = {
        "id": item.nodeid,
        "kind": kind_of(item),
        "folder": folder,
        "wall_s": wall_s,
        "cpu_s": _last_cpu_s - before_s,
    }
    _write(row)
    return result


def kind_of(item: pytest.Item) -> str:
    """What a test makes run: the most costly of it names it."""
    names = set(getattr(item, "fixturenames", ()))
    path = item.path
    if path.parent.name == "browser":
        return "browser"
    if "app" in names:
        return "AppTest"
    if "commands" in names or path.name.startswith("test_cli"):
        return "command"
    if {"engine", "live_engine"} & names:
        return "worker"
    return "in-process TensorFlow" if _FRAMEWORK.search(path.read_text("utf-8")) else "unit"


def _cpu_s() -> float:
    total = 0.0
    for process in (own := psutil.Process(), *own.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _write(row: dict[str, Any]) -> None:
    folder = os.environ.get("STETHOSCOPE_SUITE_CLOCK")
    if folder:
        with (Path(folder) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
