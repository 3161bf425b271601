"""What a layout costs beside the computing itself: communication, recomputation, idle and repeated work."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.architecture.transformers import Recompute
from stethoscope.memory.planner.parallelism import Estimate, Workload

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
