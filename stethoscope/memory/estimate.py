"""Peak memory of a run before anything is run: weights, what is alive together, workspace, input, outputs, the runtime itself.

Arithmetic only; where the live ranges come from is the matter of `graph_estimate` (TensorFlow) and `layer_estimate` (other formats).

What the runtimes themselves add to a process that has imported them. Standard library only.

Measured in contained workers (TensorFlow 2.21, Keras 3.15, onnxruntime 1.31, two cores, the allocator of `memory.allocation`): what was
left of measured peaks after weights, input and live tensors, over dense, convolutional, recurrent and attention
networks of 6 to 1,126 weights and 10 to 2,000 operations that run; see docs/memory-accuracy.md. Loading is that of a .keras file: Keras
reads the whole file of weights into memory, then makes three copies of each weight (initial value, array, tensor).
"""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stethoscope.architecture.open_sizes import OpenSize, OpenSizes
from stethoscope.memory.liveness import Profile
from stethoscope.memory.pool_estimate import kept
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.model_format import Format

Part = Literal["weights", "live", "workspace", "outputs", "input", "pool", "runtime"]
ARRAY_COPIES = 2
"""How often the input lies outside the pool: as the caller's array, and as the tensor that TensorFlow makes of it."""
HAS_POOL = sys.platform == "linux" and platform.machine() in ("x86_64", "AMD64")
"""Whether TensorFlow has its pool on this machine's CPU: it comes with oneDNN, in the builds for x86 on Linux."""
AHEAD = 2
"""Batches that `model.predict` has ready before they are asked for. Source: keras array_data_adapter.py (`prefetch`)."""
SHOWN_TENSORS = 12
_NAMED = 4
MOMENTS = 400
"""Points of a timeline; a longer one is thinned, its peaks kept."""


@dataclass(frozen=True)
class Alive:
    """A tensor alive at the peak."""

    name: str
    layer: str
    shape: tuple[int, ...]
    dtype: str
    size_bytes: int


@dataclass(frozen=True)
class Moment:
    """What is alive while one operation runs."""

    operation: str
    layer: str
    live_bytes: int
    largest: tuple[tuple[str, int], ...] = ()
    """(layer or operation, bytes) of the largest tensors alive."""


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


@dataclass(frozen=True)
class Facts:
    """What an estimate is made of: one batch through one graph."""

    weights_bytes: int
    largest_weight_bytes: int
    input_bytes: int
    """Of one batch."""
    output_bytes: int
    """Of one batch."""
    weights: int
    kernels: int
    """Operations that run, constants and variables left out."""
    loops: int
    profile: Profile
    names: Sequence[str]
    """The operations in the order of the profile."""
    layers: Sequence[str]
    """The layer of each."""
    tensors: Mapping[str, Alive]
    notes: tuple[str, ...] = ()
    weight_sizes: tuple[int, ...] = ()
    """Bytes of each weight, in the order in which they are made; empty where TensorFlow does not make them."""
    input_sizes: tuple[int, ...] = ()
    """Bytes of each input, of one batch."""


@dataclass(frozen=True)
class Estimate:
    """Peak memory expected of a run, in bytes, by what it is for. The parts add up to `peak_bytes`."""

    batch_size: int
    call: str
    size: int | None
    """The largest size of an open dimension; None where there are none."""
    weights_bytes: int
    live_bytes: int
    """The tensors alive together at the peak of one call."""
    workspace_bytes: int
    """What the kernels running at the peak need within themselves."""
    outputs_bytes: int
    """Outputs of other batches, which are kept to the end, and of all batches while they are joined."""
    input_bytes: int
    """Every copy of the input."""
    runtime_bytes: int
    """The framework: what it keeps of weights, kernels and loops, and while loading further copies of the weights."""
    peak_bytes: int
    phase: str
    """"run", "collect" (copying the outputs, and joining those of all batches) or "load": where the peak is."""
    at: str
    """The operation that runs at the peak."""
    layer: str
    alive: tuple[Alive, ...]
    """The largest tensors alive there."""
    timeline: tuple[Moment, ...]
    notes: tuple[str, ...] = ()
    open_sizes: tuple[OpenSize, ...] = ()
    """Every open dimension, with who says its size."""
    pool_bytes: int = 0
    """What TensorFlow's pool keeps beyond the tensors alive at the peak; 0 with lean settings."""

    def parts(self) -> dict[Part, int]:
        """Bytes by what they are for."""
        return {
            "weights": self.weights_bytes,
            "live": self.live_bytes,
            "workspace": self.workspace_bytes,
            "outputs": self.outputs_bytes,
            "input": self.input_bytes,
            "pool": self.pool_bytes,
            "runtime": self.runtime_bytes,
        }


def estimate(
    facts: Facts, runtime: Runtime, *, batch_size: int, samples: int, call: str, sizes: OpenSizes | None = None
) -> Estimate:
    """Adds up one run.

    Args:
        facts: one batch.
        runtime: what runs it.
        batch_size: rows in a batch; those of `facts`.
        samples: rows in all.
        call: the call style; "predict" batches itself: it copies all input and prepares batches ahead.
        sizes: of the open dimensions.
    """
    batches = max(1, math.ceil(samples / max(1, batch_size)))
    phase, parts, pool = (_pooled if runtime.pooled else _lean)(facts, runtime, batches, call)
    profile = facts.profile
    return Estimate(
        batch_size,
        call,
        sizes.size if sizes else None,
        *parts,
        peak_bytes=sum(parts) + pool,
        phase=phase,
        at=facts.names[profile.at] if profile.live_bytes else "",
        layer=facts.layers[profile.at] if profile.live_bytes else "",
        alive=tuple(facts.tensors[name] for name in profile.alive if name in facts.tensors)[:SHOWN_TENSORS],
        timeline=timeline(facts),
        notes=facts.notes,
        open_sizes=sizes.dimensions if sizes else (),
        pool_bytes=pool,
    )


Parts = tuple[int, int, int, int, int, int]
"""Bytes: weights, live tensors, workspace, outputs, input, runtime."""


def _lean(facts: Facts, runtime: Runtime, batches: int, call: str) -> tuple[str, Parts, int]:
    weights = int(facts.weights_bytes * runtime.weight_copies)
    standing = runtime.fixed_bytes + facts.weights * runtime.weight_bytes
    needed = standing + facts.kernels * runtime.kernel_bytes + facts.loops * runtime.loop_bytes
    others = (batches - 1) * facts.output_bytes
    fed = int((batches - 1 + runtime.input_copies) * facts.input_bytes)
    if call == "predict":
        fed += (batches + min(batches - 1, AHEAD)) * facts.input_bytes
    inside = facts.profile.inside_bytes[facts.profile.at] if facts.profile.live_bytes else 0
    live = facts.profile.peak_bytes - inside
    of_all, of_largest = runtime.loading_copies
    copies = int(of_all * facts.weights_bytes + of_largest * facts.largest_weight_bytes)
    run = (weights, live, inside, others, fed, needed)
    joined = (weights, 0, 0, 2 * batches * facts.output_bytes, fed, needed)  # a tensor's `numpy()` is a copy, too
    loading = (weights, 0, 0, 0, 0, standing + copies)
    options: list[tuple[str, Parts]] = [("run", run), ("load", loading), ("collect", joined)]
    phase, parts = max(options, key=lambda item: sum(item[1]))
    return phase, parts, 0


def _pooled(facts: Facts, runtime: Runtime, batches: int, call: str) -> tuple[str, Parts, int]:
    """The same where TensorFlow's pool holds weights and tensors: what it has had at any time counts to the end."""
    standing = runtime.fixed_bytes + facts.weights * runtime.weight_bytes
    needed = standing + facts.kernels * runtime.kernel_bytes + facts.loops * runtime.loop_bytes
    whole = [batches * size for size in facts.input_sizes] if call == "predict" else []
    ahead = 1 + (min(batches - 1, AHEAD) if call == "predict" else 0)
    held = kept(
        facts.weight_sizes, (*whole, *(size for size in facts.input_sizes for _ in range(ahead))), facts.profile
    )
    loading = held.loading_bytes + standing
    arrays = ARRAY_COPIES * batches * facts.input_bytes
    # An output's array is the tensor itself; `model.predict` always joins what it has, others do where there are several.
    joined = batches if call == "predict" or batches > 1 else 0
    outputs = (batches - 1 + joined) * facts.output_bytes
    running = held.pool_bytes + held.small_bytes + needed + arrays + outputs
    weights = facts.weights_bytes
    if loading >= running:
        return "load", (weights, 0, 0, 0, 0, loading - weights), 0
    inside = facts.profile.inside_bytes[facts.profile.at] if facts.profile.live_bytes else 0
    live = facts.profile.peak_bytes - inside
    tensors = sum(whole) + ahead * facts.input_bytes
    pool = max(0, held.pool_bytes + held.small_bytes - weights - live - inside - tensors)
    parts = (weights, live, inside, outputs, arrays + tensors)
    return "run", (*parts, running - sum(parts) - pool), pool


def timeline(facts: Facts) -> tuple[Moment, ...]:
    """What is alive over the order of a run: of each stretch its highest moment."""
    live = facts.profile.live_bytes
    stretch = max(1, math.ceil(len(live) / MOMENTS))
    found = []
    for start in range(0, len(live), stretch):
        place = max(range(start, min(start + stretch, len(live))), key=lambda position: live[position])
        largest = [facts.tensors[name] for name in facts.profile.alive_at(place) if name in facts.tensors][:_NAMED]
        alive = tuple((tensor.layer or tensor.name, tensor.size_bytes) for tensor in largest)
        found.append(Moment(facts.names[place], facts.layers[place], live[place], alive))
    return tuple(found)


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


def runtime_of(format_: Format, settings: RunSettings) -> Runtime:
    """What runs a file of this format under these settings."""
    if format_.runtime == "onnxruntime":
        return ONNX
    if format_.runtime == "litert":
        return TFLITE
    needs = {"call": EAGER, "predict": PREDICT}.get(settings.call, FUNCTION)
    if settings.xla or settings.call == "compiled":
        needs = COMPILED
    return replace(needs, pooled=settings.allocator == "pool" and HAS_POOL)


@dataclass(frozen=True)
class Estimates:
    """The peak expected for each batch size."""

    estimates: tuple[Estimate, ...] = ()
    cannot: str = ""
    """Why there are none, or not for every size, in a sentence."""
