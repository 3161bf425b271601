"""What this machine offers, tried rather than looked up: a job attempts what no job may do, and reports."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import secrets
import shutil
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stethoscope.codec import SCHEMA_VERSION, answer_of
from stethoscope.devices import Device, Machine, device_list, this_machine
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


@dataclass(frozen=True)
class Attempt:
    """Something a job tried, and how that went."""

    attempt: str
    how: str
    as_expected: bool


@dataclass(frozen=True)
class Layer:
    """One layer of containment."""

    active: bool
    what: str
    tried: tuple[Attempt, ...] = ()


@dataclass(frozen=True)
class Workspace:
    """Where files and answers are kept."""

    path: str
    writable: bool
    free_bytes: int


@dataclass(frozen=True)
class System:
    """What everything runs on."""

    platform: str
    python: str
    cores: int | None


@dataclass(frozen=True)
class Examination:
    """What this machine offers."""

    layers: Mapping[str, Layer]
    """Of containment, by name: L0 is the innermost."""
    packages: Mapping[str, str | None]
    """Versions; None for what is not installed."""
    devices: tuple[Device, ...]
    devices_reason: str
    """Why they are not known."""
    machine: Machine
    workspace: Workspace
    system: System
    schema_version: int = SCHEMA_VERSION


def examine() -> Examination:
    """Tries what a job may not do, and looks at the machine."""
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
    return Examination(
        layers=_layers(probe),
        packages={name: _version(name) for name in PACKAGES},
        devices=device_list(seen, machine),
        devices_reason=devices.reason,
        machine=machine,
        workspace=Workspace(str(workspace), os.access(workspace, os.W_OK), shutil.disk_usage(workspace).free),
        system=System(platform.platform(), platform.python_version(), os.cpu_count()),
    )


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


def _layers(probe: JobResult) -> dict[str, Layer]:
    if probe.status is not Status.OK:
        failed = Attempt("run a job", probe.reason, as_expected=False)
        return {"L0": Layer(active=False, what="the probing job itself failed", tried=(failed,))}
    probed = answer_of(probe, Probed)
    limits, own_folder = probed.limits, probed.attempts["write in its own folder"]
    l0 = (
        Attempt("write in its own folder", own_folder.how, not own_folder.stopped),
        Attempt("be in its own process group", str(limits.own_process_group), limits.own_process_group),
        Attempt("core dumps", f"{limits.core_bytes} bytes", limits.core_bytes == 0),
        Attempt("file size limit", f"{limits.file_size_bytes:,} bytes", limits.file_size_bytes > 0),
        Attempt("processor time limit", f"{limits.cpu_s:,} s", limits.cpu_s > 0),
    )
    l1 = tuple(Attempt(name, probed.attempts[name].how, probed.attempts[name].stopped) for name in _L1_ATTEMPTS)
    return {
        "L0": _tried("own process group, resource limits, own folder", l0),
        "L1": _tried("no capabilities, Landlock, seccomp: no foreign files, network, programs or processes", l1),
        "L2": Layer(active=False, what="bubblewrap namespaces: not part of this version"),
        "L3": Layer(active=False, what="cgroup or container limits: not part of this version"),
    }


def _tried(what: str, attempts: tuple[Attempt, ...]) -> Layer:
    return Layer(all(attempt.as_expected for attempt in attempts), what, attempts)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
