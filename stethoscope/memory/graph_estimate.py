"""Live ranges of a model that TensorFlow runs, from its traced graph, per call style. Used in a worker; nothing is run.

A function ("function", "predict", "predict_on_batch") is run by TensorFlow's executor over the optimised graph: what nobody reads
any more is freed. An eager call runs the same operations as Python makes them: nothing is fused, nothing is written
over, and Keras 3 holds every layer's output until the call is over. XLA runs one
operation at a time.

The order in which TensorFlow's executor runs a graph: first ready, first run, on several threads at once.

Source: tensorflow/core/common_runtime/executor.cc (`ScheduleReady`): what becomes ready is appended to the thread's own
queue; of several expensive operations one stays and the others go to the pool. Standard library only.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from stethoscope.errors import CannotRun
from stethoscope.memory.concrete_graph import CALLS, ConcreteGraph, OpenGraph
from stethoscope.memory.estimate import Alive, Facts
from stethoscope.memory.liveness import Profile, Step, profile
from stethoscope.memory.op_buffers import (
    FREE,
    RENAMED,
    Operation,
    Scopes,
    cost,
    overwritten,
    renamed,
    watched,
    workspace_bytes,
)
from stethoscope.models.capabilities import Inlined, LiveModel
from stethoscope.types import TensorSpec

COMPILED_CALL = 80
"""How many operations a call that XLA compiles by itself is worth (Keras compiles grouped convolutions so)."""


class GraphFacts:
    """A traced model, ready to be looked at for any batch.

    Args:
        runner: an opened Keras model or a SavedModel with functions.
        call: the call style.
        threads: (operations at a time, threads within one).

    Raises:
        CannotRun: the model cannot be traced, or is no TensorFlow function.
    """

    def __init__(self, runner: LiveModel | Inlined, call: str, threads: tuple[int, int]) -> None:
        self._call, self._threads, self._runner = call, threads, runner
        self.inputs: tuple[TensorSpec, ...] = runner.inputs
        self._scopes = Scopes()
        self._open: OpenGraph | None = None
        function = None
        try:
            function, fed = self._traced(None)
            self._open = OpenGraph(function, fed)
        except CannotRun:
            if isinstance(runner, Inlined):
                raise  # else it is traced for each shape: not every program can be with dimensions open
        variables = () if function is None else function.graph.variables
        if isinstance(runner, LiveModel):
            variables = runner.model.weights
        self._weights = sizes = tuple(_bytes(variable) for variable in variables)
        self.weights_bytes, self.largest_weight_bytes = sum(sizes), max(sizes, default=0)

    def _traced(self, shapes: Sequence[Sequence[int]] | None) -> tuple[Any, Sequence[Any]]:
        runner = self._runner
        if isinstance(runner, LiveModel):
            with watched(runner.keras, runner.layer_paths()) as self._scopes:
                function = runner.concrete_function(shapes)
            return function, function.inputs[: len(self.inputs)]
        function = runner.function
        fed = {tensor.op.name: tensor for tensor in function.inputs}
        found = [fed[spec.name] for spec in self.inputs if spec.name in fed]
        if len(found) != len(self.inputs):
            found = [tensor for tensor in function.inputs if tensor.dtype.name != "resource"][: len(self.inputs)]
        return function, found

    def at(self, shapes: Sequence[Sequence[int]]) -> Facts:
        """The facts of one call on inputs of these shapes.

        Raises:
            CannotRun: the model does not take these shapes.
        """
        traced = self._open if self._open is not None else OpenGraph(*self._traced(shapes))
        eager = self._call == "call" and not traced.loops
        graph = traced.at(shapes, optimise=not eager)
        notes: list[str] = []
        if graph.unknown:
            notes.append(f"The sizes of {graph.unknown} tensors depend on the values fed in; they are left out.")
        if not graph.optimised and not eager:
            notes.append("TensorFlow's graph optimiser failed on it; the graph is taken as it was traced.")
        if self._call == "call" and traced.loops:
            notes.append("Loops run step by step in an eager call; they are counted as in a function.")
        order, found = self._profile(graph, traced.order if eager else ())
        layers = [self._scopes.layer(operation.name) for operation, _ in order]
        by_tensor = {
            value.name: Alive(value.name, layer, value.shape, value.dtype, value.size_bytes)
            for (operation, _), layer in zip(order, layers, strict=True)
            for value in operation.outputs
        }
        return Facts(
            weights_bytes=self.weights_bytes or graph.constant_bytes,
            largest_weight_bytes=self.largest_weight_bytes,
            input_bytes=sum(value.size_bytes for value in graph.inputs),
            output_bytes=sum(value.size_bytes for value in graph.outputs),
            weights=len(self._weights),
            weight_sizes=self._weights,
            input_sizes=tuple(value.size_bytes for value in graph.inputs),
            loops=sum(operation.type == "LoopCond" for operation in graph.operations),
            kernels=sum(
                COMPILED_CALL if operation.type in CALLS else operation.type not in FREE
                for operation in graph.operations
            ),
            profile=found,
            names=[operation.name for operation, _ in order],
            layers=layers,
            tensors=by_tensor,
            notes=tuple(notes),
        )

    def _profile(self, graph: ConcreteGraph, eager: Sequence[str]) -> tuple[list[tuple[Operation, int]], Profile]:
        """The order of a run and its profile; `eager` has the operations in the order in which Python makes them."""
        at_once, within = self._threads
        ends = [value.name for value in graph.outputs]
        sizes = {
            value.name: value.size_bytes
            for operation in graph.operations
            if operation.type not in FREE
            for value in operation.outputs
        }
        if eager:
            place = {name: number for number, name in enumerate(eager)}
            order = [(op, 1) for op in sorted(graph.operations, key=lambda op: place.get(op.name, -1))]
            until = self._scopes.held_until({op.name: number for number, (op, _) in enumerate(order)})
        else:
            order = executed(graph.operations, cost, 1 if self._call == "compiled" else at_once)
            until = {}
        steps = [_step(op, lasts, within, in_place=not eager) for op, lasts in order]
        return order, profile(steps, sizes, to_the_end=ends, until=until)


def _step(operation: Operation, lasts: int, threads: int, *, in_place: bool = True) -> Step:
    return Step(
        operation.name,
        tuple(value.name for value in operation.outputs),
        tuple(value.name for value in operation.inputs),
        renamed(operation),
        overwritten(operation) if in_place else (),
        workspace_bytes(operation, threads),
        lasts,
    )


def _bytes(weight: Any) -> int:
    import tensorflow as tf

    return int(math.prod(weight.shape)) * int(tf.as_dtype(weight.dtype).size)


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
