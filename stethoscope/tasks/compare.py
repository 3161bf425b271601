"""Do two models say the same: outputs, then layer by layer to the first that parts, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stethoscope.activations.model_rows import Inputs, ModelRows
from stethoscope.compare.parity.comparison import Comparison, InputCause, OfBoth, OutputPair, Parting, Scores, merged
from stethoscope.compare.parity.configured import told_by_configuration
from stethoscope.compare.parity.divergence_cause import (
    explain,
    is_tried,
    may_be_folded,
    sentence,
    shapes,
    summary,
    worst_rows,
)
from stethoscope.compare.parity.edge_cases import TurnedInputs, edges
from stethoscope.compare.parity.first_divergence import Divergence
from stethoscope.compare.parity.inputs_and_outputs import cut_off, pair_inputs, pair_outputs, tried_inputs
from stethoscope.compare.parity.labelled_rows import SECONDS, predicted, scored
from stethoscope.compare.parity.layer_tensors import LayerTensors, Recording
from stethoscope.compare.parity.precision import Tolerance, Way, said, tolerance
from stethoscope.compare.parity.side import FEW, Side, SideSeen, described, layers_or_reason, opened, way_of
from stethoscope.compare.parity.walk import Walk, at_the_input, layer_row
from stethoscope.compare.parity.yardstick import compared, verdict_of
from stethoscope.data.batching import Batching
from stethoscope.errors import BadInput
from stethoscope.memory.run_settings import give_back
from stethoscope.task import TaskContext
from stethoscope.tasks.record import RECORDED, recorded, timed
from stethoscope.types import Feed

_INTEGERS = ("int8", "int16")
"""Precisions whose inputs cut off values themselves: that both do so is no difference."""


class Compare:
    """Files: "model" (the one that is right), "other", optionally "data", optionally "recorded": what `record` left of "model".

    params: {"rows" (32), "layers" (true), "edges" (true), "batch_size", "seed", "preparation", "data_options", "trusted",
    "trusted_other", "settings", "other_settings" (how each is run; threads and device may differ only where the first is recorded)}.
    """

    kind = "compare"
    answer = Comparison

    def run(self, context: TaskContext) -> Comparison:
        """Runs both on the same rows, then looks for the first layer that parts.

        Raises:
            BadInput: the inputs or outputs have nothing to do with each other.
            BadSetting: as `way_of`.
            StethoscopeError: as `open_model`, of either.
        """
        with told_by_configuration(context.files, "other"):
            return _Comparing(context).run()


class _Comparing:
    """One job."""

    def __init__(self, context: TaskContext) -> None:
        self._context = context
        self._batch_size = context.params.get("batch_size")
        self._folder = context.folder / "tmp" / "layers"
        self._notes: list[str] = []

    def run(self) -> Comparison:
        context = self._context
        context.memory.watch()
        first, way = self._first()
        self._notes += first.notes
        with opened(context, "other", way) as second:
            return self._beside(first, second, way)

    def _first(self) -> tuple[Recording, Way]:
        """What the first model answered, and the way of the second: the process is made ready for whichever is run in it."""
        context = self._context
        if RECORDED in context.files:
            way = way_of(context, "other", alone=True)
            return Recording.load(context.files[RECORDED].path), way
        mine = way_of(context, "model", alone=False)
        found = recorded(context, mine, self._folder / "a")
        give_back()
        context.memory.reset()
        return found, way_of(context, "other", alone=False)

    def _beside(self, first: Recording, second: Side, way: Way) -> Comparison:
        context, names = self._context, (self._context.files["model"].name, _named(second, way))
        seen = SideSeen(context.files["model"], described(context.files["model"]))
        inputs = pair_inputs(first.inputs, second.runner.inputs)
        self._check_inputs(inputs, second.runner.inputs)
        turned = TurnedInputs(inputs, second.runner.inputs)
        context.report("run", 0.5, f"running {names[1]}")
        right, right_s = self._run_second(second, turned.feed(first.feed))
        precision = OfBoth(first.way.computes(seen.architecture), way.computes(second.architecture))
        limits = tolerance(precision.a, precision.b)
        outputs = self._outputs(first.outputs, right, limits)
        at_edges = tuple(edges(first, second, turned, outputs, limits, self._batch_size, self._notes))
        agreements = [output.top1_agreement for output in outputs if output.top1_agreement is not None]
        found = Comparison(
            verdict=verdict_of(outputs),
            outputs=outputs,
            top1_agreement=min(agreements, default=None),
            tolerance=limits,
            precision=precision,
            rows=len(first.places),
            layer_rows=first.layer_rows,
            source=first.source,
            inputs=turned.pairs(),
            worst_rows=worst_rows(first.outputs, right, outputs, first.places, first.described),
            labels=None,
            time_s=OfBoth(first.time_s, right_s),
            peak_bytes=OfBoth(first.peak_bytes, context.memory.peak_bytes()),
            ways=OfBoth(first.way, way),
            edges=at_edges,
            notes=tuple(self._notes),
        )
        if found.verdict == "different":
            self._note_predict(first, right, second, turned, limits)
        found = replace(found, labels=self._scores(found, seen, first, second, turned))
        context.save_partial(found)
        if context.params.get("layers", True):
            found = replace(found, preprocessing=self._inputs(found, first, second, turned))
            few = _layer_feed(first)
            found = self._layers(found, seen, second, first.layers, turned.feed(few), first.problem)
        found = replace(found, summary=summary(found, *names), notes=tuple(self._notes))
        return replace(found, sentence=sentence(found))

    def _note_predict(
        self, first: Recording, right: Feed, second: Side, turned: TurnedInputs, limits: Tolerance
    ) -> None:
        """Says so where models that differ as they are called here answer the same when a Keras model is asked by `predict`."""
        theirs = second.predicted(turned.feed(first.feed))
        if not first.predicted and not theirs:
            return
        few = {name: array[:FEW] for name, array in (first.outputs if not first.predicted else right).items()}
        outputs = self._outputs(first.predicted or few, theirs or few, limits)
        if verdict_of(outputs) != "different":
            self._notes.append(
                f"Called by predict, both answer the same ({FEW} rows): only model(x) tells them apart, where nobody says training=False."
            )

    def _scores(
        self, found: Comparison, seen: SideSeen, first: Recording, second: Side, turned: TurnedInputs
    ) -> Scores | None:
        """How right both are on the rows with labels; None without labels that fit."""
        if not len(first.labelled) or "data" not in self._context.files:
            return None
        with ModelRows(self._context, seen.architecture, Inputs(first.inputs)) as given:
            other = predicted(
                given,
                lambda feed: second.outputs(turned.feed(feed), self._batch_size),
                lambda done: self._context.report("labelled rows", done, f"{second.file.name} on all rows with labels"),
                self._batch_size,
                first.labelled,
                2 * SECONDS,
            )
            rows = given.rows
        _, mine, its = np.intersect1d(first.labelled, other.places, return_indices=True)
        left = {name: array[mine] for name, array in first.labelled_outputs.items()}
        right = {name: array[its] for name, array in other.outputs.items()}
        truth = {name: array[mine] for name, array in first.targets.items()}
        return scored(left, right, found.outputs, truth, rows)

    def _inputs(self, found: Comparison, first: Recording, second: Side, turned: TurnedInputs) -> InputCause | None:
        """What is wrong with what goes into the second, if that is what makes the difference."""
        tried = None
        if found.verdict == "different":
            self._context.report("inputs", 0.6, "trying other preprocessing")
            tried = tried_inputs(second, turned, first.feed, first.outputs, found.outputs)
        if found.verdict == "different" or (found.verdict == "within_tolerance" and not _of_integers(found)):
            cut = cut_off(second.clipped(turned.feed(first.feed)), second.file.name)
            return tried or cut or cut_off(first.clipped, self._context.files["model"].name)
        return None

    def _run_second(self, second: Side, feed: Feed) -> tuple[Feed, float]:
        try:
            return timed(second, feed, self._batch_size)
        except BadInput as error:
            raise BadInput(
                f"{error} These are the rows that {self._context.files['model'].name} takes: compare models that take the same inputs."
            ) from error

    def _check_inputs(self, inputs: Mapping[str, str], specs: Sequence[Any]) -> None:
        missing = [spec.name for spec in specs if spec.name not in inputs]
        if missing:
            raise BadInput(
                f"{self._context.files['other'].name}: input {missing[0]!r} has no counterpart in {self._context.files['model'].name}. "
                "Compare models that take the same inputs."
            )

    def _outputs(self, left: Feed, right: Feed, limits: Tolerance) -> tuple[OutputPair, ...]:
        outputs = []
        for a, b in pair_outputs(left, right).items():
            output = compared(a, b, left[a], right[b], limits)
            if output is not None:
                outputs.append(output)
            else:
                self._notes.append(
                    f"Output {a!r} {list(left[a].shape)} and {b!r} {list(right[b].shape)} cannot be compared: their shapes differ."
                )
        for name in [name for name in left if name not in {output.a for output in outputs}]:
            self._notes.append(f"Output {name!r} of the first model has no counterpart.")
        if not outputs:
            raise BadInput(
                f"{self._context.files['model'].name} and {self._context.files['other'].name}: no two outputs have the same size "
                f"({shapes(left)} and {shapes(right)}). Compare models that answer the same question."
            )
        return tuple(outputs)

    def _layers(
        self, found: Comparison, first: SideSeen, second: Side, tensors: LayerTensors, feed: Feed, problem: str
    ) -> Comparison:
        """The comparison with its layers, and where they part."""
        context = self._context
        context.report("layers", 0.7, f"reading the layers of {second.file.name}")
        others, other_problem = layers_or_reason(second, feed, self._folder / "b")
        for reason in (problem, other_problem):
            if reason:
                self._notes.append(f"Layers are not compared. {reason}")
        if problem or other_problem:
            return found
        context.report("match", 0.85, "matching layers")
        walk = Walk(first, second, (tensors, others), found.tolerance.floor)
        part = walk.divergence() if found.verdict == "different" else None
        pairs = walk.pairs(part)
        rows = [layer_row(pairs[key], tensors, others, walk.explained(pairs[key])) for key in tensors if key in pairs]
        taken = {one.b for one in pairs.values()}
        unmatched = OfBoth(
            tuple(key for key in tensors if key not in pairs), tuple(key for key in others if key not in taken)
        )
        parting: Parting | None = None
        folded = ""
        if part is not None:
            parting, folded = self._parting(walk, part, found.preprocessing)
        if parting is None and found.preprocessing is not None:
            parting = at_the_input(found.preprocessing, tensors, pairs)
        if found.verdict == "within_tolerance" and parting is None and not _of_integers(found):
            parting = walk.cut()
        hidden = merged(rows, parting, first.architecture)
        layers = tuple(replace(row, merged=row.key in hidden or row.a == folded) for row in rows)
        return replace(found, first_divergence=parting, layers=layers, unmatched=unmatched)

    def _parting(self, walk: Walk, part: Divergence, preprocessing: InputCause | None) -> tuple[Parting, str]:
        """(where they part and why, the layer before it whose factors lie in that layer's weights: "" for none)."""
        self._context.report("cause", 0.92, f"why {part.layer} parts")
        told = explain(walk.views(part), preprocessing)
        if walk.across and may_be_folded(told):
            after = walk.divergence(excused={part.layer})
            later = None if after is None else explain(walk.views(after), preprocessing)
            if later is not None and is_tried(later):
                return later, told.place[0]
        return told, ""


def _of_integers(found: Comparison) -> bool:
    """Whether both compute in integers: then both cut off."""
    return {found.precision.a, found.precision.b} <= set(_INTEGERS)


def _layer_feed(first: Recording) -> Feed:
    """The rows on which the first model's layers were read."""
    return Batching.of(first.inputs).part(first.feed, 0, first.layer_rows)


def _named(side: Side, way: Way) -> str:
    how = said(way.settings)
    return side.file.name if how == "as usual" else f"{side.file.name} ({how})"


TASK = Compare()
