"""From a job's files and parameters to a training: model, data, how it is compiled, and whether it was trained before."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import math
import re
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.rows import Bound, bind_all, data_of
from stethoscope.errors import BadInput, BadSetting, CannotRun
from stethoscope.evidence.fit import FitSettings
from stethoscope.framework_errors import let_through
from stethoscope.models.capabilities import LiveModel
from stethoscope.program.setup import Setup
from stethoscope.task import TaskContext
from stethoscope.training.compiled import losses_of_targets, named_optimizer, outputs_in_order
from stethoscope.training.skill import Scorer
from stethoscope.types import Architecture, Feed, Refusal, Runner

PROBE_ROWS, MOST_PROBE_S = 512, 5.0
TRAINED_SKILL, TRAINED_SKILL_AT_ZERO = 0.6, 0.8
"""Skill that random initial weights hardly reach on a few hundred rows; more is asked where the optimizer says no step was taken."""
_MAX_MEMBER_BYTES = 2 << 30
_ITERATIONS = re.compile(r"(^|/)(iterations?|iter)(:0)?$")


def looks_trained(path: Path, setup: Setup) -> bool:
    """Whether the weights of the file at `path` are the result of training rather than initial ones."""
    steps = optimizer_steps(path)
    if steps:
        return True
    if setup.live is None or any(
        not np.isfinite(array).all() for array in setup.weights or () if array.dtype.kind == "f"
    ):
        return setup.live is not None
    return _skill(setup) > (TRAINED_SKILL if steps is None else TRAINED_SKILL_AT_ZERO)


def optimizer_steps(path: Path) -> int | None:
    """The step count of the optimizer stored in a .keras or .h5 file; None when there is none or it cannot be read."""
    import h5py

    with contextlib.suppress(OSError, KeyError, ValueError, RuntimeError, zipfile.BadZipFile):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                member = next(
                    name for name in [*archive.namelist(), ""] if name.endswith("model.weights.h5") or not name
                )
                if not member or archive.getinfo(member).file_size > _MAX_MEMBER_BYTES:
                    return None
                with archive.open(member) as stream, h5py.File(io.BytesIO(stream.read()), "r") as weights:
                    return _whole(weights["optimizer/vars/0"])
        with h5py.File(path, "r") as weights:
            found: list[int] = []

            def visit(name: str, item: Any) -> None:
                if isinstance(item, h5py.Dataset) and item.shape == () and _ITERATIONS.search(name):
                    found.append(_whole(item))

            if "optimizer_weights" in weights:
                weights["optimizer_weights"].visititems(visit)
            return found[0] if found else None
    return None


def _whole(dataset: Any) -> int:
    return int(dataset[()])


def _skill(setup: Setup) -> float:
    """The file's weights' skill on as many rows as a few seconds allow; 0 when the data does not fit the model."""
    from stethoscope.training.model import call, rows_at_once

    rows = min(PROBE_ROWS, setup.rows)
    order = np.random.default_rng(0).permutation(setup.rows)[:rows]
    scorer = Scorer.of(setup)
    try:
        parts = np.array_split(order, math.ceil(rows / rows_at_once(setup, setup.live, rows)))
        found, until = [], time.monotonic() + MOST_PROBE_S
        for part in parts:
            feed = [np.asarray(array)[part] for array in setup.x.values()]
            found.append([np.asarray(item) for item in call(setup.live, setup.modern, feed, training=False)])
            if time.monotonic() > until:
                order = order[: sum(len(one) for one in parts[: len(found)])]
                break
        outputs = [np.concatenate(items) for items in zip(*found, strict=True)]
        return scorer.scores([np.asarray(item)[order] for item in setup.y], outputs).skill
    except Exception as error:  # noqa: BLE001 - what cannot run here cannot train either: the training says why
        let_through(error)
        return 0.0


AIM_STEPS = 1_000
"""Steps a run gets when nobody said how many epochs: enough for small models to show whether they learn."""
MIN_EPOCHS = 3
EPOCHS_NOT_SAID = "The number of epochs was not said"
MAX_DATA_BYTES = 1 << 30
DATA_SHARE = 0.2
"""Share of the job's memory that training rows may take; TensorFlow holds them a second time."""


def setup_from_job(context: TaskContext, *, judged: bool = True) -> tuple[Architecture, Setup, tuple[str, ...]]:
    """Loads the model and the data, and puts together what `fit` would do.

    Where it is not `judged` whether the file's weights are trained ones, they are not looked at: the model is not run.

    Reads files "model" and "data" and params["fit"]; what the user says there overrides the file's compile settings.

    Returns:
        The architecture, the training, and a sentence for each thing that nobody said and was assumed.

    Raises:
        CannotRun: the file is no Keras model, or has no weights to train.
        BadInput: no data, no targets, or arrays that match neither inputs nor outputs.
        BadSetting: a fit setting that makes no sense.
    """
    fit = fit_settings(context.params.get("fit"))
    if "data" not in context.files:
        raise BadInput(
            "Training: expected data with inputs and targets, got none. Give data with x and y, or a table with a target."
        )
    architecture, opened = context.open_model()
    with opened as runner:
        name = context.files["model"].name
        model = model_to_train(runner, architecture, name)
        input_names = tuple(spec.name for spec in runner.inputs)
    context.report("data", message="reading the data")
    bound = bind_all(data_of(context), architecture)
    if bound.problem:
        raise BadInput(bound.problem)
    if not bound.targets:
        raise BadInput(
            f"The data: expected targets for {[spec.name for spec in architecture.outputs]}, got none. Add them as y."
        )
    setup, assumed = make_setup(model, architecture, bound, fit, input_names)
    if not judged:
        return architecture, setup, assumed
    from stethoscope.training.model import rows_at_once

    at_once = rows_at_once(setup, setup.live, min(PROBE_ROWS, setup.rows))
    context.report("predict", message=f"the model as it is in the file, {at_once:,} rows at once")
    trained = looks_trained(context.files["model"].path, setup)
    return architecture, setup.with_changes(from_file=not trained), assumed


def model_to_train(runner: Runner, architecture: Architecture, name: str) -> Any:
    """The live Keras model of a runner.

    Raises:
        CannotRun: there is none, or it has no weights to train.
    """
    live = runner.can(LiveModel)
    if isinstance(live, Refusal) or not hasattr(live.model, "trainable_variables"):
        raise CannotRun(
            f"{name}: expected a Keras model to train, got {architecture.display_format or architecture.format_id}. "
            "Upload the .keras or .h5 file."
        )
    return live.model


def fit_settings(value: Any) -> FitSettings:
    """Reads params["fit"]; unknown keys are left out.

    Raises:
        BadSetting: a number that cannot be.
    """
    given = value if isinstance(value, Mapping) else {}
    known = {field.name for field in dataclasses.fields(FitSettings)}
    fit = FitSettings(**{key: item for key, item in given.items() if key in known})
    if (fit.epochs is not None and fit.epochs < 1) or (fit.batch_size is not None and fit.batch_size < 1):
        raise BadSetting(f"Fit: expected epochs and batch_size of at least 1, got {fit.epochs} and {fit.batch_size}.")
    if fit.validation_split is not None and not 0 <= fit.validation_split < 1:
        raise BadSetting(f"Fit: expected a validation_split from 0 to below 1, got {fit.validation_split}.")
    return fit


def make_setup(
    model: Any, architecture: Architecture, bound: Bound, fit: FitSettings, input_names: tuple[str, ...]
) -> tuple[Setup, tuple[str, ...]]:
    """Returns the training of a loaded model on bound data, and what was assumed."""
    modern = not is_of_tf_keras(model)
    assumed: list[str] = []
    names = outputs_in_order(model, architecture)
    y = tuple(np.asarray(bound.targets[name]) for name in names if name in bound.targets)
    if len(y) != len(names):
        missing = [name for name in names if name not in bound.targets]
        raise BadInput(f"The data: expected targets for every output, got none for {missing}. Add them by name.")
    losses, sentences = losses_of_targets(architecture, fit, names, dict(zip(names, y, strict=True)))
    assumed.extend(sentences)
    optimizer, sentences = named_optimizer(architecture, fit, modern)
    assumed.extend(sentences)
    x = {spec: np.asarray(bound.inputs[name]) for spec, name in zip(input_names, bound.inputs, strict=True)}
    x, y, x_val, y_val, weights_given = _split(x, y, bound, fit)
    batch = fit.batch_size or 32
    if fit.batch_size is None:
        assumed.append("The batch size was not said: 32, Keras' default.")
    rows = int(next(iter(x.values())).shape[0]) if x else 0
    steps = max(1, math.ceil(rows / batch))
    epochs = fit.epochs or max(MIN_EPOCHS, round(AIM_STEPS / steps))
    if fit.epochs is None:
        assumed.append(f"{EPOCHS_NOT_SAID}: {epochs} (about {epochs * steps:,} steps).")
    weights, owners, kept = _weights(model)
    setup = Setup(
        config=_config(model, modern),
        modern=modern,
        weights=weights,
        weight_layers=owners,
        keep_weights=kept,
        losses=tuple(losses.values()),
        loss_weights=loss_weights(architecture, names),
        optimizer=optimizer,
        x=x,
        y=y,
        x_val=x_val,
        y_val=y_val,
        batch_size=batch,
        epochs=epochs,
        shuffle=fit.shuffled,
        sample_weight=weights_given,
        outputs=tuple(names),
        live=model,
    )
    return setup, tuple(assumed)


def is_of_tf_keras(model: Any) -> bool:
    """Whether a live model is of Keras 2."""
    return any(kind.__module__.startswith("tf_keras.") for kind in type(model).__mro__)


def _config(model: Any, modern: bool) -> dict[str, Any] | None:
    """The model as Keras serialises it; None for one whose class cannot say (NotImplementedError and its kin)."""
    if modern:
        import keras
    else:
        import tf_keras as keras
    try:
        value = keras.saving.serialize_keras_object(model)
    except (NotImplementedError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("config"), dict):
        return None
    return {key: item for key, item in value.items() if key != "compile_config"}


def _weights(model: Any) -> tuple[tuple[npt.NDArray[Any], ...], tuple[str, ...], frozenset[str]]:
    """Returns the weights by top-level layer, the layer of each, and the layers that hold frozen weights."""
    arrays: list[npt.NDArray[Any]] = []
    owners: list[str] = []
    frozen: set[str] = set()
    for layer in model.layers:
        for variable in layer.weights:
            arrays.append(np.asarray(variable))
            owners.append(layer.name)
        parts = list(layer._flatten_layers()) if hasattr(layer, "_flatten_layers") else [layer]
        if any(not part.trainable and part.weights for part in parts):
            frozen.add(layer.name)
    return tuple(arrays), tuple(owners), frozenset(frozen)


def loss_weights(architecture: Architecture, names: list[str]) -> tuple[float, ...]:
    """What the file says of the weight of each output's loss, one for each of `names`; empty where it says nothing."""
    said = architecture.compile.details.get("loss_weights") if architecture.compile else None
    if isinstance(said, Mapping):
        return tuple(float(said.get(name, 1.0)) for name in names)
    if isinstance(said, list | tuple) and len(said) == len(names):
        return tuple(1.0 if item is None else float(item) for item in said)
    return ()


def _split(
    x: Feed, y: tuple[npt.NDArray[Any], ...], bound: Bound, fit: FitSettings
) -> tuple[Feed, tuple[npt.NDArray[Any], ...], Feed, tuple[npt.NDArray[Any], ...], npt.NDArray[Any] | None]:
    """Validation rows are the tail, as `fit` takes them before it shuffles; else held-out arrays of the data file."""
    rows = int(next(iter(x.values())).shape[0])
    sample_weight = bound.others.get("sample_weight")
    if sample_weight is not None and sample_weight.shape[:1] != (rows,):
        sample_weight = None
    if fit.validation_split and all(item.shape[:1] == (rows,) for item in (*x.values(), *y)):
        cut = math.floor(rows * (1.0 - fit.validation_split))
        if 0 < cut < rows:
            head = {name: array[:cut] for name, array in x.items()}
            tail = {name: array[cut:] for name, array in x.items()}
            given = None if sample_weight is None else sample_weight[:cut]
            return head, tuple(item[:cut] for item in y), tail, tuple(item[cut:] for item in y), given
    for part in ("val", "test"):
        held_x, held_y = bound.others.get(f"x_{part}"), bound.others.get(f"y_{part}")
        if held_x is None or held_y is None or len(x) != 1 or len(y) != 1:
            continue
        same = held_x.shape[1:] == next(iter(x.values())).shape[1:] and held_y.shape[1:] == y[0].shape[1:]
        if same and len(held_x) == len(held_y) > 0:
            return x, y, {next(iter(x)): held_x}, (held_y,), sample_weight
    return x, y, {}, (), sample_weight


def fitting_rows(setup: Setup, budget_bytes: int) -> tuple[Setup, tuple[str, ...]]:
    """The training on as many rows as fit memory beside the model, drawn at random and kept in order; a sentence if fewer."""
    held = sum(array.nbytes for array in (*setup.x.values(), *setup.y))
    most = min(MAX_DATA_BYTES, int(budget_bytes * DATA_SHARE))
    if held <= most or setup.rows < 2:
        return setup, ()
    rows = max(1, int(setup.rows * most / held))
    chosen = np.sort(np.random.default_rng(0).permutation(setup.rows)[:rows])
    smaller = setup.with_changes(
        x={name: array[chosen] for name, array in setup.x.items()},
        y=tuple(array[chosen] for array in setup.y),
        sample_weight=None if setup.sample_weight is None else setup.sample_weight[chosen],
    )
    return smaller, (f"Trained on {rows:,} of {setup.rows:,} rows, drawn at random: more do not fit the memory limit.",)
