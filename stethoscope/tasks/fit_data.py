"""What the model expects of its data beside what the data is. Executes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import open_data
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.profile.array_statistics import profile_array
from stethoscope.data.study.numbers import Histogram
from stethoscope.evidence.data_fit.fitting import Fitting
from stethoscope.evidence.data_fit.report import DataFit, Fed, RowShown
from stethoscope.evidence.data_fit.sampled_rows import Rows, flat, sampled_rows, trained_statistics
from stethoscope.models.formats import detect, format_of
from stethoscope.task import TaskContext

_MOST_PREVIEWED = 4
_PREVIEW_SIDE = 320
_PREVIEW_VALUES = 4_000


class FitData:
    """params: "preparation", "data_options"; files: "model", "data". Files: one row per input, before and after the steps."""

    kind = "fit_data"
    answer = DataFit

    def run(self, context: TaskContext) -> DataFit:
        """Compares some rows from all over the data with the model's description."""
        steps = Preparation.from_json(context.params.get("preparation") or ())
        model, file = context.files["model"], context.files["data"]
        context.report("read", 0.0, f"reading {model.name}")
        architecture = detect(model).describe(model)
        context.report("read", 0.2, f"reading {file.name}")
        with open_data(file, context.budget.memory_bytes, context.params.get("data_options") or {}) as data:
            sampled = sampled_rows(data)
            about = data.about
        context.report("compare", 0.6, "comparing")
        fitting = Fitting(
            architecture,
            about,
            sampled,
            steps,
            format_of(architecture).ends(model).inputs,
            trained_statistics(model, architecture),
        )
        inputs, outputs = fitting.inputs(), fitting.outputs()
        context.report("compare", 0.9, "showing a row")
        return DataFit(
            about=about,
            rows_read=max((len(rows) for rows in sampled.arrays.values()), default=0),
            inputs=inputs,
            outputs=outputs,
            broken=fitting.broken,
            applied=fitting.applied,
            steps=tuple(steps.words()),
            code=steps.code(),
            as_fed=tuple(
                _fed(context, place, expected.name, array, sampled.arrays[array], fitting.arrays[array])
                for place, (expected, array) in enumerate(fitting.fed()[:_MOST_PREVIEWED])
            ),
            others=fitting.left_over(),
        )


def _fed(context: TaskContext, place: int, name: str, array: str, before: Rows, after: Rows) -> Fed:
    """Statistics of an array before and after its steps, and its first row as files."""
    shown = _shown(context, f"after-{place}", after)
    return Fed(name=name, array=array, before=_shown(context, f"before-{place}", before), **vars(shown))


def _shown(context: TaskContext, name: str, rows: Rows) -> RowShown:
    profile = profile_array(name, flat(rows), duplicates=False)
    row = _thinned(np.asarray(rows[0])) if len(rows) else None
    return RowShown(
        shape=rows.shape[1:] if isinstance(rows, np.ndarray) else "several",
        dtype=profile.dtype,
        min=profile.minimum,
        max=profile.maximum,
        histogram=Histogram(profile.histogram_edges, profile.histogram_counts),
        row_shape=None if row is None else np.shape(rows[0]),
        file=None if row is None else context.save(name, row),
    )


def _thinned(row: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A row small enough to be looked at: every n-th value along long axes."""
    if row.ndim == 1:
        return row[: _PREVIEW_VALUES * 16 : max(1, -(-min(len(row), _PREVIEW_VALUES * 16) // _PREVIEW_VALUES))]
    if row.ndim in (2, 3):
        steps = [max(1, -(-size // _PREVIEW_SIDE)) for size in row.shape]
        return row[tuple(slice(None, None, step) for step in steps)]
    return row.reshape(-1)[:_PREVIEW_VALUES]


TASK = FitData()
