"""Overfit test: whether the model can learn a few samples by heart, and what stops it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from stethoscope.evidence.trials import OverfitEvidence
from stethoscope.task import TaskContext

SAMPLES, STEPS, TIME_S = 16, 500, 15.0
MAX_SAMPLES, MAX_STEPS = 512, 10_000
RANDOM = "random input and labels"


@dataclass(frozen=True)
class OverfitTest:
    """What the test showed, and what it assumed about the training, one sentence each."""

    overfit: OverfitEvidence
    assumed: tuple[str, ...] = ()


class Overfit:
    """params: {"samples", "steps", "time_s", "fit", "trusted"}; files: "model", optionally "data"."""

    kind = "overfit"
    answer = OverfitTest

    def run(self, context: TaskContext) -> OverfitTest:
        """Trains on the samples, those of the data where there is some.

        Raises:
            CannotRun: the file is no Keras model, or too slow to train in this time.
            BadInput: the model takes no random input, where there is no data.
        """
        from stethoscope.training.from_job import setup_from_job
        from stethoscope.training.gathering.overfit import overfit

        samples = max(2, min(MAX_SAMPLES, int(context.params.get("samples", SAMPLES))))
        steps = max(1, min(MAX_STEPS, int(context.params.get("steps", STEPS))))
        time_s = float(context.params.get("time_s", TIME_S))
        missing = _missing(context)
        if missing is None:
            _, setup, assumed = setup_from_job(context)
        else:
            setup, assumed = _random(context, samples)
            assumed = (f"Random input and labels are used: {missing}", *assumed)
        found = overfit(
            setup,
            samples=samples,
            steps=steps,
            time_s=time_s,
            source="data" if missing is None else RANDOM,
            say=lambda fraction, message: context.report("overfit", fraction, message),
        )
        return OverfitTest(found, assumed)


def _missing(context: TaskContext) -> str | None:
    """Why the data cannot be trained on, as far as the files say without running anything; None when it can."""
    from stethoscope.data.rows import bind_all, data_of
    from stethoscope.models.formats import detect

    if "data" not in context.files:
        return "no data was given."
    file = context.files["model"]
    architecture = detect(file).describe(file)
    bound = bind_all(data_of(context), architecture)
    without = [spec.name for spec in architecture.outputs if spec.name not in bound.targets]
    return bound.problem or (f"the data holds no targets for {without}." if without else None)


def _random(context: TaskContext, samples: int) -> tuple[Any, tuple[str, ...]]:
    """A training on random rows: inputs by the model's own specs, labels that fit each head."""
    from stethoscope.data.dummy import model_input
    from stethoscope.data.rows import Bound
    from stethoscope.training.from_job import fit_settings, make_setup, model_to_train
    from stethoscope.training.gathering.few_samples import random_targets

    fit = fit_settings(context.params.get("fit"))
    without = dataclasses.replace(context, files={"model": context.files["model"]})
    architecture, opened = context.open_model()
    with opened as runner:
        model = model_to_train(runner, architecture, context.files["model"].name)
        feed = model_input(without, architecture, runner, samples, 0, samples).feed
        outputs = runner.predict(feed)
        names = tuple(spec.name for spec in runner.inputs)
    targets = random_targets(architecture, outputs, fit.loss)
    settings = dataclasses.replace(fit, validation_split=None)
    return make_setup(model, architecture, Bound(inputs=feed, targets=targets), settings, names)


TASK = Overfit()
