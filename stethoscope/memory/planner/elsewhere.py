"""What the ways of other frameworks would hold: ZeRO and pipelines, as arithmetic to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from stethoscope.memory.planner.cost import FLOPS_PER_LINK_BYTE, Cost, cost
from stethoscope.memory.planner.layout import Layout
from stethoscope.memory.planner.parallelism import BytesPerDevice, Division, Workload, estimate
from stethoscope.memory.planner.states import state_bytes

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
