"""Peak memory of a run by live ranges: the tensors that are alive together, not the sum of all. Standard library only.

Source: register allocation by live ranges; TensorFlow frees a tensor when its last reader is done
(tensorflow/core/common_runtime/executor.cc) and lets operations write over an input that nobody else holds
(OpKernelContext::forward_input_or_allocate_output).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """One operation of an execution order."""

    name: str
    makes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Outputs that are an input under another name."""
    overwrites: tuple[str, ...] = ()
    """Inputs that an output may be written over, where nobody reads them later and they are large enough."""
    inside_bytes: int = 0
    """What it needs within itself while it runs."""
    lasts: int = 1
    """How many places of the order it takes: above 1, what follows begins before it is done."""


@dataclass(frozen=True)
class Profile:
    """Bytes alive while each step runs."""

    live_bytes: tuple[int, ...]
    inside_bytes: tuple[int, ...]
    """Of `live_bytes`, what the steps under way need within themselves."""
    at: int
    """The step at the peak; 0 where there are none."""
    ranges: Mapping[str, tuple[int, int]]
    """For each tensor that was really made, the first and the last step at which it is alive."""
    sizes: Mapping[str, int]
    instead_of: Mapping[str, str] = field(default_factory=dict)
    """Tensors that are written over another one: {tensor: the one it takes the place of}."""

    @property
    def peak_bytes(self) -> int:
        """The most that is alive at once."""
        return self.live_bytes[self.at] if self.live_bytes else 0

    @property
    def alive(self) -> tuple[str, ...]:
        """The tensors alive at the peak, largest first."""
        return self.alive_at(self.at)

    def alive_at(self, position: int) -> tuple[str, ...]:
        """The tensors alive while a step runs, largest first; those without a size are left out."""
        found = [name for name, (first, last) in self.ranges.items() if first <= position <= last]
        return tuple(
            sorted((n for n in found if self.sizes.get(n, 0)), key=lambda name: (-self.sizes.get(name, 0), name))
        )


def profile(
    steps: Sequence[Step],
    sizes: Mapping[str, int],
    *,
    throughout: Iterable[str] = (),
    to_the_end: Iterable[str] = (),
    until: Mapping[str, int] | None = None,
) -> Profile:
    """Goes through the steps in order and adds up what is alive.

    Args:
        steps: the operations, in the order in which they begin.
        sizes: bytes of each tensor; one that is missing has none.
        throughout: tensors that exist before the first step and stay to the end (what the caller feeds in).
        to_the_end: tensors that stay from when they are made to the end (what the caller gets).
        until: the last step, by position, at which something else than a reader still holds a tensor.
    """
    roots = _roots(steps)
    last = _released(steps, roots, until or {})
    for name in (*throughout, *to_the_end):
        last[roots.get(name, name)] = len(steps)
    alive = {roots.get(name, name): sizes.get(name, 0) for name in throughout}
    ranges = dict.fromkeys(alive, (0, len(steps)))
    instead_of: dict[str, str] = {}
    dying: dict[int, list[str]] = {}
    for name, place in last.items():
        dying.setdefault(place, []).append(name)
    inside_until: dict[int, int] = {}
    held, inside = sum(alive.values()), 0
    live: list[int] = []
    within: list[int] = []
    for position, step in enumerate(steps):
        for name in step.makes:
            if name in step.aliases or name in alive:
                continue
            size = sizes.get(name, 0)
            over = _overwritten(step, roots, last, position, alive, size)
            if over is not None:
                held -= alive.pop(over)
                ranges[over] = (ranges[over][0], position - 1)
                instead_of[name] = over
            alive[name] = size
            ranges[name] = (position, last[name])
            held += size
        end = position + max(1, step.lasts) - 1
        inside += step.inside_bytes
        inside_until[end] = inside_until.get(end, 0) + step.inside_bytes
        live.append(held + inside)
        within.append(inside)
        inside -= inside_until.pop(position, 0)
        held -= sum(alive.pop(name, 0) for name in dying.get(position, ()))
    at = max(range(len(live)), key=live.__getitem__, default=0)
    return Profile(tuple(live), tuple(within), at, ranges, sizes, instead_of)


def _roots(steps: Sequence[Step]) -> dict[str, str]:
    """For each tensor that is another under a new name, the one that was really made."""
    roots: dict[str, str] = {}
    for step in steps:
        for name, source in step.aliases.items():
            roots[name] = roots.get(source, source)
    return roots


def _released(steps: Sequence[Step], roots: Mapping[str, str], until: Mapping[str, int]) -> dict[str, int]:
    """The position of the last step at which each tensor is alive."""
    last: dict[str, int] = {}
    for position, step in enumerate(steps):
        end = position + max(1, step.lasts) - 1
        for name in (*step.makes, *step.reads):
            root = roots.get(name, name)
            last[root] = max(last.get(root, 0), end)
    for name, place in until.items():
        root = roots.get(name, name)
        last[root] = max(last.get(root, 0), place)
    return last


def _overwritten(
    step: Step, roots: Mapping[str, str], last: Mapping[str, int], position: int, alive: Mapping[str, int], size: int
) -> str | None:
    end = position + max(1, step.lasts) - 1
    fitting = [
        root
        for root in (roots.get(name, name) for name in step.overwrites)
        if root in alive and last.get(root, 0) <= end and alive[root] >= size
    ]
    return max(fitting, key=lambda name: alive[name], default=None)
