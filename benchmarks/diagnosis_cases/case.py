"""What a case is, and the short forms that the cases are written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import keras
import numpy as np
import numpy.typing as npt

from stethoscope.checks.findings import Fault

Array = npt.NDArray[Any]

FAULTS = frozenset(fault.value for fault in Fault)
"""The names a fault can have, as `stethoscope check --json` writes them."""

GIVEN, WRITTEN = "given", "written for this benchmark"
RESTATED = "restated from a published reproduction"
DEV, HELD_OUT = "dev", "held_out"
"""Thresholds may be tuned on the given and the dev cases; the held-out ones are only measured."""


class Program(NamedTuple):
    """A compiled, freshly initialised model, its arrays (x and y, or one per input and y), and what `fit` was told."""

    model: keras.Model
    arrays: dict[str, Array]
    fit: dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A faulty program and its repair.

    Attributes:
        id: the number of the question, or a name.
        title: what is wrong, in a line.
        faults: every fault that the faulty program truly has; naming one counts as diagnosed.
        write: makes the faulty (True) or the repaired (False) program from a random generator.
        split: "given", "dev" or "held_out".
        origin: where the program comes from.
        url: the question, or "".
        neutral: names that are neither true nor false here: symptoms of the fault, and published labels that are no defect.
    """

    id: str
    title: str
    faults: frozenset[str]
    write: Callable[[bool, np.random.Generator], Program]
    split: str
    origin: str = WRITTEN
    url: str = ""
    neutral: frozenset[str] = frozenset()

    def build(self, faulty: bool, seed: int = 0) -> Program:
        """Makes the program; the same seed gives the same weights and rows."""
        keras.utils.clear_session()
        keras.utils.set_random_seed(seed)
        return self.write(faulty, np.random.default_rng(seed))


def case(
    name: str,
    title: str,
    faults: str,
    write: Callable[[bool, np.random.Generator], Program],
    split: str,
    origin: str = WRITTEN,
    neutral: str = "",
) -> Case:
    """A case with its faults as words; a name of digits is the number of a Stack Overflow question.

    Raises:
        ValueError: a word is not the name of a fault.
    """
    true, undecided = frozenset(faults.split()), frozenset(neutral.split())
    if unknown := (true | undecided) - FAULTS:
        raise ValueError(f"Case {name}: expected names of faults, got {sorted(unknown)}. Use those in FAULTS.")
    number = name.split("-", maxsplit=1)[0]
    url = f"https://stackoverflow.com/questions/{number}" if number.isdigit() else ""
    return Case(name, title, true, write, split, origin, url, undecided)


def net(shape: Sequence[int | None], *layers: keras.Layer) -> keras.Sequential:
    """A sequential model over inputs of `shape` (without the batch dimension)."""
    return keras.Sequential([keras.Input(tuple(shape)), *layers])


def program(
    model: keras.Model,
    rows: tuple[Array, Array],
    loss: Any,
    optimizer: Any,
    metric: str | None = "accuracy",
    **fit: Any,
) -> Program:
    """Compiles the model; `rows` are x and y, and `fit` is what the program gave to `fit`."""
    model.compile(optimizer=optimizer, loss=loss, metrics=[] if metric is None else [metric])
    return Program(model, {"x": rows[0], "y": rows[1]}, fit)


def stated(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays with 64-bit floats stored as 32-bit ones, as Keras would use them."""
    return {name: value.astype("float32") if value.dtype == np.float64 else value for name, value in arrays.items()}
