"""How the devices are divided among the kinds of parallelism."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.planner.transformers import Recompute


@dataclass(frozen=True)
class Layout:
    """data × tensor × pipeline devices, each a degree of at least 1."""

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    zero: int = 0
    """ZeRO stage over the data-parallel devices: 0 … 3."""
    recompute: Recompute = "none"
    sequence_parallel: bool = False
    """Whether tensor-parallel devices also split the normalisations and dropouts between them by position."""

    @property
    def devices(self) -> int:
        """Devices in use."""
        return self.data * self.tensor * self.pipeline

    @property
    def family(self) -> str:
        """The kind of parallelism without recomputation: "single", "data", "zero2", "tensor+pipeline" …"""
        parts = ["tensor"] if self.tensor > 1 else []
        parts += ["pipeline"] if self.pipeline > 1 else []
        if self.data > 1:
            parts.append(f"zero{self.zero}" if self.zero else "data")
        return "+".join(parts) or "single"

    @property
    def kind(self) -> str:
        """The family, with "+recompute" or "+selective-recompute" where activations are computed again."""
        extra = {"none": "", "selective": "+selective-recompute", "full": "+recompute"}
        return self.family + extra[self.recompute]
