"""A training program as Keras itself runs it, on whatever device is in scope; on random rows without data. Worker only."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.losses import BINARY_LOSSES, CATEGORICAL_LOSSES, SPARSE_LOSSES, canonical_loss
from stethoscope.data.dummy import model_input
from stethoscope.data.rows import Bound
from stethoscope.program.setup import Setup
from stethoscope.task import TaskContext
from stethoscope.training.compiled import live_losses, live_optimizer, named_loss, outputs_in_order
from stethoscope.training.from_job import EPOCHS_NOT_SAID, fit_settings, make_setup, model_to_train, setup_from_job
from stethoscope.training.model import build
from stethoscope.types import Architecture


class LiveProgram:
    """A setup as live Keras objects, made anew for each model so that all of it lies in the scope it is made in."""

    def __init__(self, setup: Setup, rows: int, batch_size: int) -> None:
        self.setup = setup
        self.batch_size = max(1, min(batch_size, setup.rows))
        self.rows = max(1, min(rows, setup.rows))
        self.weights: list[npt.NDArray[Any]] = [np.array(item) for item in setup.live.get_weights()]

    def model(
        self, *, jit_compile: bool, rate_factor: float = 1.0, setup: Setup | None = None, loaded: bool = True
    ) -> Any:
        """A new compiled model.

        Args:
            jit_compile: whether its programs are compiled by XLA.
            rate_factor: multiplies a constant learning rate.
            setup: a changed configuration of the same weights.
            loaded: whether it gets the file's weights.
        """
        used = setup or self.setup
        made = build(used)
        if loaded:
            made.set_weights(self.weights)
        optimizer = live_optimizer(used)
        if rate_factor != 1.0 and used.learning_rate is not None:
            optimizer.learning_rate = used.learning_rate * rate_factor
        losses = live_losses(used)
        options: dict[str, Any] = {}
        if used.loss_weights and len(losses) > 1:
            options["loss_weights"] = self._packed(made, list(used.loss_weights), outputs=True)
        made.compile(optimizer, self._packed(made, losses, outputs=True), jit_compile=jit_compile, **options)
        return made

    def fit(
        self,
        model: Any,
        *,
        epochs: int,
        batch_size: int | None = None,
        rows: int | None = None,
        order: npt.NDArray[Any] | None = None,
    ) -> list[float]:
        """Trains in the rows' order; returns the loss of each epoch.

        Args:
            model: one of `model()`.
            epochs: passes over the rows.
            batch_size: of all replicas together.
            rows: the first so many; None for `self.rows`.
            order: which rows, in which order, instead.
        """
        chosen = np.arange(rows or self.rows) if order is None else order
        x = self._packed(model, [array[chosen] for array in self.setup.x.values()], outputs=False)
        y = self._packed(model, [array[chosen] for array in self.setup.y], outputs=True)
        history = model.fit(x, y, batch_size=batch_size or self.batch_size, epochs=epochs, shuffle=False, verbose=0)
        return [float(value) for value in history.history["loss"]]

    def predict(self, model: Any) -> list[npt.NDArray[Any]]:
        """Outputs for the first batch of rows, flat."""
        x = self._packed(model, [array[: self.batch_size] for array in self.setup.x.values()], outputs=False)
        found = model.predict(x, batch_size=self.batch_size, verbose=0)
        return [np.asarray(item) for item in _flat(found)]

    def _packed(self, model: Any, values: Sequence[Any], *, outputs: bool) -> Any:
        """`values` in the structure the model takes or gives; alone when there is one."""
        names = ("_outputs_struct", "_nested_outputs") if outputs else ("_inputs_struct", "_nested_inputs")
        structure = next((getattr(model, name) for name in names if getattr(model, name, None) is not None), None)
        given = list(values)
        if structure is None or len(given) == 1:
            return given[0] if len(given) == 1 and not isinstance(structure, dict) else _by_key(structure, given)
        if isinstance(structure, dict):
            return _by_key(structure, given)
        return given


def _by_key(structure: Any, given: list[Any]) -> Any:
    """Keras flattens dictionaries in the order of their sorted keys."""
    return dict(zip(sorted(structure), given, strict=True)) if isinstance(structure, dict) else given


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _flat(value[key])]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


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
        fit = fit_settings(context.params.get("fit"))
        names = outputs_in_order(model, architecture)
        losses = named_loss(architecture, fit, names)
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
