"""Weights without a graph: formats that hold named arrays and nothing that says how they are computed with."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from stethoscope.errors import CannotRun
from stethoscope.models.model_format import Format, Program, StoredWeight, WeightsByLayer
from stethoscope.types import Architecture, Layer, ModelFile, Runner, WorkerKind

SAVE_WHOLE = "Save the whole model with model.save('model.keras')"


class Part(StrEnum):
    """What an array is for."""

    WEIGHT = "Variable"
    OPTIMIZER = "Optimizer"
    """What the optimizer remembers of a weight, or of itself."""
    OTHER = "Bookkeeping"
    """Counters, seeds, metrics."""

    @property
    def is_weight(self) -> bool:
        """Whether it is the model's own."""
        return self is Part.WEIGHT


@dataclass(frozen=True)
class Variable:
    """One array of a file.

    Attributes:
        path: unique in the file, as people know it.
        weight: its name within its layer, shape, dtype, and how to read it.
        layer: the group it lies in, "" where the file has none.
        stored: under which name it is stored, where that is not the path.
    """

    path: str
    weight: StoredWeight
    layer: str = ""
    part: Part = Part.WEIGHT
    stored: str = ""


@dataclass(frozen=True)
class Holding:
    """What a file of weights holds, while it is open.

    Attributes:
        format: what to call it on screen.
        version: what wrote it; "" where it does not say.
        whole: how to come to a whole model, a sentence.
    """

    variables: Sequence[Variable]
    format: str
    version: str = ""
    notes: Sequence[str] = ()
    whole: str = f"{SAVE_WHOLE}."


class WeightsOnly(Format):
    """A format of weights without a graph: described, looked at and compared, and never run."""

    worker: WorkerKind = "light"
    is_program = False
    only_weights = True

    @abstractmethod
    def held(self, file: ModelFile) -> AbstractContextManager[Holding]:
        """Opens a file; no values are read before they are asked for.

        Raises:
            UnreadableFile, UnsafeFile, TooLarge: as `Format.describe`.
        """
        ...

    def describe(self, file: ModelFile) -> Architecture:
        """One row for each array; parameters are those of the model, without what an optimizer keeps."""
        with self.held(file) as holding:
            return _architecture(self.id, file, holding)

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """There is no graph.

        Raises:
            CannotRun: always.
        """
        raise CannotRun(f"{file.name}: weights without a graph, so there is none to draw.")

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """There is nothing to run.

        Raises:
            CannotRun: always; says how to come to a model.
        """
        raise CannotRun(f"{file.name}: {self.describe(file).runnable}")

    def program(self, name: str, architecture: Architecture) -> Program:
        """There is nothing to call.

        Raises:
            CannotRun: always.
        """
        raise CannotRun(f"{name}: {architecture.runnable}")

    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """Each array by its path."""
        return self._weights(file)

    @contextmanager
    def _weights(self, file: ModelFile) -> Iterator[WeightsByLayer]:
        with self.held(file) as holding:
            yield {variable.path: [variable.weight] for variable in holding.variables}


def _architecture(format_id: str, file: ModelFile, holding: Holding) -> Architecture:
    layers = tuple(
        Layer(
            path=variable.path,
            type=variable.part.value,
            output_shape=variable.weight.shape,
            parameters=variable.weight.count if variable.part is Part.WEIGHT else 0,
            trainable_parameters=0,
            dtype=variable.weight.dtype,
            config={key: value for key, value in (("layer", variable.layer), ("stored as", variable.stored)) if value},
        )
        for variable in holding.variables
    )
    return Architecture(
        format_id=format_id,
        framework_version=holding.version,
        parameters=sum(layer.parameters for layer in layers),
        trainable_parameters=None,
        inputs=(),
        outputs=(),
        layers=layers,
        warnings=(*_beside(holding.variables), *holding.notes),
        weight_bytes=sum(_bytes(variable.weight) for variable in holding.variables),
        display_format=holding.format,
        runnable=(
            "It holds weights without a graph: nothing says how they are computed with, so there is nothing to run. "
            f"{holding.whole} Or give the model, with these as its weights: "
            f"stethoscope describe MODEL --weights {file.name}"
        ),
    )


def _beside(variables: Sequence[Variable]) -> Iterator[str]:
    """What is stored that is not the model's own."""
    for part, words in (
        (Part.OPTIMIZER, "of the optimizer"),
        (Part.OTHER, "no weights but counters, seeds or metrics"),
    ):
        found = [one.weight.count for one in variables if one.part is part]
        if found:
            arrays = "1 array is" if len(found) == 1 else f"{len(found):,} arrays are"
            values = "1 value" if sum(found) == 1 else f"{sum(found):,} values"
            yield f"{arrays} {words}: {values}, not counted as parameters."


def _bytes(weight: StoredWeight) -> int:
    bits = re.search(r"\d+", weight.dtype)
    return weight.count * int(bits.group() if bits else 8) // 8
