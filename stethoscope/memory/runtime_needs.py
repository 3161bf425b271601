"""What the runtimes themselves add to a process that has imported them. Standard library only.

Measured in contained workers (TensorFlow 2.21, Keras 3.15, onnxruntime 1.31, two cores, the allocator of `memory.allocation`): what was
left of measured peaks after weights, input and live tensors, over dense, convolutional, recurrent and attention
networks of 6 to 1,126 weights and 10 to 2,000 operations that run; see docs/memory-accuracy.md. Loading is that of a .keras file: Keras
reads the whole file of weights into memory, then makes three copies of each weight (initial value, array, tensor).
"""

from __future__ import annotations

import functools
import os
import platform
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.model_format import Format

_ONEDNN_FLAGS = {"avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile", "amx_int8", "amx_bf16"}


def onednn_runs() -> bool:
    """Whether TensorFlow computes with oneDNN on this machine's CPU, and so has its pool of memory there.

    In the builds for x86 on Linux, where the processor has instructions for it; `TF_ENABLE_ONEDNN_OPTS` says otherwise.
    Source: tensorflow/core/util/util.cc, `IsMKLEnabled` and `DefaultOneDnnPolicy` (TensorFlow 2.21).
    """
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return False
    asked = os.environ.get("TF_ENABLE_ONEDNN_OPTS", "").lower()
    return asked in ("1", "true") or (asked not in ("0", "false") and not _ONEDNN_FLAGS.isdisjoint(_processor_flags()))


@functools.cache
def _processor_flags() -> frozenset[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())


@dataclass(frozen=True)
class Runtime:
    """What a runtime needs besides the model's tensors, in bytes; see `runtime_needs` for the numbers."""

    fixed_bytes: int
    """Whatever the model."""
    weight_bytes: int = 0
    """For each weight of the model, beside its values: its names, its handle, its layer."""
    kernel_bytes: int = 0
    """For each operation that runs: its node, its kernel, and what that kernel keeps."""
    loop_bytes: int = 0
    """For each loop: what its many small tensors leave behind between them."""
    weight_copies: float = 1.0
    """How often the weights lie in memory."""
    loading_copies: tuple[float, float] = (0.0, 0.0)
    """While loading, further copies of all weights, and of the largest one."""
    input_copies: float = 3.0
    """How often a batch of input lies in memory: as the caller's array, cut out of it, and as a tensor."""
    pooled: bool = False
    """Whether TensorFlow's pool holds the tensors, which gives nothing back."""
    notes: tuple[str, ...] = ()
    """What an estimate for it leaves out, in sentences."""


_MIB, _KIB = 1 << 20, 1 << 10

FUNCTION = Runtime(
    fixed_bytes=12 * _MIB,
    weight_bytes=80 * _KIB,
    kernel_bytes=54 * _KIB,
    loop_bytes=6 * _MIB,
    loading_copies=(1.0, 3.0),
)
"""A `tf.function`: session state, the graph and its optimised copy, the kernels."""
PREDICT = replace(FUNCTION, fixed_bytes=15 * _MIB)
"""`model.predict` has an input pipeline as well."""
EAGER = replace(FUNCTION, fixed_bytes=8 * _MIB, kernel_bytes=0, loop_bytes=2 * _MIB)
"""Operations run one at a time: no graph, and kernels shared by all operations of a kind."""
COMPILED = replace(FUNCTION, fixed_bytes=25 * _MIB, kernel_bytes=460 * _KIB, loop_bytes=0)
"""XLA: LLVM, its module while compiling, and the machine code. The roughest of these: compiling is no matter of live ranges."""
ONNX = Runtime(fixed_bytes=12 * _MIB, kernel_bytes=8 * _KIB, loading_copies=(1.0, 0.0))
"""onnxruntime without its arena."""
TFLITE = Runtime(fixed_bytes=4 * _MIB, kernel_bytes=4 * _KIB)
"""LiteRT maps the file; XNNPACK keeps the weights packed beside it."""
_EACH_THREAD_KEEPS = (
    "TensorFlow runs without oneDNN on this processor, and so without a memory pool of its own: the C library keeps for each "
    "thread what that thread freed. A process may take up to twice this; a sweep measures it."
)


def runtime_of(format_: Format, settings: RunSettings) -> Runtime:
    """What runs a file of this format under these settings."""
    if format_.runtime == "onnxruntime":
        return ONNX
    if format_.runtime == "litert":
        return TFLITE
    needs = {"call": EAGER, "predict": PREDICT}.get(settings.call, FUNCTION)
    if settings.xla or settings.call == "compiled":
        needs = COMPILED
    if settings.allocator == "pool" and not onednn_runs():
        return replace(needs, notes=(_EACH_THREAD_KEEPS,))
    return replace(needs, pooled=settings.allocator == "pool")
