"""Which ways of using the devices fit, fastest first.

What a model's file decides of a plan: the optimizer it was compiled with, the precision it was saved in.

The precision a model file was saved in.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from stethoscope.architecture.model_shape import ModelShape, Recompute, model_shape
from stethoscope.errors import BadSetting
from stethoscope.memory.planner.elsewhere import NOT_AVAILABLE, Cost, Elsewhere, cost, elsewhere
from stethoscope.memory.planner.margin import Verdict, margin, verdict
from stethoscope.memory.planner.parallelism import BytesPerDevice, Division, Estimate, Workload, estimate
from stethoscope.memory.planner.presets import Device
from stethoscope.memory.planner.remarks import milliseconds, notes_of
from stethoscope.memory.planner.states import (
    Layout,
    Optimizer,
    Precision,
    compiled_optimizer,
    optimizer,
    precision,
    precision_of,
)
from stethoscope.memory.planner.step_time import StepTime, step_time
from stethoscope.types import Architecture

_DEGREES = (*range(2, 17), 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)
_POWERS = (2, 4, 8, 16, 32, 64, 128)
_MOST_DEVICES = 65_536
_MOST_TENSOR = 64
"""Beyond a few dozen devices tensor parallelism is never used: every layer would wait for all of them."""


@dataclass(frozen=True)
class Plan:
    """One way of using the devices."""

    kind: str
    """"single", "data", "tensor", "tensor+data", with "+recompute" where it applies; "zero1" … "zero3", "pipeline"."""
    devices: int
    """In use."""
    fits: bool
    """Beyond the plan's own error; false too where it is too near to say."""
    verdict: Verdict
    margin_bytes: int
    """By how much more than planned it may need."""
    available: bool
    """Whether TensorFlow or Keras can run it; the bytes of other frameworks' ways are arithmetic to compare with."""
    bytes_per_device: BytesPerDevice
    """Of the fullest device."""
    headroom_bytes: int
    """Left on it if the plan is right; negative when there is too little."""
    cost: Cost
    time: StepTime
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
    recompute: bool = True
    """Whether what computing activations again would need is shown."""
    cached_tokens: int = 0
    """For text generation: positions per sample whose keys and values are kept."""


def plan(
    architecture: Architecture | ModelShape,
    settings: Settings,
    *,
    sequence_length: int | None = None,
    image_size: tuple[int, int] | None = None,
) -> tuple[Plan, ...]:
    """Returns one plan per kind of parallelism: first what TensorFlow or Keras can run, and of that what fits.

    Of the plans that fit, those that use all devices asked for come first, each group by its time per step; those that do
    not fit are sorted by what they need. What TensorFlow or Keras cannot run comes last.

    Within a kind it is the fastest that fits, else the one that needs least; recomputation is a line of its own where the
    kind fits with it only. Bytes are those of the fullest device.

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
    families: dict[tuple[str, bool], list[_Candidate]] = {}
    divisions = {1: Division(work, 1)}
    for layout in _layouts(work, settings):
        known = families.setdefault((layout.family, not layout.available), [])
        whole = families.get((layout.family, False), []) + known
        if any(_fits(it.needs, settings) for it in whole if _same(it.needs.layout, layout)):
            continue
        if layout.tensor not in divisions:
            divisions[layout.tensor] = Division(work, layout.tensor)
        if layout.tensor > 1 and not divisions[layout.tensor].split.how:
            continue
        known.append(_candidate(work, settings, estimate(work, layout, divisions[layout.tensor])))
    plans = [_chosen(work, settings, candidates) for candidates in families.values() if candidates]
    wanting = {item.layout.family for item in plans if item.available and not item.fits}
    plans = [item for item in plans if item.available or (item.fits and item.layout.family in wanting)]
    plans += [_arithmetic(work, settings, row, divisions[1]) for row in elsewhere(work, settings.devices, divisions[1])]
    return _with_the_fastest_named(sorted(plans, key=lambda item: _order(item, settings.devices)))


def workload(shape: ModelShape, settings: Settings) -> Workload:
    """The model with its precision, optimizer and batch.

    Raises:
        BadSetting: a setting that makes no sense.
    """
    if settings.batch_size < 1 or settings.batch_size > 1 << 30:
        raise BadSetting(f"Batch size {settings.batch_size}: expected 1 or more samples. Correct it.")
    if not 1 <= settings.devices <= _MOST_DEVICES:
        raise BadSetting(f"Devices {settings.devices}: expected 1 to {_MOST_DEVICES:,}. Correct it.")
    if settings.cached_tokens < 0:
        raise BadSetting(f"Cached tokens {settings.cached_tokens}: expected 0 or more. Correct it.")
    chosen = optimizer(settings.optimizer) if isinstance(settings.optimizer, str) else settings.optimizer
    numbers = precision(settings.precision) if isinstance(settings.precision, str) else settings.precision
    return Workload(
        shape,
        numbers,
        chosen if settings.training else None,
        settings.batch_size,
        settings.cached_tokens,
        settings.device.is_tpu,
    )


def _layouts(work: Workload, settings: Settings) -> Iterator[Layout]:
    kinds: tuple[Recompute, ...] = ("none",)
    if work.training and settings.recompute:
        kinds = ("none", "selective", "full") if work.shape.transformer else ("none", "full")
    count = settings.devices
    degrees = [(1, 1)] + ([(count, 1)] if count > 1 else [])
    degrees += [(1, tensor) for tensor in _DEGREES if tensor <= min(count, _MOST_TENSOR)]
    degrees += [(count // tensor, tensor) for tensor in _POWERS if count // tensor > 1 and tensor <= _MOST_TENSOR]
    for data, tensor in degrees:
        for kind in kinds:
            yield Layout(data, tensor, recompute=kind)


def _same(a: Layout, b: Layout) -> bool:
    return (a.data, a.tensor) == (b.data, b.tensor)


def _fits(needs: Estimate, settings: Settings) -> bool:
    return verdict(needs.bytes, settings.device.usable_bytes) == "fits"


@dataclass(frozen=True)
class _Candidate:
    needs: Estimate
    cost: Cost
    time: StepTime


def _candidate(work: Workload, settings: Settings, needs: Estimate) -> _Candidate:
    price = cost(work, needs)
    time = step_time(
        work,
        needs.layout,
        needs.division,
        settings.device,
        sent_bytes=price.communication_bytes,
        recompute=price.recompute,
    )
    return _Candidate(needs, price, time)


def _chosen(work: Workload, settings: Settings, candidates: list[_Candidate]) -> Plan:
    fitting = [candidate for candidate in candidates if _fits(candidate.needs, settings)]
    if fitting:
        best = min(fitting, key=lambda it: (it.time.total_s, it.needs.layout.devices))
    else:
        best = min(candidates, key=lambda it: (it.needs.bytes.total, it.time.total_s))
    notes = [*notes_of(work, settings.devices, best.needs)]
    if not fitting:
        notes.insert(0, _smaller_batch(work, settings, best.needs))
    return _plan(settings, best.needs.layout, best.needs.bytes, best.cost, best.time, notes)


def _smaller_batch(work: Workload, settings: Settings, needs: Estimate) -> str:
    """The largest batch that this layout has room for."""

    def has_room(batch: int) -> bool:
        return _fits(estimate(replace(work, batch_size=batch), needs.layout, needs.division), settings)

    replicas = needs.layout.data
    # `key` turns the question round: bisect looks for the first batch that has no room.
    most = bisect.bisect_left(
        range(1, work.batch_size // replicas + 1), True, key=lambda each: not has_room(each * replicas)
    )
    if not most:
        return "No batch fits on this device: it takes a larger one, or a model that is divided."
    return f"It fits with a batch of {most * replicas:,}" + (f", {most:,} on each replica." if replicas > 1 else ".")


def _arithmetic(work: Workload, settings: Settings, row: Elsewhere, on: Division) -> Plan:
    time = step_time(
        work, row.layout, on, settings.device, sent_bytes=row.cost.communication_bytes, bubble=row.cost.bubble
    )
    return _plan(settings, row.layout, row.bytes, row.cost, time, [NOT_AVAILABLE])


def _plan(
    settings: Settings, layout: Layout, size: BytesPerDevice, price: Cost, time: StepTime, notes: Iterable[str]
) -> Plan:
    usable = settings.device.usable_bytes
    said = verdict(size, usable)
    return Plan(
        layout.kind,
        layout.devices,
        said == "fits",
        said,
        margin(size).short_bytes,
        layout.available,
        size,
        usable - size.total,
        price,
        time,
        layout,
        tuple(notes),
    )


_VERDICTS: tuple[Verdict, ...] = ("fits", "too_near", "does_not_fit")


def _order(plan: Plan, asked: int) -> tuple[bool, int, bool, float, int, str]:
    rank = plan.time.total_s if plan.fits else float(plan.bytes_per_device.total)
    idle = plan.fits and plan.devices < asked
    return not plan.available, _VERDICTS.index(plan.verdict), idle, rank, plan.devices, plan.kind


def _with_the_fastest_named(plans: list[Plan]) -> tuple[Plan, ...]:
    """Says in the notes of the first plan that fewer devices would be faster, where they would."""
    first = plans[0]
    fewer = [it for it in plans if it.available and it.fits and it.devices < first.devices]
    faster = min(fewer, key=lambda it: it.time.total_s, default=first)
    if first.fits and faster.time.total_s < first.time.total_s:
        note = (
            f"Slower than {faster.devices} of them ({milliseconds(faster.time.total_s)} a step against "
            f"{milliseconds(first.time.total_s)}): exchanging takes {milliseconds(first.time.exchange_s)}. A larger batch "
            "gives each device more to compute between two exchanges."
        )
        plans[0] = replace(first, notes=(note, *first.notes))
    return tuple(plans)


@dataclass(frozen=True)
class Together:
    """Several models on one device."""

    fits: bool
    shares_bytes: Mapping[str, int]
    """What to give each model: its need and its part of the headroom."""
    total_bytes: int
    left_bytes: int
    """Negative when they do not fit."""


def together(
    needs_bytes: Mapping[str, int], device: Device, headroom_fraction: float = 0.1, reserved_bytes: int = 0
) -> Together:
    """Shares a device between models, each with its need and `headroom_fraction` of it on top.

    Args:
        needs_bytes: what each model needs by name, for example `plan.bytes_per_device.total`.
        device: where they are to live.
        headroom_fraction: for fragmentation and for what no estimate sees, 0.1 is a tenth.
        reserved_bytes: what each process after the first keeps of the device for itself, outside its share.

    Raises:
        BadSetting: no model, or a headroom below 0.
    """
    if not needs_bytes:
        raise BadSetting("Models together: expected at least one model, got none. Choose the models.")
    if not 0 <= headroom_fraction <= 10:
        raise BadSetting(f"Headroom {headroom_fraction:g}: expected a fraction from 0 to 10. Correct it.")
    shares = {name: need + int(need * headroom_fraction) for name, need in needs_bytes.items()}
    total = sum(shares.values()) + reserved_bytes * (len(shares) - 1)
    return Together(total <= device.usable_bytes, shares, total, device.usable_bytes - total)


def for_model(architecture: Architecture, asked: Settings) -> Settings:
    """Replaces "auto" by what the file says: the optimizer it was compiled with, the precision it was saved in."""
    optimizer: str | Optimizer = asked.optimizer
    if optimizer == "auto":
        compiled = architecture.compile
        serialised = compiled.details.get("optimizer") if compiled is not None else None
        config = serialised.get("config") if isinstance(serialised, Mapping) else None
        name = compiled.optimizer if compiled is not None and compiled.optimizer else "adam"
        optimizer = compiled_optimizer(name, config if isinstance(config, Mapping) else {}) or "adam"
    precision = precision_of(architecture) if asked.precision == "auto" else asked.precision
    return replace(asked, optimizer=optimizer, precision=precision)
