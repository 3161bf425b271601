"""How the devices are divided among the kinds of parallelism."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.architecture.transformers import Recompute


@dataclass(frozen=True)
class Layout:
    """data × tensor × pipeline devices, each a degree of at least 1."""

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    """Stages of layers one behind the other; more than 1 is arithmetic only."""
    zero: int = 0
    """ZeRO stage over the data-parallel devices, 0 … 3; more than 0 is arithmetic only."""
    recompute: Recompute = "none"
    """What is computed again in the backward pass instead of kept; anything is arithmetic only."""

    @property
    def available(self) -> bool:
        """Whether TensorFlow or Keras can do it."""
        return self.pipeline == 1 and not self.zero and self.recompute == "none"

    @property
    def devices(self) -> int:
        """Devices in use."""
        return self.data * self.tensor * self.pipeline

    @property
    def family(self) -> str:
        """The kind of parallelism without recomputation: "single", "data", "zero2", "tensor+data" …"""
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
