"""A model as one TensorFlow function with names, and as one graph without variables: what every conversion begins with.

A traced model as a SavedModel folder.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stethoscope.compare.convert.converter import CannotConvert, Source, Unsupported
from stethoscope.compare.convert.ways_round import Origins, way_round
from stethoscope.framework_errors import gist
from stethoscope.models.capabilities import Traceable
from stethoscope.types import Refusal, TensorSpec

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]+")
WRITES = re.compile(
    r"^(?:Assign|ScatterUpdate|Resource(?:Scatter|Apply)|StatefulRandom|StatefulUniform|StatefulStandardNormal|Rng)"
)
"""Operators that change a variable."""
_STATE = "It changes a variable in every call: build the copy for deployment without that (no dropout in inference, stateful=False)."
_LOOKUPS = re.compile(r"LookupTable(?!Import|Export)|String|StaticRegex|RegexReplace|Unicode|Substr")


@dataclass(frozen=True)
class TracedModel:
    """The traced function. Inputs and outputs stand in the source's order; names are what TensorFlow allows as one."""

    function: Any
    """A ConcreteFunction that takes keyword arguments and returns a dict."""
    trackable: Any
    """What holds its variables; None for a graph of constants."""
    inputs: tuple[tuple[str, TensorSpec], ...]
    outputs: tuple[tuple[str, str], ...]
    """(name in the function, the source's name)."""
    writes: tuple[Unsupported, ...] = ()
    """Operators that change a variable in every call."""
    lookups: tuple[Unsupported, ...] = ()
    """Operators that look values up in a table, or make of texts what is looked up."""

    @property
    def output_tensors(self) -> dict[str, str]:
        """The tensor of the function's graph behind each output, by its name in the function."""
        names = sorted(name for name, _ in self.outputs)
        return {name: tensor.name for name, tensor in zip(names, self.function.outputs, strict=True)}


@dataclass(frozen=True)
class FrozenModel:
    """One GraphDef with constants in place of variables."""

    definition: Any
    inputs: tuple[tuple[str, TensorSpec], ...]
    """(tensor "x:0", the source's spec with the shape it was traced for)."""
    outputs: tuple[tuple[str, str], ...]
    """(tensor, the source's name)."""


def trace(source: Source, batch_size: int | None = None) -> TracedModel:
    """Traces the model without running it.

    Args:
        source: one that TensorFlow can trace.
        batch_size: a fixed first dimension in place of an open one.

    Raises:
        CannotRun: TensorFlow cannot trace it.
    """
    import tensorflow as tf

    runner = source.runner.can(Traceable)
    if isinstance(runner, Refusal):
        raise CannotConvert(f"{source.file.name}: {runner.reason}")
    specs = [_fixed(spec, batch_size) for spec in _ranked(source)]
    names = safe_names([spec.name for spec in specs])
    found: dict[str, str] = {}

    def model(*tensors: Any) -> dict[str, Any]:
        outputs = {key: tf.convert_to_tensor(value) for key, value in runner.live_outputs(list(tensors)).items()}
        safe = safe_names(list(outputs))
        found.clear()
        found.update(zip(safe, outputs, strict=True))
        return {name: tf.identity(value, name=name) for name, value in zip(safe, outputs.values(), strict=True)}

    signature = [
        tf.TensorSpec(spec.shape, tf.as_dtype(spec.dtype or "float32"), name=name)
        for name, spec in zip(names, specs, strict=True)
    ]
    with runner.explained("tracing it"):
        function = tf.function(model, input_signature=signature).get_concrete_function()
    return TracedModel(
        function,
        runner.trackable,
        tuple(zip(names, specs, strict=True)),
        tuple(found.items()),
        _operators(function, source, WRITES, _STATE),
        _operators(function, source, _LOOKUPS),
    )


def freeze(traced: TracedModel, name: str) -> FrozenModel:
    """Replaces variables by constants and calls of functions by their bodies; loops and branches keep theirs.

    The public function of TensorFlow makes of the result a function again, which copies every constant twice more: of what
    it does, only the part that makes the graph is used.

    Args:
        traced: the model.
        name: of its file, for the error.

    Raises:
        CannotConvert: a variable changes in every call, or TensorFlow cannot do it.
    """
    from tensorflow.python.framework import convert_to_constants

    _raise_for_writes(traced, name)
    with _explained(name):
        data = convert_to_constants._FunctionConverterDataInEager(
            func=traced.function, lower_control_flow=False, aggressive_inlining=True
        )
        definition, _ = convert_to_constants._replace_variables_by_constants(data)
        del data
        gc.collect()  # what it was made with holds the weights once more, and refers to itself
    _raise_for_tables(traced, name, sum(node.op == "Placeholder" for node in definition.node))
    own = len(traced.function.inputs) - len(traced.function.captured_inputs)
    tensors = [tensor.name for tensor in traced.function.inputs[:own]]
    by_name = traced.output_tensors
    return FrozenModel(
        definition,
        tuple((tensor, spec) for tensor, (_, spec) in zip(tensors, traced.inputs, strict=True)),
        tuple((by_name[name], original) for name, original in traced.outputs),
    )


def _operators(function: Any, source: Source, wanted: re.Pattern[str], advice: str = "") -> tuple[Unsupported, ...]:
    """The operators of some types with their layers."""
    origins = Origins(source.architecture)
    definition = function.graph.as_graph_def()
    bodies = [definition.node, *(one.node_def for one in definition.library.function)]
    found = {
        (node.op, layer): Unsupported(node.op, layer, way_round=advice or way_round(node.op, "this target"))
        for nodes in bodies
        for node in nodes
        if wanted.match(node.op)
        for layer in [origins.layer(node.name)]
    }
    return tuple(found.values())


def _raise_for_tables(traced: TracedModel, name: str, inputs: int) -> None:
    """Raises where the graph without variables still takes more than the model's own inputs: tables, which live outside of it."""
    if inputs <= len(traced.inputs):
        return
    first = next((one for one in traced.lookups if one.operator.startswith("LookupTable")), None)
    where = f"layer {first.layer}" if first and first.layer else "it"
    advice = way_round("LookupTableFindV2", "this target")
    raise CannotConvert(
        f"{name}: {where} looks values up in a table, which this target cannot hold. {advice}", traced.lookups
    )


def _raise_for_writes(traced: TracedModel, name: str) -> None:
    if traced.writes:
        first = traced.writes[0]
        where = f"layer {first.layer}" if first.layer else first.operator
        raise CannotConvert(
            f"{name}: {where} changes a variable in every call, and this target keeps none. Build the copy for deployment without "
            "that (no dropout in inference, stateful=False), or convert it to a SavedModel.",
            traced.writes,
        )


@contextmanager
def _explained(name: str) -> Iterator[None]:
    import tensorflow as tf

    try:
        yield
    except (
        ValueError,
        TypeError,
        KeyError,
        RuntimeError,
        AssertionError,
        NotImplementedError,
        tf.errors.OpError,
    ) as error:
        raise CannotConvert(f"{name}: TensorFlow cannot put its weights into the graph: {gist(error)}.") from error


def safe_names(names: Sequence[str]) -> list[str]:
    """Names that are one Python and TensorFlow identifier each, as like the given ones as may be, no two alike."""
    found: list[str] = []
    for name in names:
        plain = _NOT_A_NAME.sub("_", name.partition(":")[0]).strip("_") or "tensor"
        plain = f"t_{plain}" if plain[0].isdigit() else plain
        made, number = plain, 1
        while made.lower() in {one.lower() for one in found}:
            number += 1
            made = f"{plain}_{number}"
        found.append(made)
    return found


def _ranked(source: Source) -> Sequence[TensorSpec]:
    """The inputs, each with as many dimensions as the rows have where the model takes any number of them."""
    specs: Sequence[TensorSpec] = source.runner.inputs
    if all(spec.shape is not None for spec in specs):
        return specs
    first = next(iter(source.calibration.feeds()))
    return [
        TensorSpec(spec.name, (None,) * first[spec.name].ndim, spec.dtype) if spec.shape is None else spec
        for spec in specs
    ]


def _fixed(spec: TensorSpec, batch_size: int | None) -> TensorSpec:
    if batch_size is None or not spec.shape or spec.shape[0] is not None:
        return spec
    return TensorSpec(spec.name, (batch_size, *spec.shape[1:]), spec.dtype)


def save_traced(traced: TracedModel, folder: Path, name: str) -> None:
    """Writes a SavedModel with one signature, "serving_default".

    Args:
        traced: the model.
        folder: made here.
        name: of the model, for the error.

    Raises:
        CannotConvert: TensorFlow cannot save it.
    """
    import tensorflow as tf

    holder = tf.Module()
    holder.model = traced.trackable
    # What Keras does not track by itself, like the state of a random generator inside a layer.
    holder.read = list(traced.function.graph.variables)
    try:
        tf.saved_model.save(holder, str(folder), signatures={"serving_default": traced.function})
    except (ValueError, TypeError, AssertionError, KeyError, RuntimeError, tf.errors.OpError) as error:
        raise CannotConvert(f"{name}: TensorFlow cannot save it: {gist(error)}.") from error
