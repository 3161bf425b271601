"""Peak memory of a plain process before anything is run: loading and one call, played through TensorFlow's pool.

What the pool keeps depends on the order in which tensors come and go, so the weights are made and read as Keras does it,
and the tensors of the call follow in the order in which they would be made. Standard library only.

Source: the blocks that TensorFlow 2.21 asked of its pool while four models were loaded and called (its log at level 4 of
`bfc_allocator`): a weight that is drawn takes three blocks of its size, and reading it from the file one more before the
drawn one is given back; `model.predict` makes a tensor of all input and one of each batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stethoscope.memory.liveness import Profile
from stethoscope.memory.pool import SMALL_BYTES, Pool

_DRAWN = 3
"""Blocks that a weight takes while it is drawn; one of them stays."""
_READ_COPIES = 2
"""Copies of a weight outside the pool while it is read from the file."""


@dataclass(frozen=True)
class Kept:
    """What a process keeps, in bytes."""

    loading_bytes: int
    """The most while the weights are made and read, the file itself included."""
    pool_bytes: int
    """In the pool after the call: every page that was ever written."""
    small_bytes: int
    """Of weights and tensors too small for the pool."""


def kept(weights: Iterable[int], fed: Iterable[int], profile: Profile) -> Kept:
    """Plays loading and one call.

    Args:
        weights: bytes of each weight, in the order in which they are made.
        fed: bytes of each tensor that the input becomes; they stay until the call is over.
        profile: the tensors of the call.
    """
    pool, sizes = Pool(), list(weights)
    loading = _load(pool, sizes)
    for size in fed:
        if size >= SMALL_BYTES:
            pool.allocate(size)
    small = sum(size for size in sizes if size < SMALL_BYTES)
    return Kept(loading + small, *_called(pool, profile, small))


def _load(pool: Pool, sizes: list[int]) -> int:
    drawn: list[object | None] = []
    for size in sizes:
        blocks = [pool.allocate(size) for _ in range(_DRAWN)] if size >= SMALL_BYTES else []
        for block in reversed(blocks[:-1]):
            pool.free(block)
        drawn.append(blocks[-1] if blocks else None)
    most = pool.kept_bytes
    for size, block in zip(sizes, drawn, strict=True):
        if block is not None:
            pool.allocate(size)
            pool.free(block)
        most = max(most, pool.kept_bytes + _READ_COPIES * size)
    return most + sum(sizes)


def _called(pool: Pool, profile: Profile, small: int) -> tuple[int, int]:
    begins: dict[int, list[str]] = {}
    ends: dict[int, list[str]] = {}
    for name, (first, last) in profile.ranges.items():
        begins.setdefault(first, []).append(name)
        ends.setdefault(last, []).append(name)
    blocks: dict[str, object] = {}
    most_small = now_small = small
    taken = set(profile.instead_of.values())
    for position, inside in enumerate(profile.inside_bytes):
        for name in begins.get(position, ()):
            size, over = profile.sizes.get(name, 0), profile.instead_of.get(name)
            if over is not None:
                if over in blocks:
                    blocks[name] = blocks.pop(over)
            elif size >= SMALL_BYTES:
                blocks[name] = pool.allocate(size)
            else:
                now_small += size
                most_small = max(most_small, now_small)
        workspace = pool.allocate(inside) if inside >= SMALL_BYTES else None
        if workspace is not None:
            pool.free(workspace)
        for name in ends.get(position, ()):
            if name in blocks and name not in taken:
                pool.free(blocks.pop(name))
            elif name not in taken:
                now_small -= profile.sizes.get(name, 0)
    return pool.kept_bytes, most_small
