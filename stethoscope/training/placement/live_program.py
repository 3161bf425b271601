"""A training program rebuilt as Keras itself runs it: models made, compiled and fitted on whatever device is in scope. Worker only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.program.setup import Setup
from stethoscope.training.compiled import live_losses, live_optimizer
from stethoscope.training.model import build


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
