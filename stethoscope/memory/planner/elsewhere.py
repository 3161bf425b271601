"""What the ways of other frameworks would hold: ZeRO and pipelines, as arithmetic to compare with.

What a layout costs beside the computing itself: communication, recomputation, idle and repeated work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from stethoscope.architecture.model_shape import Recompute
from stethoscope.memory.planner.parallelism import BytesPerDevice, Division, Estimate, Workload, estimate
from stethoscope.memory.planner.states import Layout, state_bytes

NOT_AVAILABLE = "Not available in TensorFlow or Keras: arithmetic to compare with, a lower bound."
_BUCKET_ELEMENTS = 500_000_000
"""Gradients that are reduced at a time. Source: DeepSpeed, `reduce_bucket_size`."""
_MICRO_BATCHES_PER_STAGE = 4
"""With 4·p micro-batches a pipeline idles (p − 1)/(4·p) of the time (GPipe, arXiv 1811.06965)."""


@dataclass(frozen=True)
class Elsewhere:
    """One way that TensorFlow does not offer."""

    layout: Layout
    bytes: BytesPerDevice
    cost: Cost


def elsewhere(work: Workload, devices: int, on: Division) -> Iterator[Elsewhere]:
    """Yields ZeRO stages 1 to 3 over all devices and a pipeline of as many stages as there are layers with weights.

    Args:
        work: the workload.
        devices: how many there are.
        on: the workload on one device.
    """
    if devices == 1:
        return
    if work.training:
        for stage in (1, 2, 3):
            yield _zero(work, Layout(data=devices, zero=stage), on)
    stages = min(devices, sum(1 for count in on.parameters if count))
    if stages > 1:
        yield _pipeline(work, Layout(pipeline=stages), on)


def _zero(work: Workload, layout: Layout, on: Division) -> Elsewhere:
    """States are divided over the devices, the gradients are exchanged bucket by bucket.

    Source: ZeRO, arXiv 1910.02054, figure 1 and section 7 (2Ψ sent up to stage 2, 3Ψ in stage 3).
    """
    mirrored = estimate(work, replace(layout, zero=0), on)
    parameters, trainable = sum(on.parameters), sum(on.trainable)
    states = state_bytes(
        parameters, trainable, work.precision, work.optimizer, zero_stage=layout.zero, devices=layout.data
    )
    unpacked = max(0, trainable - _BUCKET_ELEMENTS) * work.precision.gradient_bytes
    size = BytesPerDevice(
        states.weights,
        states.gradients,
        states.optimizer,
        mirrored.bytes.activations,
        mirrored.bytes.buffers - unpacked,
    )
    price = cost(work, mirrored)
    weights, gradients = parameters * work.precision.weight_bytes, trainable * work.precision.gradient_bytes
    sent = (gradients + weights * (2 if layout.zero == 3 else 1)) * (layout.data - 1) // layout.data
    computing = max(1.0, 3 * on.flops[0] * -(-work.batch_size // layout.data))
    communication = sent * FLOPS_PER_LINK_BYTE / computing
    return Elsewhere(layout, size, replace(price, communication_bytes=sent, communication=communication))


def _pipeline(work: Workload, layout: Layout, on: Division) -> Elsewhere:
    """Every stage has its share of the layers, and the first keeps as many micro-batches as there are stages.

    Source: Narayanan et al. 2021, arXiv 2104.04473, sections 2.2 and 2.2.1: idle (p − 1)/m, at most p in flight.
    """
    stages = layout.pipeline
    micro = -(-work.batch_size // (stages * _MICRO_BATCHES_PER_STAGE))
    number = -(-work.batch_size // micro)
    whole = estimate(replace(work, batch_size=micro), Layout(), on).bytes
    held = min(stages, number) if work.training else 1
    size = BytesPerDevice(
        -(-whole.weights // stages),
        -(-whole.gradients // stages),
        -(-whole.optimizer // stages),
        -(-whole.activations * held // stages) if work.training else whole.activations,
        -(-whole.buffers // stages),
    )
    return Elsewhere(layout, size, Cost(0, 0.0, 0.0, (stages - 1) / number, 0.0))


FLOPS_PER_LINK_BYTE = 1000
"""Computing that takes as long as one byte between devices: an A100 at half its 312 Tflop/s over 300 GB/s of NVLink does
520, an H100 at half of 990 over 450 GB/s 1,100. Over PCIe or a network it is several times that."""


@dataclass(frozen=True)
class Cost:
    """Overhead as fractions of the time the bare computing takes on the devices in use; 0 is none."""

    communication_bytes: int
    """Sent by one device in one step."""
    communication: float
    recompute: float
    bubble: float
    """Pipeline stages waiting for work, in plans that are arithmetic only."""
    repeated: float
    """Layers that every tensor-parallel device computes in full, and replicas without samples."""

    @property
    def relative(self) -> float:
        """Device time over that of a single device that had the memory: 1 is the cheapest possible."""
        return 1 + self.communication + self.recompute + self.bubble + self.repeated

    def explained(self) -> str:
        """The parts that matter, in words."""
        parts = {
            "communication": self.communication,
            "recomputation": self.recompute,
            "pipeline idling": self.bubble,
            "repeated work": self.repeated,
        }
        shown = [f"{name} {100 * value:.1f} %" for name, value in parts.items() if value >= 0.0005]
        return ", ".join(shown) or "no overhead"


def cost(work: Workload, needs: Estimate) -> Cost:
    """Computes the overhead of one step.

    Communication: gradients 2Ψ(d − 1)/d for data parallelism; each tensor-parallel all-reduce 2(t − 1)/t of the tensor,
    once forward and once backward. Recomputation: one more forward pass, a third of forward and backward.

    Source: ZeRO, arXiv 1910.02054, section 7; Megatron-LM, arXiv 1909.08053, section 3.
    """
    layout = needs.layout
    local_batch = -(-work.batch_size // layout.data)
    flops, alone, core = needs.division.flops
    forward = max(1, flops)
    passes = 3 if work.training else 1
    computing = (flops - alone) / layout.tensor + alone
    sent = _data_bytes(work, needs) + _tensor_bytes(work, needs, local_batch)
    seconds = max(1.0, passes * computing * local_batch)
    return Cost(
        communication_bytes=int(sent),
        communication=sent * FLOPS_PER_LINK_BYTE / seconds,
        recompute=_recompute(layout.recompute, core / forward) if work.training else 0.0,
        bubble=0.0,
        repeated=computing * layout.tensor / forward * (local_batch * layout.data / work.batch_size) - 1
        if flops
        else 0.0,
    )


def _recompute(kind: Recompute, core_fraction: float) -> float:
    return {"none": 0.0, "selective": core_fraction / 3, "full": 1 / 3}[kind]


def _data_bytes(work: Workload, needs: Estimate) -> int:
    devices = needs.layout.data
    if devices == 1 or not work.training:
        return 0
    gradients = sum(needs.division.trainable) * work.precision.gradient_bytes
    return 2 * gradients * (devices - 1) // devices


def _tensor_bytes(work: Workload, needs: Estimate, local_batch: int) -> int:
    layout = needs.layout
    if layout.tensor == 1:
        return 0
    elements = sum(needs.division.all_reduced)
    passes = (2 + (layout.recompute == "full")) if work.training else 1
    exchanged = elements * work.precision.activation_bytes * local_batch
    return passes * exchanged * 2 * (layout.tensor - 1) // layout.tensor
