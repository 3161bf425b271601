"""Peak memory of a run before anything is run: weights, what is alive together, workspace, input, outputs, the runtime itself.

Arithmetic only; where the live ranges come from is the matter of `graph_estimate` (TensorFlow) and `layer_estimate` (other formats).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stethoscope.architecture.open_sizes import OpenSize, OpenSizes
from stethoscope.memory.liveness import Profile
from stethoscope.memory.pool_estimate import kept
from stethoscope.memory.runtime_needs import Runtime

Part = Literal["weights", "live", "workspace", "outputs", "input", "pool", "runtime"]
ARRAY_COPIES = 2
"""How often the input lies outside the pool: as the caller's array, and as the tensor that TensorFlow makes of it."""
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
    loading_peak_bytes: int = 0
    """While the model is loaded."""
    call_peak_bytes: int = 0
    """While it is called; the peak is the larger of both."""
    lean_peak_bytes: int | None = None
    """With the settings that make memory follow the tensors (`run_settings.VARIABLES`); None where this is that."""
    batch_output_bytes: int = 0
    """Of one batch of outputs."""

    @property
    def slim(self) -> Estimate:
        """Without what only a picture needs."""
        return replace(self, timeline=(), alive=self.alive[:1])

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
    peak = (_pooled if runtime.pooled else _lean)(facts, runtime, batches, call)
    profile = facts.profile
    return Estimate(
        batch_size,
        call,
        sizes.size if sizes else None,
        *peak.parts,
        peak_bytes=max(peak.loading_bytes, peak.call_bytes),
        phase=peak.phase,
        at=facts.names[profile.at] if profile.live_bytes else "",
        layer=facts.layers[profile.at] if profile.live_bytes else "",
        alive=tuple(facts.tensors[name] for name in profile.alive if name in facts.tensors)[:SHOWN_TENSORS],
        timeline=timeline(facts),
        notes=(*facts.notes, *runtime.notes),
        open_sizes=sizes.dimensions if sizes else (),
        pool_bytes=peak.pool_bytes,
        loading_peak_bytes=peak.loading_bytes,
        call_peak_bytes=peak.call_bytes,
        lean_peak_bytes=_lean(facts, runtime, batches, call).bytes if runtime.pooled else None,
        batch_output_bytes=facts.output_bytes,
    )


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


@dataclass(frozen=True)
class _Peak:
    phase: str
    parts: tuple[int, int, int, int, int, int]
    """Bytes of weights, live tensors, workspace, outputs, input, runtime."""
    loading_bytes: int
    call_bytes: int
    pool_bytes: int = 0

    @property
    def bytes(self) -> int:
        return max(self.loading_bytes, self.call_bytes)


def _needed(facts: Facts, runtime: Runtime) -> tuple[int, int]:
    """What the framework keeps, in bytes: of a model that is loaded, and of one that was called."""
    standing = runtime.fixed_bytes + facts.weights * runtime.weight_bytes
    return standing, standing + facts.kernels * runtime.kernel_bytes + facts.loops * runtime.loop_bytes


def _lean(facts: Facts, runtime: Runtime, batches: int, call: str) -> _Peak:
    weights = int(facts.weights_bytes * runtime.weight_copies)
    standing, needed = _needed(facts, runtime)
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
    options = [("run", run), ("load", loading), ("collect", joined)]
    phase, parts = max(options, key=lambda item: sum(item[1]))
    return _Peak(phase, parts, sum(loading), max(sum(run), sum(joined)))


def _pooled(facts: Facts, runtime: Runtime, batches: int, call: str) -> _Peak:
    """The same where TensorFlow's pool holds weights and tensors: what it has had at any time counts to the end."""
    standing, needed = _needed(facts, runtime)
    whole = [batches * size for size in facts.input_sizes] if call == "predict" else []
    ahead = 1 + (min(batches - 1, AHEAD) if call == "predict" else 0)
    fed = (*whole, *(size for size in facts.input_sizes for _ in range(ahead)))
    held = kept(facts.weight_sizes, fed, facts.profile)
    # An output's array is the tensor itself; `model.predict` always joins what it has, others do where there are several.
    joined = batches if call == "predict" or batches > 1 else 0
    outputs = (batches - 1 + joined) * facts.output_bytes
    arrays = ARRAY_COPIES * batches * facts.input_bytes
    loading = held.loading_bytes + standing
    running = held.pool_bytes + held.small_bytes + needed + arrays + outputs
    weights = facts.weights_bytes
    if loading >= running:
        return _Peak("load", (weights, 0, 0, 0, 0, loading - weights), loading, running)
    inside = facts.profile.inside_bytes[facts.profile.at] if facts.profile.live_bytes else 0
    live = facts.profile.peak_bytes - inside
    tensors = sum(fed)
    pool = max(0, held.pool_bytes + held.small_bytes - weights - live - inside - tensors)
    told = (weights, live, inside, outputs, arrays + tensors)
    return _Peak("run", (*told, running - sum(told) - pool), loading, running, pool)


@dataclass(frozen=True)
class Estimates:
    """The peak expected for each batch size."""

    estimates: tuple[Estimate, ...] = ()
    cannot: str = ""
    """Why there are none, or not for every size, in a sentence."""
