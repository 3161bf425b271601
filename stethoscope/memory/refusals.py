"""What TensorFlow, or this machine, will not do with some settings: said in our words before anything runs.

Source: tensorflow/python/eager/context.py and config.py of TensorFlow 2.21 (`set_memory_growth`,
`set_logical_device_configuration`), each refusal tried on a CPU; tensorflow.org/guide/gpu.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from stethoscope.devices import Gpu, Machine
from stethoscope.memory.container_recipes import wants_gpu
from stethoscope.memory.run_settings import RunSettings

Kind = Literal["refused", "not here", "note"]
"""TensorFlow says no anywhere; this machine cannot, another could; it runs, and something is worth knowing."""

RESERVED_BYTES = 512 << 20
"""A process keeps about this much of a card for CUDA's own state, outside any limit given to TensorFlow."""


@dataclass(frozen=True)
class Refusal:
    """One reason why settings cannot be used as they are."""

    setting: str
    """The setting to change, named as in `RunSettings`."""
    kind: Kind
    message: str
    nearest: RunSettings
    """The same settings with the least change that is accepted here; for a note, the settings themselves."""


def refusals(settings: RunSettings, machine: Machine, *, tensorflow: bool = True) -> tuple[Refusal, ...]:
    """Everything that speaks against running with these settings, what TensorFlow refuses anywhere first.

    Args:
        settings: how the model is to be run.
        machine: where.
        tensorflow: whether TensorFlow runs the file; ONNX and TFLite files have runtimes of their own.
    """
    found = [*_of_tensorflow(settings, machine)] if tensorflow else [*of_other_runtimes(settings)]
    found += _of_the_machine(settings, machine)
    order = {"refused": 0, "not here": 1, "note": 2}
    return tuple(sorted(found, key=lambda refusal: order[refusal.kind]))


def hindrances(settings: RunSettings, machine: Machine, *, tensorflow: bool = True) -> tuple[Refusal, ...]:
    """The refusals that keep these settings from being run here: all but notes."""
    return tuple(item for item in refusals(settings, machine, tensorflow=tensorflow) if item.kind != "note")


def nearest_valid(settings: RunSettings, machine: Machine, *, tensorflow: bool = True) -> RunSettings:
    """The settings with every hindrance removed by its own nearest change."""
    for _ in range(20):
        found = hindrances(settings, machine, tensorflow=tensorflow)
        if not found:
            return settings
        settings = found[0].nearest
    return RunSettings(batch_size=settings.batch_size)


def put_right(chosen: RunSettings, machine: Machine) -> RunSettings:
    """The settings without what TensorFlow refuses on any machine; what only this machine lacks stays."""
    for _ in range(20):
        device = "gpu" if wants_gpu(chosen) else chosen.device
        found = refusals(replace(chosen, device=device), machine)
        refused = next((refusal for refusal in found if refusal.kind == "refused"), None)
        if refused is None:
            return chosen
        nearest = refused.nearest
        chosen = replace(nearest, device=chosen.device) if nearest.device == device else nearest
    return chosen


def on_gpu(settings: RunSettings, machine: Machine) -> bool:
    """Whether these settings run on a card of this machine."""
    return settings.device == "gpu" or (settings.device == "auto" and bool(machine.gpus))


def _of_tensorflow(settings: RunSettings, machine: Machine) -> Iterator[Refusal]:
    yield from _growth_and_devices(settings)
    if settings.device == "cpu" or (settings.device == "auto" and not machine.gpus):
        yield from _on_the_cpu(settings)
    if settings.xla and settings.call == "call":
        yield Refusal(
            "xla",
            "refused",
            "model(x) runs one operation after another as Python reaches it; XLA compiles whole functions, so there is "
            'nothing for it to compile. Call style "compiled" is the same model as one XLA program.',
            replace(settings, call="compiled", xla=False),
        )
    if settings.xla or settings.call == "compiled":
        yield Refusal(
            "xla",
            "note",
            "XLA compiles a program for each shape: every new batch size or sequence length compiles again, and keeps "
            "the old programs. Operations whose output size depends on values (tf.where, tf.unique, boolean_mask) and "
            "operations on text cannot be compiled.",
            settings,
        )


def _growth_and_devices(settings: RunSettings) -> Iterator[Refusal]:
    limited = settings.gpu_memory_limit_bytes is not None
    if settings.memory_growth and (settings.logical_devices or limited):
        what = "logical devices" if settings.logical_devices else "a memory limit (which is one logical device)"
        yield Refusal(
            "memory_growth",
            "refused",
            f"Memory growth and {what} exclude each other on one card: a logical device is a block of fixed size, taken "
            "whole, and growth takes memory piece by piece. LogicalDeviceConfiguration has no argument allow_growth, "
            "whatever articles say, and its devices are called /GPU:0, /GPU:1: there is no /virtual_gpu:0. The limit "
            "alone keeps the process within its share.",
            replace(settings, memory_growth=False),
        )
    if limited and len(settings.logical_devices) > 0:
        yield Refusal(
            "gpu_memory_limit_bytes",
            "refused",
            "A limit for the card is one logical device of that size; together with a list of logical devices it would "
            "configure the card twice. Give the sizes in the list.",
            replace(settings, gpu_memory_limit_bytes=None),
        )


def _on_the_cpu(settings: RunSettings) -> Iterator[Refusal]:
    if settings.memory_growth:
        yield Refusal(
            "memory_growth",
            "refused",
            "Memory growth is for GPUs: on the CPU TensorFlow always takes memory as it needs it, and refuses the setting "
            "(“Cannot set memory growth on non-GPU and non-Pluggable devices”).",
            replace(settings, memory_growth=False),
        )
    if settings.gpu_memory_limit_bytes is not None:
        # What it was meant to do can be had on the CPU from the process limit.
        limit = min(settings.gpu_memory_limit_bytes, settings.memory_limit_bytes or settings.gpu_memory_limit_bytes)
        yield Refusal(
            "gpu_memory_limit_bytes",
            "refused",
            "TensorFlow cannot limit the memory of a CPU device (“Setting memory limit on CPU virtual devices is currently "
            "not supported”). The limit of the process does it: going over ends the run with a report.",
            replace(settings, gpu_memory_limit_bytes=None, memory_limit_bytes=limit),
        )
    if any(settings.logical_devices):
        yield Refusal(
            "logical_devices",
            "refused",
            "Logical CPU devices have no size: TensorFlow refuses a memory limit on them. Their number can be set; "
            "shares of memory need one process each, under its own limit.",
            replace(settings, logical_devices=(0,) * len(settings.logical_devices)),
        )
    if settings.precision in ("mixed_float16", "float16"):
        yield Refusal(
            "precision",
            "note",
            "CPUs compute float16 by way of float32: expect it to be slower than float32, and no smaller where results "
            "are converted. bfloat16 is faster on processors with AMX or AVX512-BF16.",
            settings,
        )


def of_other_runtimes(settings: RunSettings) -> Iterator[Refusal]:
    """What ONNX Runtime and LiteRT, which run ONNX and TFLite files, have no part in."""
    plain = RunSettings()
    names = ("call", "precision", "xla", "inter_threads", "memory_growth", "gpu_memory_limit_bytes", "logical_devices")
    for name in names:
        if getattr(settings, name) != getattr(plain, name):
            yield Refusal(
                name,
                "refused",
                f"{name} is a setting of TensorFlow; this file is run by a runtime of its own (ONNX Runtime or LiteRT), "
                "which has no such choice here.",
                replace(settings, **{name: getattr(plain, name)}),
            )
    if settings.device == "gpu":
        yield Refusal(
            "device",
            "refused",
            "ONNX and TFLite files are run on the CPU: the runtimes installed here are built for it.",
            replace(settings, device="cpu"),
        )


def _of_the_machine(settings: RunSettings, machine: Machine) -> Iterator[Refusal]:
    if settings.device == "gpu" and not machine.gpus:
        yield Refusal(
            "device",
            "not here",
            f"There is no GPU to run on. {machine.gpus_reason} The code for these settings is for a machine that has "
            "one: it was not run here.",
            replace(settings, device="cpu", gpu_index=0),
        )
    if on_gpu(settings, machine) and machine.gpus:
        yield from _of_the_card(settings, machine)
    if settings.memory_limit_bytes is not None and settings.memory_limit_bytes > machine.usable_bytes:
        yield Refusal(
            "memory_limit_bytes",
            "note",
            f"The limit is more than the {machine.usable_bytes:,} bytes this machine lets processes have: it protects "
            "nobody here.",
            settings,
        )
    threads = max(settings.intra_threads or 0, settings.inter_threads or 0)
    if threads > machine.cores:
        yield Refusal(
            "intra_threads" if threads == settings.intra_threads else "inter_threads",
            "note",
            f"{threads} threads on {machine.cores} processors take turns; more threads than processors rarely help, and "
            "each keeps memory of its own.",
            settings,
        )


def _of_the_card(settings: RunSettings, machine: Machine) -> Iterator[Refusal]:
    card = next((gpu for gpu in machine.gpus if gpu.index == settings.gpu_index), None)
    if card is None:
        yield Refusal(
            "gpu_index",
            "not here",
            f"There is no GPU {settings.gpu_index}: this machine has {', '.join(str(gpu.index) for gpu in machine.gpus)}.",
            replace(settings, gpu_index=machine.gpus[0].index),
        )
        return
    room = max(1, card.free_bytes - RESERVED_BYTES)
    if settings.gpu_memory_limit_bytes is not None and settings.gpu_memory_limit_bytes > room:
        yield Refusal(
            "gpu_memory_limit_bytes",
            "not here",
            _too_much(card, settings.gpu_memory_limit_bytes),
            replace(settings, gpu_memory_limit_bytes=room),
        )
    asked = sum(settings.logical_devices)
    if asked > room:
        yield Refusal(
            "logical_devices",
            "not here",
            _too_much(card, asked),
            replace(settings, logical_devices=tuple(size * room // asked for size in settings.logical_devices)),
        )
    if settings.logical_devices and not all(settings.logical_devices):
        yield Refusal(
            "logical_devices",
            "refused",
            "Several logical devices on a card need a size each: without one the first takes the whole card.",
            replace(settings, logical_devices=(room // len(settings.logical_devices),) * len(settings.logical_devices)),
        )


def _too_much(card: Gpu, asked_bytes: int) -> str:
    return (
        f"{card.name} has {card.free_bytes:,} of {card.total_bytes:,} bytes free, of which about {RESERVED_BYTES:,} are "
        f"for CUDA itself; {asked_bytes:,} were asked for."
    )
