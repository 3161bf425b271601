"""Planned models, and several of them on one card: a program for each that takes its share and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stethoscope.architecture.model_shape import ModelShape
from stethoscope.architecture.xla_use import xla_use
from stethoscope.errors import BadSetting
from stethoscope.memory.planner.plan import Plan, Settings, Together, together
from stethoscope.memory.planner.strategy_code import StrategyCode, strategy_codes
from stethoscope.memory.refusals import RESERVED_BYTES
from stethoscope.memory.sharing import split
from stethoscope.memory.sharing_programs import SharingCode, sharing_codes
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

_CARD_MAKERS = ("NVIDIA", "AMD")


@dataclass(frozen=True)
class Planned:
    """A model and its plans."""

    name: str
    architecture: Architecture
    shape: ModelShape
    settings: Settings
    plans: tuple[Plan, ...]
    as_compiled: bool
    """Whether it is trained with the loss and optimizer that its file holds."""

    def programs(self, of: Plan, limit_bytes: int | None = None) -> tuple[StrategyCode, ...]:
        """The programs for a plan, the first to be preferred."""
        compiled = self.architecture.compile
        loss = compiled.loss if compiled is not None and isinstance(compiled.loss, str) else ""
        return strategy_codes(
            of,
            self.settings,
            self.shape,
            self.name,
            loss,
            as_compiled=self.as_compiled,
            tied_by_xla=xla_use(self.architecture).setting == "on",
            limit_bytes=limit_bytes,
        )


@dataclass(frozen=True)
class Program:
    """One model's own program on a shared card."""

    model: str
    limit_bytes: int
    title: str
    code: str
    note: str


@dataclass(frozen=True)
class Sharing:
    """Several models on one device."""

    together: Together
    programs: tuple[Program, ...]
    """One for each model: they are started beside each other."""
    ways: tuple[SharingCode, ...]
    """Programs that run all of them; for inference."""
    notes: tuple[str, ...]

    def to_json(self, kind: str) -> dict[str, Any]:
        """What `plan` answers of it; with a kind ("processes", "logical-devices"), "code" is that program.

        Raises:
            BadSetting: there is no program of that kind here.
        """
        answer: dict[str, Any] = {
            "together": asdict(self.together),
            "programs": [asdict(program) for program in self.programs],
            "sharing": [asdict(way) for way in self.ways],
            "sharing_notes": list(self.notes),
            "code": self.programs[0].code if self.programs else "",
        }
        if not kind:
            return answer
        known = {"logical-devices" if "logical device" in way.title else "processes": way for way in self.ways[:2]}
        if kind not in known:
            there = (
                f"Choose one of {', '.join(sorted(known))}."
                if known
                else "Plan for --inference, on a card that holds all."
            )
            raise BadSetting(f"--plan {kind!r}: several models on one card have no such program. {there}")
        return answer | {"chosen": kind, "code": known[kind].code}


def sharing(planned: Sequence[Planned], names: Sequence[str]) -> Sharing:
    """Divides one device between models.

    Args:
        planned: each with its plans for one device or more.
        names: what to call them, each once.
    """
    device = planned[0].settings.device
    alone = [next(item for item in one.plans if item.kind == "single") for one in planned]
    needs = {name: item.bytes_per_device.total for name, item in zip(names, alone, strict=True)}
    per_process = RESERVED_BYTES if device.maker in _CARD_MAKERS else 0
    fitted = together(needs, device, reserved_bytes=per_process)
    others = [name for name, one in zip(names, planned, strict=True) if not _on_tensorflow(one)]
    notes = tuple(_notes(device.is_tpu, per_process, others))
    if not fitted.fits or device.is_tpu:
        return Sharing(fitted, (), (), notes)
    divided = split(needs, device.usable_bytes, reserved_bytes=per_process * (len(names) - 1))
    programs = []
    for name, one, item in zip(names, planned, alone, strict=True):
        limit = divided.share_of(name).share_bytes
        if _on_tensorflow(one):
            code = one.programs(item, limit)[0]
            programs.append(Program(name, limit, code.title, code.code, code.note))
    ways: tuple[SharingCode, ...] = ()
    if not planned[0].settings.training and len({one.name for one in planned}) == len(planned):
        batches = {name: one.settings.batch_size for name, one in zip(names, planned, strict=True)}
        ways = sharing_codes(divided.shares, batches, {one.name: one.architecture for one in planned})
    return Sharing(fitted, tuple(programs), ways, notes)


def _notes(on_tpu: bool, per_process: int, others: Sequence[str]) -> list[str]:
    found = []
    if on_tpu:
        found.append(
            "A TPU has no limit for a program, and a core runs one at a time: give each model its own core, or take turns."
        )
    if per_process:
        found.append(
            f"Each process after the first keeps about {per_process >> 20} MiB of the card for CUDA itself, outside its limit: "
            "that is counted."
        )
    if others:
        found.append(f"TensorFlow does not run {', '.join(others)}: there is no program with a limit for it.")
    return found


def _on_tensorflow(one: Planned) -> bool:
    return format_of(one.architecture).runtime == "tensorflow"
