"""How fast an accelerator computes, reads its memory and sends to its neighbours: peaks from its maker's documents.

Source: NVIDIA data sheets of each card (dense figures, without sparsity; TF32 for float32 where the card has it, as
TensorFlow uses it by default, `tf.config.experimental.enable_tensor_float_32_execution`); AMD Instinct MI300X data sheet;
cloud.google.com/tpu/docs/v3, v4, v5e, v5p and v6e; of v2 Jouppi et al., “A Domain-Specific Supercomputer for Training Deep
Neural Networks”, CACM 2020. A TPU multiplies float32 in bfloat16 passes (cloud.google.com/tpu/docs/bfloat16): one peak for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

_TERA = 1e12
_GIGA = 1e9


@dataclass(frozen=True)
class Speed:
    """Peaks of one device: a card, a TPU core (v2, v3) or a TPU chip (v4 and later)."""

    float32_flops: float
    """Operations a second in matrix products of float32 tensors, as TensorFlow runs them."""
    half_flops: float
    """The same of 16-bit tensors."""
    memory_bytes_per_s: float
    link_bytes_per_s: float
    """What it can send to its neighbours in one host or TPU slice, in one direction."""
    link: str
    """What carries it."""
    bfloat16: bool = True
    """Whether `half_flops` holds for bfloat16 too; else it is computed at the pace of float32."""

    def flops(self, precision: str) -> float:
        """Operations a second under a precision of `states.PRECISIONS`."""
        if "bfloat16" in precision:
            return self.half_flops if self.bfloat16 else self.float32_flops
        return self.half_flops if "float16" in precision else self.float32_flops


def _gpu(float32: float, half: float, memory: float, link: float, carried_by: str = "NVLink") -> Speed:
    return Speed(float32 * _TERA, half * _TERA, memory * _GIGA, link * _GIGA, carried_by)


def _tpu(peak: float, memory: float, link: float) -> Speed:
    return Speed(peak * _TERA, peak * _TERA, memory * _GIGA, link * _GIGA, "the links between chips")


def _before_bfloat16(speed: Speed) -> Speed:
    return replace(speed, bfloat16=False)


_PCIE_3, _PCIE_4 = 15.75, 31.5
"""GB/s of 16 lanes in one direction: 8 and 16 GT/s, 128 bits in 130."""

SPEEDS: Mapping[str, Speed] = MappingProxyType(
    {
        "tpu-v2": _tpu(23, 300, 124),
        "tpu-v3": _tpu(61.5, 450, 166),
        "tpu-v4": _tpu(275, 1228, 268),
        "tpu-v5e": _tpu(197, 819, 200),
        "tpu-v5p": _tpu(459, 2765, 600),
        "tpu-v6e": _tpu(918, 1638, 400),
        "t4": _before_bfloat16(_gpu(8.1, 65, 320, _PCIE_3, "PCIe")),
        "p100": _before_bfloat16(_gpu(9.3, 18.7, 732, _PCIE_3, "PCIe")),
        "v100-16": _before_bfloat16(_gpu(15.7, 125, 900, 150)),
        "v100-32": _before_bfloat16(_gpu(15.7, 125, 900, 150)),
        "a10": _gpu(62.5, 125, 600, _PCIE_4, "PCIe"),
        "a10g": _gpu(35, 70, 600, _PCIE_4, "PCIe"),
        "l4": _gpu(60, 121, 300, _PCIE_4, "PCIe"),
        "l40s": _gpu(183, 362, 864, _PCIE_4, "PCIe"),
        "rtx-3090": _gpu(35.6, 71, 936, _PCIE_4, "PCIe"),
        "rtx-4090": _gpu(82.6, 165, 1008, _PCIE_4, "PCIe"),
        "a100-40": _gpu(156, 312, 1555, 300),
        "a100-80": _gpu(156, 312, 2039, 300),
        "h100-80": _gpu(494, 989, 3350, 450),
        "h200": _gpu(494, 989, 4800, 450),
        "b200": _gpu(1125, 2250, 8000, 900),
        "mi300x": _gpu(163.4, 1307, 5300, 448, "Infinity Fabric"),
    }
)
"""By the id of the preset. The all-reduce bandwidth of TPUs is a Pod's over its chips; two cores of v2 and v3 share one."""
STAND_IN = "a100-40"
"""Whose speed is taken for a device that is given by its size alone."""
NETWORK_BYTES_PER_S = 25 * _GIGA
"""Between hosts with GPUs: one adapter of 200 Gbit/s a card, as in NVIDIA's DGX A100."""
USED_FRACTION = 0.5
"""Of the peak. Source: 52 % of an A100's in Narayanan et al. 2021, arXiv 2104.04473, table 1; ordinary programs reach less."""
MEMORY_USED_FRACTION = 0.8
"""Of the memory's bandwidth: what copying within a card reaches."""
START_S = 6.6e-6
"""Before an all-reduce sends anything."""
HOP_S = {"NVLink": 0.6e-6, "PCIe": 1.0e-6}
"""Each of its 2(d − 1) steps, by what carries it. Source: NCCL's own model of its costs, `baseLatencies` and `hwLatencies` of
the ring with the protocol LL, src/graph/tuning.cc; links it does not know are taken as NVLink."""
