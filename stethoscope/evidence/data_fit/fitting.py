"""A model's description beside rows of data: every input and output compared, and what to change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import DataAbout
from stethoscope.data.preprocessing.preparation import Preparation, covers, whole_of
from stethoscope.data.profile.array_statistics import profile_array
from stethoscope.data.profile.profiles import DataEvidence
from stethoscope.data.profile.target_profile import profile_target
from stethoscope.data.rows import Bound, bind_all
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.data_fit import input_fit, label_fit
from stethoscope.evidence.data_fit.expected_input import ExpectedInput, expected_inputs
from stethoscope.evidence.data_fit.report import Broken, InputFit, Misfit, OutputFit
from stethoscope.evidence.data_fit.sampled_rows import Rows, Sampled, Statistics, flat
from stethoscope.evidence.heads import Head, heads_of
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
