"""What this machine offers, tried rather than looked up: a job attempts what no job may do, and reports."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import secrets
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Any

from stethoscope.codec import SCHEMA_VERSION, answer_of
from stethoscope.devices import device_list, this_machine
from stethoscope.jobs.job_engine import Engine
from stethoscope.settings import settings
from stethoscope.tasks.devices import SeenDevices
from stethoscope.tasks.probe import Probed
from stethoscope.types import Budget, Job, JobResult, Status

PACKAGES = (
    "tensorflow",
    "keras",
    "tf-keras",
    "onnx",
    "onnxruntime",
    "tf2onnx",
    "ai-edge-litert",
    "streamlit",
    "netron",
    "plotly",
    "numpy",
)
_L1_ATTEMPTS = (
    "read a file outside the job",
    "write a file outside the job",
    "connect to the network",
    "start a program",
    "start a process",
    "signal its parent",
)


def examine() -> dict[str, Any]:
    """Returns the `doctor` shape of the command line."""
    with tempfile.TemporaryDirectory(prefix="stethoscope-doctor-") as name:
        folder = Path(name)
        engine = Engine(folder / "engine", {"light": 1, "tensorflow": 1}, 1 << 62, reuse=False)
        try:
            probe = _probe(engine, folder)
            devices = engine.wait(engine.submit(Job("devices", {}, {}, Budget(4 << 30, 120), "tensorflow")), 180)
        finally:
            engine.stop()
    seen = answer_of(devices, SeenDevices).devices if devices.status is Status.OK else ()
    machine = this_machine()
    workspace = settings().workspace
    workspace.mkdir(parents=True, exist_ok=True)
    return {
        "schema_version": SCHEMA_VERSION,
        "layers": _layers(probe),
        "packages": {name: _version(name) for name in PACKAGES},
        "devices": device_list(seen, machine),
        "devices_reason": devices.reason,
        "machine": machine.to_json(),
        "workspace": {
            "path": str(workspace),
            "writable": os.access(workspace, os.W_OK),
            "free_bytes": shutil.disk_usage(workspace).free,
        },
        "system": {"platform": platform.platform(), "python": platform.python_version(), "cores": os.cpu_count()},
    }


def _probe(engine: Engine, folder: Path) -> JobResult:
    secret, outside = folder / "secret.txt", folder / "written.txt"
    secret.write_text(secrets.token_hex(8))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        params = {
            "forbidden_read": str(secret),
            "forbidden_write": str(outside),
            "connect_port": listener.getsockname()[1],
        }
        return engine.wait(engine.submit(Job("probe", {}, params, Budget(1 << 30, 30))), 60)


def _layers(probe: JobResult) -> dict[str, Any]:
    if probe.status is not Status.OK:
        failed = {"attempt": "run a job", "how": probe.reason, "as_expected": False}
        return {"L0": {"active": False, "what": "the probing job itself failed", "tried": [failed]}}
    probed = answer_of(probe, Probed)
    limits, own_folder = probed.limits, probed.attempts["write in its own folder"]
    l0 = [
        _tried("write in its own folder", own_folder.how, not own_folder.stopped),
        _tried("be in its own process group", str(limits.own_process_group), limits.own_process_group),
        _tried("core dumps", f"{limits.core_bytes} bytes", limits.core_bytes == 0),
        _tried("file size limit", f"{limits.file_size_bytes:,} bytes", limits.file_size_bytes > 0),
        _tried("processor time limit", f"{limits.cpu_s:,} s", limits.cpu_s > 0),
    ]
    l1 = [_tried(name, probed.attempts[name].how, probed.attempts[name].stopped) for name in _L1_ATTEMPTS]
    return {
        "L0": {
            "active": all(attempt["as_expected"] for attempt in l0),
            "what": "own process group, resource limits, own folder",
            "tried": l0,
        },
        "L1": {
            "active": all(attempt["as_expected"] for attempt in l1),
            "what": "no capabilities, Landlock, seccomp: no foreign files, network, programs or processes",
            "tried": l1,
        },
        "L2": {"active": False, "what": "bubblewrap namespaces: not part of this version", "tried": []},
        "L3": {"active": False, "what": "cgroup or container limits: not part of this version", "tried": []},
    }


def _tried(attempt: str, how: str, as_expected: bool) -> dict[str, Any]:
    return {"attempt": attempt, "how": how, "as_expected": as_expected}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
