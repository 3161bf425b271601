"""The training of a job that may have no data: then of random rows, with targets that the model's loss takes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.losses import BINARY_LOSSES, CATEGORICAL_LOSSES, SPARSE_LOSSES, canonical_loss
from stethoscope.data.binding import Bound
from stethoscope.data.feeds.dummy import model_input
from stethoscope.program.setup import Setup
from stethoscope.task import TaskContext
from stethoscope.training.compiled import named_loss, outputs_in_order
from stethoscope.training.from_job import (
    EPOCHS_NOT_SAID,
    fit_settings,
    is_of_tf_keras,
    make_setup,
    model_to_train,
    setup_from_job,
)
from stethoscope.types import Architecture

MADE = "No data was given: random inputs and random targets, which show where a program runs and not whether it learns."


def setup_or_made(context: TaskContext, rows: int) -> tuple[Architecture, Setup, tuple[str, ...]]:
    """The training of a job; where the job has no data, of random rows with targets that its loss takes.

    Raises:
        CannotRun: the file is no Keras model that can be trained.
        BadInput: the data does not fit.
    """
    if "data" in context.files:
        architecture, setup, assumed = setup_from_job(context)
        # How long these trials run is their own affair.
        return architecture, setup, tuple(said for said in assumed if not said.startswith(EPOCHS_NOT_SAID))
    architecture, opened = context.open_model()
    with opened as runner:
        model = model_to_train(runner, architecture, context.files["model"].name)
        given = model_input(context, architecture, runner, rows, 0, rows)
        outputs = runner.predict(given.feed)
        modern = not is_of_tf_keras(model)
        fit = fit_settings(context.params.get("fit"))
        names = outputs_in_order(model, architecture)
        losses = named_loss(architecture, fit, names, modern)
        random = np.random.default_rng(0)
        found = dict(zip(names, (outputs.get(name) for name in names), strict=True))
        flat = list(outputs.values())
        targets = {
            name: _target(canonical_loss(loss)[0], flat[place] if array is None else array, random)
            for place, (loss, (name, array)) in enumerate(zip(losses, found.items(), strict=True))
        }
        input_names = tuple(spec.name for spec in runner.inputs)
    bound = Bound({name: given.feed[name] for name in input_names}, targets)
    setup, assumed = make_setup(model, architecture, bound, dataclasses.replace(fit, epochs=1), input_names)
    return architecture, setup, (MADE, *(text for text in assumed if "epochs" not in text))


def _target(loss: str, output: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    if loss in SPARSE_LOSSES:
        return random.integers(0, max(1, output.shape[-1]), output.shape[:-1])
    if loss in BINARY_LOSSES:
        return random.integers(0, 2, output.shape).astype(np.float32)
    if loss in CATEGORICAL_LOSSES:
        picked = random.integers(0, max(1, output.shape[-1]), output.shape[:-1])
        return np.eye(max(1, output.shape[-1]), dtype=np.float32)[picked]
    return random.standard_normal(output.shape).astype(np.float32)
