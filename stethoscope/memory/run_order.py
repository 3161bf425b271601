"""The order in which TensorFlow's executor runs a graph: first ready, first run, on several threads at once.

Source: tensorflow/core/common_runtime/executor.cc (`ScheduleReady`): what becomes ready is appended to the thread's own
queue; of several expensive operations one stays and the others go to the pool. Standard library only.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence

from stethoscope.memory.op_buffers import FREE, RENAMED, Operation

Cost = Callable[[Operation], float]
CHEAP_COST = 1 << 16
"""Below, an operation is run at once by the thread that made it ready (in bytes moved: about 8,000 cycles)."""


def executed(operations: Sequence[Operation], cost: Cost, threads: int = 1) -> list[tuple[Operation, int]]:
    """Operations in the order in which they begin, each with how many of the places of that order it lasts.

    Args:
        operations: a graph without circles; what nothing provides is taken to be there.
        cost: how long an operation takes, in any unit.
        threads: operations that may run at the same time.
    """
    known = {operation.name for operation in operations}
    maker = {value.name: operation.name for operation in operations for value in operation.outputs}
    waiting: dict[str, int] = {}
    readers: dict[str, list[Operation]] = {name: [] for name in known}
    for operation in operations:
        sources = {maker[value.name] for value in operation.inputs if value.name in maker}
        sources |= {name for name in operation.waits_for if name in known}
        sources.discard(operation.name)
        waiting[operation.name] = len(sources)
        for name in sources:
            readers[name].append(operation)
    pool = deque(operation for operation in operations if not waiting[operation.name])
    own: list[deque[Operation]] = [deque() for _ in range(max(1, threads))]
    idle = list(range(len(own)))
    running: list[tuple[float, int, int, Operation]] = []
    begun: list[Operation] = []
    ended: dict[str, int] = {}
    now, number = 0.0, 0
    while pool or running or any(own):
        for thread in sorted(idle):
            source = own[thread] or pool
            if not source:
                continue
            operation = source.popleft()
            begun.append(operation)
            number += 1
            heapq.heappush(running, (now + cost(operation), number, thread, operation))
            idle.remove(thread)
        now, _, thread, operation = heapq.heappop(running)
        idle.append(thread)
        ended[operation.name] = len(begun)
        kept: Operation | None = None
        for reader in readers[operation.name]:
            waiting[reader.name] -= 1
            if waiting[reader.name]:
                continue
            if reader.type in FREE or reader.type in RENAMED or cost(reader) < CHEAP_COST:
                own[thread].append(reader)
                continue
            if kept is not None:
                pool.append(kept)
            kept = reader
        if kept is not None:
            (own[thread] if not own[thread] else pool).append(kept)
    return [(operation, max(1, ended[operation.name] - place)) for place, operation in enumerate(begun)]
