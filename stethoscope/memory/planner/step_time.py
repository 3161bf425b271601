"""How long one step takes on the devices asked for: a roofline for each layer, the exchange, and the optimizer's update.

It orders plans: what Python and the launching of kernels take, most of the time of a small model, is in none of them.

Source: Williams et al. 2009, “Roofline” (a layer takes the longer of its operations and of its memory traffic); the backward
pass counts twice the forward one; a ring all-reduce sends 2(d − 1)/d of the tensor in 2(d − 1) steps
(Patarasuk and Yuan 2009). Nothing
overlaps: MirroredStrategy packs all gradients into one exchange after the backward pass (`_pack_tensors`, num_packs=1,
tensorflow/python/distribute/cross_device_ops.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.architecture.layer_kinds import Kind, is_alias
from stethoscope.memory.planner.parallelism import Division, Workload
from stethoscope.memory.planner.presets import Device
from stethoscope.memory.planner.speeds import (
    HOP_S,
    MEMORY_USED_FRACTION,
    NETWORK_BYTES_PER_S,
    SPEEDS,
    STAND_IN,
    START_S,
    USED_FRACTION,
    Speed,
)
from stethoscope.memory.planner.states import Layout
from stethoscope.memory.planner.stored import forward_flops

DEVICES_PER_HOST = 8
"""More cards than this are taken to be in several machines."""
_BACKWARD = 2
"""Times the forward pass."""


@dataclass(frozen=True)
class StepTime:
    """Seconds of one step, on the device that takes longest."""

    computing_s: float
    """Forward, backward, what is computed again, and waiting for other stages."""
    exchange_s: float
    """Between devices."""
    update_s: float
    """The optimizer reads and writes every state."""

    @property
    def total_s(self) -> float:
        """All of it, one after the other."""
        return self.computing_s + self.exchange_s + self.update_s


def speed_of(device: Device) -> Speed:
    """The speed of a preset, or of the stand-in for a device given by its size."""
    return SPEEDS.get(device.id, SPEEDS[STAND_IN])


def step_time(
    work: Workload,
    layout: Layout,
    on: Division,
    device: Device,
    *,
    sent_bytes: int,
    recompute: float = 0.0,
    bubble: float = 0.0,
) -> StepTime:
    """Computes the time of one step.

    Args:
        work: the workload.
        layout: how the devices are divided.
        on: the workload over `layout.tensor` devices.
        device: one of them.
        sent_bytes: what one device sends in a step.
        recompute: what is computed again, as a fraction of the computing.
        bubble: waiting for other pipeline stages, likewise.
    """
    speed = speed_of(device)
    passes = 1 + _BACKWARD if work.training else 1
    rows = -(-work.batch_size // layout.data)
    computing = passes * _forward_s(work, on, speed, rows) / layout.pipeline
    exchange = sent_bytes / link_bytes_per_s(layout, device) + _waiting_s(work, layout, on, speed)
    update = _updated_bytes(work, layout, on) / (speed.memory_bytes_per_s * MEMORY_USED_FRACTION)
    return StepTime(computing * (1 + recompute + bubble), exchange, update)


def link_bytes_per_s(layout: Layout, device: Device) -> float:
    """What one device sends in a second: over the network where GPUs stand in several hosts."""
    own = speed_of(device).link_bytes_per_s
    return own if device.is_tpu or layout.devices <= DEVICES_PER_HOST else min(own, NETWORK_BYTES_PER_S)


def assumptions(work: Workload, device: Device) -> str:
    """What the times rest on, in one sentence with its units."""
    speed = speed_of(device)
    flops = sum(forward_flops(layer, work.by_path) for layer in work.shape.layers)
    passes = 1 + _BACKWARD if work.training else 1
    whose = device.title if device.id in SPEEDS else f"{STAND_IN} (a size alone says no speed)"
    return (
        f"Time per step is reckoned: {passes * flops * work.batch_size / 1e12:,.3g} TFLOP a step "
        f"({'forward and twice that backward' if work.training else 'forward'}) at {USED_FRACTION:.0%} of "
        f"{speed.flops(work.precision.id) / 1e12:,.4g} TFLOP/s, memory at {MEMORY_USED_FRACTION:.0%} of "
        f"{speed.memory_bytes_per_s / 1e9:,.4g} GB/s, exchange over {speed.link} at {speed.link_bytes_per_s / 1e9:,.4g} GB/s "
        f"one way; peaks of {whose} by its maker. What Python and launching kernels take is not counted. It orders plans; "
        "ordinary programs take longer."
    )


def _waiting_s(work: Workload, layout: Layout, on: Division, speed: Speed) -> float:
    """What collective operations take before a byte has arrived: one of the gradients, one for each layer that is split."""
    hop = HOP_S.get(speed.link, HOP_S["NVLink"])
    gradients = 1 if work.training and layout.data > 1 else 0
    passes = 2 if work.training else 1
    between = passes * sum(1 for elements in on.all_reduced if elements) if layout.tensor > 1 else 0
    return gradients * (START_S + 2 * (layout.data - 1) * hop) + between * (START_S + 2 * (layout.tensor - 1) * hop)


def _forward_s(work: Workload, on: Division, speed: Speed, rows: int) -> float:
    """The longer of computing and memory traffic, layer by layer."""
    flops_per_s = speed.flops(work.precision.id) * USED_FRACTION
    bytes_per_s = speed.memory_bytes_per_s * MEMORY_USED_FRACTION
    output = {layer.path: on.output(layer) for layer in work.shape.layers}
    total = 0.0
    for layer, parameters in zip(work.shape.layers, on.parameters, strict=True):
        if layer.kind is Kind.INPUT or is_alias(layer.kind):
            continue
        split = layer.path in on.split.how or layer.path in on.split.split_outputs
        flops = forward_flops(layer, work.by_path) * rows / (on.tensor if split else 1)
        read = sum(output.get(path, 0) for path in layer.inputs)
        moved = rows * (read + output[layer.path] + 2 * on.inside(layer))
        weights = 0 if layer.kind is Kind.EMBEDDING else parameters * work.precision.activation_bytes
        total += max(flops / flops_per_s, (moved + weights) / bytes_per_s)
    return total


def _updated_bytes(work: Workload, layout: Layout, on: Division) -> float:
    if work.optimizer is None:
        return 0.0
    precision = work.precision
    each = 2 * precision.weight_bytes + precision.gradient_bytes + 2 * work.optimizer.slots * precision.slot_bytes
    shared = (layout.data if layout.zero else 1) * layout.pipeline
    return sum(on.trainable) * each / shared
