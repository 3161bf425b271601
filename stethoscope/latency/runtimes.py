"""Which runtime runs a file here: its name, its version, and getting it started before anything is timed."""

from __future__ import annotations

import importlib
import importlib.metadata
import os

_OF_OTHER_FORMATS = {"onnx": ("ONNX Runtime", "onnxruntime"), "tflite": ("LiteRT", "ai_edge_litert.interpreter")}
_PACKAGES = {"ai_edge_litert.interpreter": "ai-edge-litert"}


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(format_id: str) -> str:
    """Imports the runtime of a format and lets it set itself up; returns what it is called: "ONNX Runtime 1.22.1".

    Only in a worker. A process pays for this once, whatever it runs then: no part of a model's loading.
    """
    title, module = _OF_OTHER_FORMATS.get(format_id, ("TensorFlow", "tensorflow"))
    loaded = importlib.import_module(module)
    if title != "TensorFlow":
        return f"{title} {importlib.metadata.version(_PACKAGES.get(module, module))}"
    loaded.add(loaded.constant(1.0), 1.0).numpy()
    return f"TensorFlow {loaded.__version__}"


def is_tensorflow(format_id: str) -> bool:
    """Whether TensorFlow runs this format."""
    return format_id not in _OF_OTHER_FORMATS


def device(format_id: str) -> str:
    """Where the runtime of a format computes in this process: "CPU" or "GPU"."""
    if not is_tensorflow(format_id):
        return "CPU"
    found = importlib.import_module("tensorflow").config.list_logical_devices("GPU")
    return "GPU" if found else "CPU"
