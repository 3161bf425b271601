"""Overfit test: whether the model can learn a few samples by heart, and what stops it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from stethoscope.codec import plain
from stethoscope.errors import BadInput, CannotRun
from stethoscope.types import TaskContext

SAMPLES, STEPS, TIME_S = 16, 500, 15.0
MAX_SAMPLES, MAX_STEPS = 512, 10_000
RANDOM = "random input and labels"


class Overfit:
    """params: {"samples", "steps", "time_s", "fit", "trusted"}; files: "model", optionally "data"."""

    kind = "overfit"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"overfit": OverfitEvidence, "assumed": sentences}.

        Raises:
            CannotRun: the file is no Keras model.
            BadInput: the model takes no random input, where there is no data.
        """
        from stethoscope.gathering.overfit import overfit
        from stethoscope.training.from_job import setup_from_job

        samples = max(2, min(MAX_SAMPLES, int(context.params.get("samples", SAMPLES))))
        steps = max(1, min(MAX_STEPS, int(context.params.get("steps", STEPS))))
        time_s = float(context.params.get("time_s", TIME_S))
        source = "data"
        if "data" in context.files:
            try:
                _, setup, assumed = setup_from_job(context)
            except BadInput as error:
                setup, assumed = _random(context, samples)
                source, assumed = RANDOM, (f"Random input and labels are used: {error}", *assumed)
        else:
            source = RANDOM
            setup, assumed = _random(context, samples)
        found = overfit(
            setup,
            samples=samples,
            steps=steps,
            time_s=time_s,
            source=source,
            say=lambda fraction, message: context.report("overfit", fraction, message),
        )
        return {"overfit": plain(dataclasses.asdict(found)), "assumed": list(assumed)}


def _random(context: TaskContext, samples: int) -> tuple[Any, tuple[str, ...]]:
    """A training on random rows: inputs by the model's own specs, labels that fit each head."""
    from stethoscope.data.binding import Bound
    from stethoscope.gathering.few_samples import random_targets
    from stethoscope.tasks.inputs import model_input
    from stethoscope.training.from_job import fit_settings, make_setup

    fit = fit_settings(context.params.get("fit"))
    without = dataclasses.replace(context, files={"model": context.files["model"]})
    architecture, opened = context.open_model()
    with opened as runner:
        model = getattr(runner, "model", None)
        if model is None or not hasattr(model, "trainable_variables"):
            name, kind = context.files["model"].name, architecture.display_format or architecture.format_id
            raise CannotRun(f"{name}: expected a Keras model to train, got {kind}. Upload the .keras or .h5 file.")
        feed = model_input(without, architecture, runner, samples, 0, samples).feed
        outputs = runner.predict(feed)
        names = tuple(spec.name for spec in runner.inputs)
    targets = random_targets(architecture, outputs, fit.loss)
    settings = dataclasses.replace(fit, validation_split=None)
    return make_setup(model, architecture, Bound(inputs=feed, targets=targets), settings, names)


TASK = Overfit()
