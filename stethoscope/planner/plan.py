"""Which ways of using the devices fit, cheapest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from stethoscope.errors import BadSetting
from stethoscope.planner.cost import Cost, cost
from stethoscope.planner.layout import Layout
from stethoscope.planner.model_shape import ModelShape, model_shape
from stethoscope.planner.parallelism import BytesPerDevice, Division, Estimate, Workload, estimate
from stethoscope.planner.presets import Device
from stethoscope.planner.states import Optimizer, Precision, optimizer, precision
from stethoscope.planner.transformers import Recompute
from stethoscope.types import Architecture

Zero = Literal["auto"] | int
_DEGREES = (*range(2, 17), 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)
_POWERS = (2, 4, 8, 16, 32, 64, 128)
_MOST_DEVICES = 65_536
_MOST_TENSOR = 64
"""Beyond a few dozen devices tensor parallelism is never used: every layer would wait for all of them."""


@dataclass(frozen=True)
class Plan:
    """One way of using the devices."""

    kind: str
    """"single", "data", "zero1" … "zero3", "tensor", "pipeline", joined by "+"; "+recompute" where it applies."""
    devices: int
    """In use."""
    fits: bool
    bytes_per_device: BytesPerDevice
    """Of the fullest device."""
    headroom_bytes: int
    """Left on it; negative when it does not fit."""
    cost: Cost
    layout: Layout
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Settings:
    """What is planned for."""

    device: Device
    devices: int = 1
    training: bool = True
    optimizer: str | Optimizer = "adam"
    precision: str | Precision = "float32"
    batch_size: int = 32
    """Samples in one step over all devices together."""
    zero: Zero = "auto"
    """"auto" tries stages 1 to 3 as well; a number only that stage."""
    recompute: bool = True
    """Whether plans that compute activations again may be proposed."""
    sequence_parallel: bool = False
    """Split normalisations and dropouts of tensor-parallel transformers by position, as Megatron does."""
    cached_tokens: int = 0
    """For text generation: positions per sample whose keys and values are kept."""


def plan(
    architecture: Architecture | ModelShape,
    settings: Settings,
    *,
    sequence_length: int | None = None,
    image_size: tuple[int, int] | None = None,
) -> tuple[Plan, ...]:
    """Returns one plan per kind of parallelism: those that fit, cheapest first, then those that do not, smallest first.

    Within a kind it is the cheapest that fits, else the one that needs least; recomputation is added only where the plan
    does not fit without. Bytes are those of the fullest device.

    Args:
        architecture: what `describe` gives, or what `model_shape` made of it.
        settings: devices, optimizer, precision, batch.
        sequence_length: for models that leave it open.
        image_size: (height, width), likewise.

    Raises:
        BadSetting: a setting that makes no sense.
    """
    shape = (
        architecture
        if isinstance(architecture, ModelShape)
        else model_shape(architecture, sequence_length=sequence_length, image_size=image_size)
    )
    work = workload(shape, settings)
    families: dict[str, list[tuple[Estimate, Cost]]] = {}
    divisions: dict[tuple[int, bool], Division] = {}
    for layout in _layouts(work, settings):
        if any(_fits(found, settings) for found, _ in families.get(layout.family, ()) if _same(found.layout, layout)):
            continue
        key = layout.tensor, layout.sequence_parallel
        if key not in divisions:
            divisions[key] = Division(work, *key)
        if layout.tensor > 1 and not divisions[key].split.how:
            continue
        found = estimate(work, layout, divisions[key])
        families.setdefault(layout.family, []).append((found, cost(work, found)))
    plans = [_chosen(work, settings, candidates) for candidates in families.values()]
    return tuple(sorted(plans, key=_order))


def workload(shape: ModelShape, settings: Settings) -> Workload:
    """The model with its precision, optimizer and batch.

    Raises:
        BadSetting: a setting that makes no sense.
    """
    if settings.batch_size < 1 or settings.batch_size > 1 << 30:
        raise BadSetting(f"Batch size {settings.batch_size}: expected 1 or more samples. Correct it.")
    if not 1 <= settings.devices <= _MOST_DEVICES:
        raise BadSetting(f"Devices {settings.devices}: expected 1 to {_MOST_DEVICES:,}. Correct it.")
    if settings.zero != "auto" and settings.zero not in (0, 1, 2, 3):
        raise BadSetting(f"ZeRO stage {settings.zero}: expected auto, 0, 1, 2 or 3. Correct it.")
    if settings.cached_tokens < 0:
        raise BadSetting(f"Cached tokens {settings.cached_tokens}: expected 0 or more. Correct it.")
    chosen = optimizer(settings.optimizer) if isinstance(settings.optimizer, str) else settings.optimizer
    numbers = precision(settings.precision) if isinstance(settings.precision, str) else settings.precision
    return Workload(shape, numbers, chosen if settings.training else None, settings.batch_size, settings.cached_tokens)


def _layouts(work: Workload, settings: Settings) -> Iterator[Layout]:
    for layout in _without_recompute(work, settings):
        yield layout
        if work.training and settings.recompute:
            kinds: tuple[Recompute, ...] = ("selective", "full") if work.shape.transformer else ("full",)
            for kind in kinds:
                yield Layout(layout.data, layout.tensor, layout.pipeline, layout.zero, kind, layout.sequence_parallel)


def _without_recompute(work: Workload, settings: Settings) -> Iterator[Layout]:
    count, stages = settings.devices, max(1, sum(1 for layer in work.shape.layers if layer.parameters))
    sequence = settings.sequence_parallel
    zeros = _zero_stages(work, settings)
    yield Layout()
    for zero in zeros:
        if count > 1:
            yield Layout(data=count, zero=zero)
    for degree in _DEGREES:
        if degree <= min(count, _MOST_TENSOR):
            yield Layout(tensor=degree, sequence_parallel=sequence)
        if degree <= min(count, stages):
            yield Layout(pipeline=degree)
    for tensor in (1, *_POWERS):
        for pipeline in (1, *_POWERS):
            if tensor * pipeline == 1 or tensor * pipeline > count or tensor > _MOST_TENSOR or pipeline > stages:
                continue
            on = sequence and tensor > 1
            if tensor > 1 and pipeline > 1:
                yield Layout(1, tensor, pipeline, 0, "none", on)
            data = count // (tensor * pipeline)
            for zero in zeros:
                if data > 1 and (pipeline == 1 or zero < 2):
                    yield Layout(data, tensor, pipeline, zero, "none", on)


def _zero_stages(work: Workload, settings: Settings) -> tuple[int, ...]:
    if not work.training:
        return (0,)
    return (0, 1, 2, 3) if settings.zero == "auto" else (int(settings.zero),)


def _same(a: Layout, b: Layout) -> bool:
    return (a.data, a.tensor, a.pipeline, a.zero) == (b.data, b.tensor, b.pipeline, b.zero)


def _fits(found: Estimate, settings: Settings) -> bool:
    return found.fullest.bytes.total <= settings.device.usable_bytes


def _chosen(work: Workload, settings: Settings, candidates: list[tuple[Estimate, Cost]]) -> Plan:
    fitting = [candidate for candidate in candidates if _fits(candidate[0], settings)]
    if fitting:
        found, price = min(fitting, key=lambda pair: (pair[1].relative, pair[0].layout.devices))
    else:
        found, price = min(candidates, key=lambda pair: (pair[0].fullest.bytes.total, pair[1].relative))
    size = found.fullest.bytes
    return Plan(
        kind=found.layout.kind,
        devices=found.layout.devices,
        fits=bool(fitting),
        bytes_per_device=size,
        headroom_bytes=settings.device.usable_bytes - size.total,
        cost=price,
        layout=found.layout,
        notes=tuple(_notes(work, settings, found)),
    )


def _order(plan: Plan) -> tuple[bool, float, int, str]:
    rank = round(plan.cost.relative, 6) if plan.fits else float(plan.bytes_per_device.total)
    return not plan.fits, rank, plan.devices, plan.kind


def _notes(work: Workload, settings: Settings, found: Estimate) -> Iterator[str]:
    layout = found.layout
    if layout.devices < settings.devices:
        yield f"Uses {layout.devices} of {settings.devices} devices."
    if layout.data > work.batch_size:
        yield f"A batch of {work.batch_size} leaves {layout.data - work.batch_size} of {layout.data} replicas without samples."
    elif layout.data > 1 and work.batch_size % layout.data:
        yield f"{work.batch_size} samples do not divide by {layout.data}: some replicas get one more."
    yield from found.division.split.notes
    if layout.pipeline > 1:
        micro = found.micro
        yield f"{len(found.stages)} stages, {micro.number} micro-batches of {micro.size}, at most {found.fullest.in_flight} in flight."
    if layout.recompute == "full":
        kept = len(found.division.segments.cuts)
        yield f"Activations are kept at {kept} places and computed again between them."
    if layout.recompute == "selective":
        yield "The attention scores are computed again in the backward pass."
    if work.training and work.precision.cast_bytes:
        yield "Mixed precision keeps float32 variables; the 16-bit copies of the kernels are among the buffers."
    if work.optimizer is not None and work.optimizer.note:
        yield work.optimizer.note
    if work.training and not work.shape.trainable:
        yield "A file of this format cannot be trained: this is for a Keras model of the same shape."
    if work.training and not work.shape.trainable_known:
        yield "The format does not say what is trained: all parameters are taken as trainable."
    yield from work.shape.assumptions


@dataclass(frozen=True)
class Together:
    """Several models on one device."""

    fits: bool
    shares_bytes: Mapping[str, int]
    """What to give each model: its need and its part of the headroom."""
    total_bytes: int
    left_bytes: int
    """Negative when they do not fit."""


def together(needs_bytes: Mapping[str, int], device: Device, headroom_fraction: float = 0.1) -> Together:
    """Shares a device between models, each with its need and `headroom_fraction` of it on top.

    Args:
        needs_bytes: what each model needs by name, for example `plan.bytes_per_device.total`.
        device: where they are to live.
        headroom_fraction: for fragmentation and for what no estimate sees, 0.1 is a tenth.

    Raises:
        BadSetting: no model, or a headroom below 0.
    """
    if not needs_bytes:
        raise BadSetting("Models together: expected at least one model, got none. Choose the models.")
    if not 0 <= headroom_fraction <= 10:
        raise BadSetting(f"Headroom {headroom_fraction:g}: expected a fraction from 0 to 10. Correct it.")
    shares = {name: need + int(need * headroom_fraction) for name, need in needs_bytes.items()}
    total = sum(shares.values())
    return Together(total <= device.usable_bytes, shares, total, device.usable_bytes - total)
