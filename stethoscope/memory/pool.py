"""TensorFlow's memory pool on the CPU, so that what a plain process keeps can be told from the order of its tensors.

The pool takes regions that double, cuts pieces out of the smallest free one that is large enough, and gives no region
back: a process keeps every page that was ever written. Standard library only.

Source: third_party/xla/xla/tsl/framework/bfc_allocator.cc (`AllocateRawInternal`, `Extend`, `FindChunkPtr`, `SplitChunk`, `Merge`),
tensorflow/core/common_runtime/mkl_cpu_allocator.h (TensorFlow 2.21): blocks below 256 KiB are not of it.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

SMALL_BYTES = 256 << 10
"""Smaller blocks come from the system's allocator."""
_ALIGNED_BYTES = 256
_FIRST_REGION_BYTES = 2 << 20
_BINS = 20
_MOST_UNUSED_BYTES = 128 << 20
"""A piece that leaves this much of its block unused is cut, however large it is."""


@dataclass(eq=False)
class _Chunk:
    region: int
    start: int
    size: int
    free: bool = True
    before: _Chunk | None = None
    after: _Chunk | None = None

    @property
    def place(self) -> tuple[int, int, int]:
        # Later regions lie at lower addresses.
        return self.size, -self.region, self.start


@dataclass
class Pool:
    """A pool that nothing was asked of yet."""

    region_bytes: list[int] = field(default_factory=list)
    """The sizes of its regions."""

    def __post_init__(self) -> None:
        self._next_bytes = _FIRST_REGION_BYTES
        self._bins: list[list[tuple[tuple[int, int, int], _Chunk]]] = [[] for _ in range(_BINS + 1)]
        self._written: list[list[tuple[int, int]]] = []

    def allocate(self, size_bytes: int) -> object:
        """A block; all of it is taken to be written. What is returned is for `free`."""
        size = -(-max(1, size_bytes) // _ALIGNED_BYTES) * _ALIGNED_BYTES
        chunk = self._found(size)
        if chunk is None:
            self._extend(size)
            chunk = self._found(size)
        assert chunk is not None
        chunk.free = False
        self._write(chunk.region, chunk.start, chunk.start + size_bytes)
        return chunk

    def free(self, block: object) -> None:
        """Gives a block back to the pool, joined with its free neighbours."""
        assert isinstance(block, _Chunk)
        block.free = True
        if block.after is not None and block.after.free:
            self._remove(block.after)
            self._join(block, block.after)
        if block.before is not None and block.before.free:
            earlier = block.before
            self._remove(earlier)
            self._join(earlier, block)
            block = earlier
        self._insert(block)

    @property
    def kept_bytes(self) -> int:
        """The pages that were written: what the process keeps."""
        return sum(end - start for region in self._written for start, end in region)

    def _found(self, size: int) -> _Chunk | None:
        for place in range(_bin(size), _BINS + 1):
            chunks = self._bins[place]
            number = bisect.bisect_left(chunks, size, key=lambda item: item[0][0])
            if number < len(chunks):
                chunk = chunks.pop(number)[1]
                if chunk.size >= 2 * size or chunk.size - size >= _MOST_UNUSED_BYTES:
                    self._split(chunk, size)
                return chunk
        return None

    def _split(self, chunk: _Chunk, size: int) -> None:
        rest = _Chunk(chunk.region, chunk.start + size, chunk.size - size, before=chunk, after=chunk.after)
        if chunk.after is not None:
            chunk.after.before = rest
        chunk.after, chunk.size = rest, size
        self._insert(rest)

    def _join(self, first: _Chunk, second: _Chunk) -> None:
        first.size += second.size
        first.after = second.after
        if second.after is not None:
            second.after.before = first

    def _insert(self, chunk: _Chunk) -> None:
        bisect.insort(self._bins[_bin(chunk.size)], (chunk.place, chunk), key=lambda item: item[0])

    def _remove(self, chunk: _Chunk) -> None:
        chunks = self._bins[_bin(chunk.size)]
        del chunks[bisect.bisect_left(chunks, chunk.place, key=lambda item: item[0])]

    def _extend(self, size: int) -> None:
        grown = False
        while size > self._next_bytes:
            self._next_bytes *= 2
            grown = True
        self.region_bytes.append(self._next_bytes)
        self._written.append([])
        self._insert(_Chunk(len(self.region_bytes) - 1, 0, self._next_bytes))
        if not grown:
            self._next_bytes *= 2

    def _write(self, region: int, start: int, end: int) -> None:
        kept: list[tuple[int, int]] = []
        for known_start, known_end in self._written[region]:
            if known_end < start or known_start > end:
                kept.append((known_start, known_end))
            else:
                start, end = min(start, known_start), max(end, known_end)
        bisect.insort(kept, (start, end))
        self._written[region] = kept


def _bin(size: int) -> int:
    return min(_BINS, max(0, (size // _ALIGNED_BYTES).bit_length() - 1))
