"""Which changed trainings are worth a try, given how the training went: what would happen if …, most plausible first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stethoscope.architecture.activations import ACTIVATION_LAYERS, BOUNDED, LINEAR, RELU
from stethoscope.evidence.training import RunCurve
from stethoscope.program.model_config import (
    structure,
    unfrozen,
    walk,
    with_activation,
    with_initialisers,
    with_settings,
)
from stethoscope.program.model_graph import last_with_weights, with_layer
from stethoscope.program.setup import Setup, scaled_inputs, scaled_targets
from stethoscope.training.skill import Scorer

MAX_RATE = 10.0
MIN_BATCH, MAX_BATCH, MAX_BATCH_SHARE = 4, 128, 1 / 8
LONGER, LONGER_STEPS = 5, 1_500
"""`longer` trains so many times the epochs, and so many steps at least."""
WIDER, ADDED_UNITS, NARROW_UNITS = 4, 32, 16
_STANDARD = ("glorot", "he", "lecun", "variancescaling", "orthogonal")
_ADAPTIVE = ("adam", "adamw", "nadam", "adamax", "lion")
_HIDDEN = ("Dense", "Conv1D", "Conv2D", "Conv3D", "SeparableConv2D", "DepthwiseConv2D", "Conv2DTranspose")


@dataclass(frozen=True)
class WhatIf:
    """One change to try. `make` returns the changed training; None means: go on from where the base stopped."""

    id: str
    title: str
    rank: float
    """The lower, the sooner it is tried."""
    make: Callable[[], Setup] | None
    value: float | None = None
    detail: str = ""
    structural: bool = False
    """Whether it needs a model of its own, built and traced anew."""
    same_loss: bool = True
    """Whether its loss can be compared with the base's."""


@dataclass(frozen=True)
class Course:
    """How the base runs went, as far as it decides what to try."""

    skill: float
    diverged: bool
    falling: bool
    """Whether the loss was still going down at the end."""
    flat: bool
    """Whether the loss hardly went down at all."""

    @classmethod
    def of(cls, base: Sequence[RunCurve]) -> Course:
        """Reads it off the base runs."""
        skills = [run.final.skill if math.isfinite(run.final.skill) else 0.0 for run in base]
        diverged = any(
            run.stopped == "non-finite"
            or not math.isfinite(run.final.loss)
            or (math.isfinite(run.start.loss) and run.final.loss > 2 * abs(run.start.loss) + 1e-6)
            for run in base
        )
        falls = [_fall(run) for run in base]
        flat = not diverged and all(run.final.loss > run.start.loss - 0.02 * abs(run.start.loss) for run in base)
        return cls(float(np.mean(skills)) if skills else 0.0, diverged, max(falls, default=0.0) > 0.02, flat)


def _fall(run: RunCurve) -> float:
    """Relative fall of the loss over the last third of the run."""
    loss = [item for item in run.loss if math.isfinite(item)]
    if len(loss) < 3:
        return 1.0
    third = max(1, len(loss) // 3)
    before, after = float(np.mean(loss[-2 * third : -third])), float(np.mean(loss[-third:]))
    return (before - after) / max(abs(before), 1e-12)


def what_ifs(setup: Setup, base: Sequence[RunCurve]) -> list[WhatIf]:
    """Every change that applies to this training, most plausible first."""
    course = Course.of(base)
    found = [*_rates(setup, course), *_data(setup), *_fit(setup, course), *_model(setup, course)]
    return sorted(found, key=lambda item: item.rank)


def _rates(setup: Setup, course: Course) -> list[WhatIf]:
    rate = setup.learning_rate
    if rate is None:
        return []
    ranks = (
        {"rate-down": 0.0, "rate-down-100": 1.0, "rate-up": 9.0, "rate-up-100": 20.0}
        if course.diverged
        else {"rate-up": 2.0, "rate-up-100": 5.0 if rate <= 1e-3 else 8.0, "rate-down": 3.3, "rate-down-100": 9.0}
    )
    found = []
    for trial, factor in (("rate-up", 10.0), ("rate-up-100", 100.0), ("rate-down", 0.1), ("rate-down-100", 0.01)):
        changed = float(f"{rate * factor:.6g}")
        if changed <= MAX_RATE and changed > 0:
            found.append(
                WhatIf(trial, f"Learning rate {changed:g}", ranks[trial], partial(_with_rate, setup, changed), changed)
            )
    return found


def _with_rate(setup: Setup, rate: float) -> Setup:
    config = dict(setup.optimizer.get("config") or {}) | {"learning_rate": rate}
    return setup.with_changes(optimizer={**setup.optimizer, "config": config})


def _data(setup: Setup) -> list[WhatIf]:
    inputs = [name for name, array in setup.x.items() if _unscaled(array)]
    numbers = len(setup.y) == 1 and Scorer.of(setup).scales[0].kind == "numbers"
    targets = numbers and _unscaled(setup.y[0])

    def with_inputs(changed: Setup) -> Setup:
        for name in inputs:
            changed = scaled_inputs(changed, name, "standardise", None)
        return changed

    found = []
    if inputs:
        found.append(WhatIf("scale-inputs", "Inputs scaled to mean 0 and spread 1", 0.5, lambda: with_inputs(setup)))
    if targets:
        found.append(
            WhatIf(
                "scale-targets",
                "Targets scaled to mean 0 and spread 1",
                0.6,
                lambda: scaled_targets(setup, "", "standardise"),
                same_loss=False,
            )
        )
    if inputs and targets:
        found.append(
            WhatIf(
                "scale-both",
                "Inputs and targets scaled to mean 0 and spread 1",
                0.4,
                lambda: scaled_targets(with_inputs(setup), "", "standardise"),
                same_loss=False,
            )
        )
    return found


def _unscaled(array: Any) -> bool:
    """Whether numbers are far from mean 0 and spread 1: larger than 3 in the mean square, tiny, off-centre, or uneven columns."""
    if array.dtype.kind not in "biuf" or array.size == 0:
        return False
    values = np.asarray(array[:5_000], np.float64)
    values = np.where(np.isfinite(values), values, np.nan)
    if np.isnan(values).all():
        return False
    spread, mean = float(np.nanstd(values)), float(np.nanmean(values))
    if spread == 0:
        return False
    if math.hypot(spread, mean) > 3 or spread < 0.05 or abs(mean) > 3 * spread:
        return True
    if array.ndim != 2 or array.shape[1] < 2:
        return False
    columns = np.nanstd(values, axis=0)
    columns = columns[columns > 0]
    return bool(columns.size > 1 and columns.max() / columns.min() > 30 and columns.max() > 2)


def _fit(setup: Setup, course: Course) -> list[WhatIf]:
    found = []
    rows, batch = setup.rows, min(setup.batch_size, setup.rows)
    if not course.diverged:
        steps = math.ceil(rows / max(1, batch))
        epochs = max(setup.epochs * LONGER, math.ceil(LONGER_STEPS / steps))
        found.append(WhatIf("longer", f"{epochs:g} epochs", 1.0 if course.falling else 4.0, None, float(epochs)))
    name = str(setup.optimizer.get("class_name", "")).lower()
    if name not in _ADAPTIVE:
        adam = {"class_name": "Adam", "config": {"learning_rate": 0.001}}
        found.append(
            WhatIf(
                "adam",
                "Adam with a learning rate of 0.001",
                1.5 if course.diverged or course.flat else 3.0,
                lambda: setup.with_changes(optimizer=adam),
                0.001,
                structural=True,
            )
        )
    fitting = 32 if rows >= 32 / MAX_BATCH_SHARE else max(4, rows // 8)
    big = batch > MAX_BATCH or (batch > rows * MAX_BATCH_SHARE and rows >= 32)
    if (big or batch < MIN_BATCH) and fitting != batch and rows > fitting:
        found.append(
            WhatIf(
                "batch-32",
                f"Batches of {fitting} rows",
                2.5 if big else 4.5,
                lambda: setup.with_changes(batch_size=fitting),
                float(fitting),
            )
        )
    return found


def _model(setup: Setup, course: Course) -> list[WhatIf]:
    if setup.config is None or not isinstance(setup.config.get("config", {}).get("layers"), list):
        return []
    entries = [(path, entry) for path, entry in walk(structure(setup))]
    output = last_with_weights(setup) if any("kernel_initializer" in entry["config"] for _, entry in entries) else ""
    hidden = [(path, entry) for path, entry in entries if entry["class_name"] in _HIDDEN and path != output]
    found: list[WhatIf] = []
    stuck = 0.0 if course.skill < 0.3 else 2.0

    def add(trial: str, title: str, rank: float, make: Callable[[], Setup], value: float | None = None) -> None:
        found.append(WhatIf(trial, title, rank + stuck, make, value, structural=True))

    dull = [path for path, entry in hidden if _activation(entry) in BOUNDED or _is_linear(path, entries)]
    if dull:
        add("relu-hidden", f"relu in {_named(dull)}", 2.8, lambda: _with_relu(setup, dull))
    odd = [path for path, entry in entries if _odd_initialiser(entry)]
    if odd:
        add("default-init", f"Keras' default initial weights in {_named(odd)}", 1.2, lambda: _fresh(setup, odd))
    dense = [(path, entry) for path, entry in hidden if entry["class_name"] == "Dense"]
    if output and not hidden:
        settings = {"units": ADDED_UNITS, "activation": RELU.name}
        add(
            "wider",
            f"A hidden layer of {ADDED_UNITS} relu units",
            3.5,
            lambda: with_layer(setup, "Dense", settings, before=output),
            ADDED_UNITS,
        )
    elif dense and max(int(entry["config"].get("units", 0)) for _, entry in dense) < NARROW_UNITS:
        add(
            "wider",
            f"{WIDER} times as many units in {_named([path for path, _ in dense])}",
            4.8,
            lambda: _widened(setup, dense),
            WIDER,
        )
    dropped = [
        path
        for path, entry in entries
        if "Dropout" in entry["class_name"] and float(entry["config"].get("rate") or 0) > 0
    ]
    if dropped:
        heavy = any(float(entry["config"].get("rate") or 0) >= 0.5 for path, entry in entries if path in dropped)
        add(
            "no-dropout",
            f"No dropout in {_named(dropped)}",
            3.0 if heavy else 5.0,
            lambda: with_settings(setup, dropped, rate=0.0),
        )
    frozen = [
        path
        for path, entry in entries
        if entry["config"].get("trainable") is False and path.split("/")[0] in setup.keep_weights
    ]
    if frozen:
        add("unfrozen", f"Training {_named(frozen)} too", 2.6, lambda: unfrozen(setup, frozen))
    return found


def _activation(entry: dict[str, Any]) -> str:
    value = entry["config"].get("activation")
    if isinstance(value, dict):
        inner = value.get("config")
        value = inner if isinstance(inner, str) else value.get("class_name")
    return str(value or LINEAR.name)


def _is_linear(path: str, entries: Sequence[tuple[str, dict[str, Any]]]) -> bool:
    """Whether no activation follows a linear layer before the next one with weights (in the order of the file)."""
    place = next(index for index, (name, _) in enumerate(entries) if name == path)
    if _activation(entries[place][1]) != LINEAR.name:
        return False
    for _, entry in entries[place + 1 :]:
        kind = entry["class_name"]
        if kind in (*ACTIVATION_LAYERS, "TFOpLambda", "Lambda", "Add", "Multiply"):
            return False
        if "kernel_initializer" in entry["config"]:
            return True
    return False


def _odd_initialiser(entry: dict[str, Any]) -> bool:
    value = entry["config"].get("kernel_initializer")
    kind = str(value.get("class_name") if isinstance(value, dict) else value or "").replace("_", "").lower()
    return bool(kind) and not kind.startswith(_STANDARD)


def _named(paths: Sequence[str]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more layers" if len(paths) > 3 else "")


def _with_relu(setup: Setup, paths: Sequence[str]) -> Setup:
    for path in paths:
        setup = with_activation(setup, path, RELU.name)
    return setup


def _fresh(setup: Setup, paths: Sequence[str]) -> Setup:
    return with_initialisers(setup, paths, "glorot_uniform", "zeros")


def _widened(setup: Setup, dense: Sequence[tuple[str, dict[str, Any]]]) -> Setup:
    for path, entry in dense:
        setup = with_settings(setup, [path], units=int(entry["config"]["units"]) * WIDER)
    return setup
