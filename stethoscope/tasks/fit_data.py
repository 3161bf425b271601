"""What the model expects of its data beside what the data is. Executes nothing.

A model's description beside rows of data: every input and output compared, and what to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data import open_data
from stethoscope.data.dataset import DataAbout
from stethoscope.data.preprocessing.preparation import Preparation, covers, whole_of
from stethoscope.data.rows import Bound, bind_all
from stethoscope.data.study.array_statistics import profile_array
from stethoscope.data.study.numbers import Histogram
from stethoscope.data.study.profiles import DataEvidence
from stethoscope.data.study.target_profile import profile_target
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.data_fit import input_fit, label_fit
from stethoscope.evidence.data_fit.expected_input import ExpectedInput, expected_inputs
from stethoscope.evidence.data_fit.report import Broken, DataFit, Fed, InputFit, Misfit, OutputFit, RowShown
from stethoscope.evidence.data_fit.sampled_rows import Rows, Sampled, Statistics, flat, sampled_rows, trained_statistics
from stethoscope.evidence.heads import Head, heads_of
from stethoscope.models.formats import detect, format_of
from stethoscope.task import TaskContext
from stethoscope.types import Architecture


def prepared(raw: Mapping[str, Rows], steps: Preparation) -> tuple[dict[str, Rows], int, Broken | None]:
    """Applies the steps one after another, up to the first that does not apply.

    Returns:
        The arrays, how many steps were applied, and the step that broke, if one did.
    """
    arrays = dict(raw)
    for place, step in enumerate(steps.steps):
        one = Preparation((step,))
        try:
            arrays |= {name: one.rows_after(name, rows) for name, rows in arrays.items() if one.of(name)}
        except StethoscopeError as error:
            return arrays, place, Broken(place, str(error))
    return arrays, len(steps.steps), None


class Fitting:
    """One comparison of a model's description with rows of data and the steps chosen so far."""

    def __init__(
        self,
        architecture: Architecture,
        about: DataAbout,
        sampled: Sampled,
        steps: Preparation,
        quantisation: Mapping[str, tuple[float, int]],
        trained: Mapping[str, Statistics],
    ) -> None:
        self._architecture, self._about, self._raw, self._totals = architecture, about, sampled.arrays, sampled.totals
        self.arrays, self.applied, self.broken = prepared(sampled.arrays, steps)
        self._steps = Preparation(steps.steps[: self.applied])
        self._expected = expected_inputs(architecture, quantisation, trained)
        self._bound: Bound = bind_all(self.arrays, architecture)  # type: ignore[arg-type]
        self._names = {id(rows): name for name, rows in self.arrays.items()}

    def inputs(self) -> tuple[InputFit, ...]:
        """One answer per input."""
        return tuple(self._input(expected) for expected in self._expected)

    def array_of(self, expected: ExpectedInput) -> str:
        """The name of the array an input is fed from; "" without one."""
        rows = self._bound.inputs.get(expected.name)
        return "" if rows is None else self._names.get(id(rows), "")

    def fed(self) -> list[tuple[ExpectedInput, str]]:
        """Each input with the name of its array, where it has one."""
        return [(expected, self.array_of(expected)) for expected in self._expected if self.array_of(expected)]

    def _input(self, expected: ExpectedInput) -> InputFit:
        takes, name = input_fit.takes(expected), self.array_of(expected)
        if not name:
            sentence = self._bound.problem or f"No array of the data is for {expected.name}."
            return InputFit(expected.name, takes, None, False, (Misfit("array", sentence),))
        rows = self.arrays[name]
        profile = profile_array(name, flat(rows), duplicates=False)
        problems = input_fit.problems(expected, name, rows, profile)
        of = whole_of(name)
        return InputFit(
            name=expected.name,
            expects=takes,
            has=input_fit.given(name, rows, profile, self._total(name, rows), expected.channel_axis),
            ok=not problems,
            problems=problems,
            suggested=input_fit.suggestions(expected, of, rows, len(problems)) if problems else (),
            superfluous=self._superfluous(expected, name, len(problems)) if problems else (),
            of=of,
        )

    def outputs(self) -> tuple[OutputFit, ...]:
        """One answer per output."""
        specs = {spec.name: spec for spec in self._architecture.outputs}
        arrays = {name: rows for name, rows in self._bound.targets.items() if isinstance(rows, np.ndarray)}
        inputs = {name: rows for name, rows in self._bound.inputs.items() if isinstance(rows, np.ndarray)}
        targets = {name: profile_target(name, rows, specs.get(name), {}) for name, rows in arrays.items()}
        profiles = {name: profile_array(name, rows, duplicates=False) for name, rows in inputs.items()}
        heads = heads_of(self._architecture, None, DataEvidence("", profiles, targets))
        return tuple(self._output(head, arrays.get(head.output)) for head in heads)

    def _output(self, head: Head, rows: npt.NDArray[Any] | None) -> OutputFit:
        takes = label_fit.takes(head)
        if rows is None:
            return OutputFit(head.output, takes)
        name = self._names.get(id(self._bound.targets[head.output]), head.output)
        of, classes = whole_of(name), self._about.classes
        problems = () if head.rebuilds else label_fit.problems(head, name, rows)
        return OutputFit(
            name=head.output,
            expects=takes,
            has=label_fit.given(head, name, rows, self._total(name, rows), classes),
            ok=not problems,
            problems=problems,
            suggested=label_fit.suggestions(head, of, rows, classes) if problems else (),
            of=of,
        )

    def left_over(self) -> tuple[str, ...]:
        """Arrays that are neither inputs nor labels."""
        return tuple(self._bound.others)[:100]

    def _total(self, name: str, rows: Rows) -> int:
        return max(self._totals.get(name, 0), len(rows))

    def _superfluous(self, expected: ExpectedInput, name: str, problems: int) -> tuple[int, ...]:
        """Steps without which fewer things are wrong: what the model does itself."""
        found = []
        for place, step in enumerate(self._steps.steps):
            if not covers(step.of, name):
                continue
            try:
                rows = self._steps.without(place).rows_after(name, self._raw[name])
            except StethoscopeError:
                # A later step needs this one.
                continue
            left = input_fit.problems(expected, name, rows, profile_array(name, flat(rows), duplicates=False))
            if len(left) < problems:
                found.append(place)
        return tuple(found)


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
