"""Which runtime runs a file here: its name, its version, and getting it started before anything is timed."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
from collections.abc import Mapping

from stethoscope.models.model_format import RuntimeName

_OTHERS: Mapping[RuntimeName, tuple[str, str, str]] = {
    "onnxruntime": ("ONNX Runtime", "onnxruntime", "onnxruntime"),
    "litert": ("LiteRT", "ai_edge_litert.interpreter", "ai-edge-litert"),
}
"""What people call it, its module, its package."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(runtime: RuntimeName) -> str:
    """Imports a runtime and lets it set itself up; returns what it is called: "ONNX Runtime 1.22.1".

    Only in a worker. A process pays for this once, whatever it runs then: no part of a model's loading.
    """
    if runtime in _OTHERS:
        title, module, package = _OTHERS[runtime]
        importlib.import_module(module)
        return f"{title} {importlib.metadata.version(package)}"
    loaded = importlib.import_module("tensorflow")
    loaded.add(loaded.constant(1.0), 1.0).numpy()
    return f"TensorFlow {loaded.__version__}"


def device(runtime: RuntimeName) -> str:
    """Where a runtime computes in this process: "CPU" or "GPU"."""
    if runtime in _OTHERS:
        return "CPU"
    found = importlib.import_module("tensorflow").config.list_logical_devices("GPU")
    return "GPU" if found else "CPU"
