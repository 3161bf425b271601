"""Score a network on the rows the baselines are scored on: as it is when it is trained, else after training it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.rows import Bound, bind_all, data_of
from stethoscope.errors import BadInput, BadSetting
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.trials import NetworkScore
from stethoscope.program.setup import Setup
from stethoscope.task import Reporter, TaskContext
from stethoscope.tasks.baseline import held_out, scored
from stethoscope.training import smaller_batch
from stethoscope.types import Architecture

TIME_S = 8.0


class ScoreNetwork:
    """params: {"fit", "time_s", "name", "test_index", "trusted"}; files: "model", "data". A second model is another job with its name."""

    kind = "score"
    answer = NetworkScore

    def run(self, context: TaskContext) -> NetworkScore:
        """Scores the network, after training it where it is not."""
        from stethoscope.training.from_job import fit_settings, setup_from_job

        index = context.params.get("test_index") or ()
        if not isinstance(index, list | tuple) or not all(isinstance(row, int) for row in index):
            raise BadSetting("Rows held back: expected a list of row numbers, got something else.")
        if context.before is not None:
            smaller_batch.find(context, context.before)
        architecture, setup, _ = setup_from_job(context)
        if setup.from_file:  # else it is not trained
            smaller_batch.begin(context, setup.batch_size)
        fit = fit_settings(context.params.get("fit"))
        bound = bind_all(data_of(context), architecture)
        return score_network(
            setup,
            bound,
            architecture,
            fit,
            name=str(context.params.get("name", "this network"))[:80],
            time_s=float(context.params.get("time_s", TIME_S)),
            test_index=index,
            report=context.report,
            trained=context.keep_to_myself,
        )


TASK = ScoreNetwork()


Array = npt.NDArray[Any]
_CALL_VALUES, _MAX_CALL_ROWS = 4_000_000, 512


def score_network(
    setup: Setup,
    bound: Bound,
    architecture: Architecture,
    fit: FitSettings,
    *,
    name: str,
    time_s: float,
    test_index: Sequence[int] = (),
    report: Reporter | None = None,
    trained: Callable[[], None] = lambda: None,
) -> NetworkScore:
    """Trains the network on the baselines' training rows, unless the file's weights look trained, and scores it.

    `test_index` are the rows the baselines were scored on; without it, they are drawn in the same way again. `trained` is called
    once it has been trained.

    Raises:
        BadInput: there are no rows to hold back.
        CannotRun, FitCrash: it cannot be trained.
    """
    from stethoscope.training.trainer import Trainer

    split = held_out(bound, architecture, fit)
    place = setup.outputs.index(split.output) if split.output in setup.outputs else 0
    given = dict(zip(setup.x, (np.asarray(array) for array in bound.inputs.values()), strict=True))
    targets = tuple(np.asarray(bound.targets[output]) for output in setup.outputs) or setup.y
    if any(len(array) != len(split.targets) for array in (*given.values(), *targets)):
        raise BadInput("The data: expected the same number of rows in every array. Align them.")
    held = _rows(test_index, len(split.targets)) if len(test_index) else split.test
    train = np.setdiff1d(split.train, held)
    test = _finite(held, [*given.values(), *targets])
    x_test = {key: array[test] for key, array in given.items()}
    model, note, complete = setup.live, "", True
    as_it_is = not setup.from_file
    if as_it_is and model is not None:
        note = f"{name} was scored with the weights of the file; it may have been trained on the rows held back here."
    else:
        training = setup.with_changes(
            x={key: array[train] for key, array in given.items()},
            y=tuple(array[train] for array in targets),
            x_val={},
            y_val=(),
            sample_weight=None if setup.sample_weight is None else _rows_of(setup.sample_weight, train),
        )
        if report is not None:
            report("train", message=f"training {name} on {len(train):,} rows")
        trainer = Trainer(training)
        run = trainer.run(training, 0, time_s=time_s, scores_between=False)
        model, complete = trainer.model, run.stopped == ""
        if run.stopped == "time":
            note = f"{name} had time for {run.epochs_done:.3g} of {training.epochs:g} epochs and is not compared."
        elif run.stopped:
            complete = True  # NaN is how this training ends, whatever the time
        trained()
    if report is not None:
        report("predict", message=f"{name} on the {len(test):,} rows held back")
    predicted = _predict(model, setup, list(x_test.values()))[place]
    score = scored(name, split.scorer, split.targets[test], predicted)
    return NetworkScore(score, not as_it_is, complete, note)


def _rows(index: Sequence[int], rows: int) -> Array:
    found = np.unique(np.asarray(index, np.int64))
    if found[0] < 0 or found[-1] >= rows:
        raise BadInput(f"Rows held back: expected numbers below {rows:,}, got up to {int(found[-1]):,}. Profile again.")
    return found


def _rows_of(weights: Array, rows: Array) -> Array | None:
    return weights[rows] if len(weights) > int(rows.max(initial=0)) else None


def _finite(rows: Array, arrays: Sequence[Array]) -> Array:
    kept = np.ones(len(rows), bool)
    for array in arrays:
        if array.dtype.kind == "f":
            kept &= np.isfinite(array[rows]).reshape(len(rows), -1).all(axis=1)
    return rows[kept]


def _predict(model: Any, setup: Setup, x: Sequence[Array]) -> list[Array]:
    from stethoscope.training.model import call, rows_at_once

    per_row = max(1, sum(array[:1].size for array in x))
    step = rows_at_once(setup, model, int(max(1, min(_MAX_CALL_ROWS, _CALL_VALUES // per_row))))
    parts: list[list[Array]] = []
    for begin in range(0, len(x[0]), step):
        part = [array[begin : begin + step] for array in x]
        parts.append([np.asarray(value) for value in call(model, setup.modern, part, training=False)])
    return [np.concatenate(values) for values in zip(*parts, strict=True)]
