"""Which array of a data file is which: inputs and targets by the model's names, the rest kept aside."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from stethoscope.types import Architecture, Feed, TensorSpec

_INPUT_WORDS = ("x", "x_train", "train_x", "inputs", "input", "features", "data", "images", "x_data")
_TARGET_WORDS = ("y", "y_train", "train_y", "targets", "target", "labels", "label", "outputs", "y_data")
_HELD_OUT = re.compile(r"(?:([xy])_?(test|val|valid|validation)|(test|val|valid|validation)_?([xy]))(_.+)?")
_HELD_OUT_PART = {"test": "test", "val": "val", "valid": "val", "validation": "val"}


@dataclass(frozen=True)
class Bound:
    """A data file's arrays, by what they are to one model. Shapes are as given: they may not fit the model."""

    inputs: Feed = field(default_factory=dict)
    """One array per model input; empty when they could not be matched."""
    targets: Feed = field(default_factory=dict)
    """One array per model output that has labels; empty without labels."""
    others: Feed = field(default_factory=dict)
    """Everything else. Held-out rows are called x_test, y_test, x_val, y_val whatever their spelling in the file."""
    problem: str = ""
    """Why the inputs could not be matched; one sentence and what to do."""

    @property
    def rows(self) -> int:
        """Rows of the first input, or of the first target without inputs; 0 when there is none."""
        first = next(iter((self.inputs or self.targets).values()), None)
        return int(first.shape[0]) if first is not None and first.ndim else 0


def bind_all(arrays: Mapping[str, npt.NDArray[Any]], architecture: Architecture) -> Bound:
    """Matches arrays to a model's inputs and outputs by name.

    Inputs: an array per input name (or x_<name>), x0, x1, … in the model's order, or x (x_train) for a single input.
    Targets likewise with y. A lone array goes to a lone input. Never raises; shapes are not looked at.
    """
    left = {_held_out(name): array for name, array in arrays.items()}
    inputs, used = _match(left, architecture.inputs, "x", _INPUT_WORDS)
    if not inputs and len(architecture.inputs) == 1 and len(left) == 1:
        used = set(left)
        inputs = {architecture.inputs[0].name: next(iter(left.values()))}
    left = {name: array for name, array in left.items() if name not in used}
    targets, used = _match(left, architecture.outputs, "y", _TARGET_WORDS)
    others = {name: array for name, array in left.items() if name not in used}
    missing = [spec.name for spec in architecture.inputs if spec.name not in inputs]
    problem = ""
    if missing:
        wanted = [spec.name for spec in architecture.inputs]
        advice = "Save the input as x and the labels as y" if len(wanted) == 1 else "Save one array under each name"
        problem = (
            f"The data: expected arrays for the inputs {wanted}, got {sorted(arrays)[:20]}. {advice} (numpy.savez)."
        )
    return Bound(inputs if not missing else {}, targets, others, problem)


def _match(arrays: Feed, specs: Sequence[TensorSpec], letter: str, words: Sequence[str]) -> tuple[Feed, set[str]]:
    """Returns what was found for `specs` and which arrays it took."""
    by_key: dict[str, str] = {}
    for name in arrays:
        by_key.setdefault(_key(name), name)
    found: dict[str, str] = {}
    for spec in specs:
        plain = _key(spec.name)
        for candidate in (plain, f"{letter}_{plain}", f"{letter}_train_{plain}"):
            if candidate in by_key and by_key[candidate] not in found.values():
                found[spec.name] = by_key[candidate]
                break
    if not found and len(specs) > 1:
        found = _numbered(by_key, specs, letter)
    if not found and len(specs) == 1:
        lone = [by_key[word] for word in (*words, f"{letter}0", f"{letter}1", f"{letter}_0") if word in by_key]
        found = {specs[0].name: lone[0]} if lone else {}
    return {spec: arrays[name] for spec, name in found.items()}, set(found.values())


def _numbered(by_key: Mapping[str, str], specs: Sequence[TensorSpec], letter: str) -> dict[str, str]:
    for stem in (letter, f"{letter}_", f"{letter}_train_"):
        for start in (0, 1):
            names = [f"{stem}{start + place}" for place in range(len(specs))]
            if all(name in by_key for name in names):
                return {spec.name: by_key[name] for spec, name in zip(specs, names, strict=True)}
    return {}


def _key(name: str) -> str:
    """Case, tensor suffix (":0") and TensorFlow's signature prefix do not tell names apart."""
    return re.sub(r":\d+$", "", name.strip()).removeprefix("serving_default_").lower()


def _held_out(name: str) -> str:
    match = _HELD_OUT.fullmatch(name.strip().lower())
    if match is None:
        return name
    letter, part = (match[1], match[2]) if match[1] else (match[4], match[3])
    return f"{letter}_{_HELD_OUT_PART[part]}{match[5] or ''}"
