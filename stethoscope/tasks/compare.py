"""Do two models say the same: outputs, then layer by layer to the first that parts, and why."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from stethoscope.activations.model_rows import ModelRows
from stethoscope.architecture.matching import is_across, match
from stethoscope.codec import plain
from stethoscope.errors import BadInput
from stethoscope.memory.allocation import give_back
from stethoscope.parity.first_divergence import first_divergence, layer_errors, reads
from stethoscope.parity.layer_pairs import TensorPair, pair
from stethoscope.parity.layer_tensors import LayerTensors
from stethoscope.parity.output_pairs import pair_inputs, pair_outputs
from stethoscope.parity.precision import Tolerance, precision_of, tolerance
from stethoscope.task import TaskContext
from stethoscope.tasks.parity_cause import cut_off, explain, tried_inputs
from stethoscope.tasks.parity_inputs import TurnedInputs
from stethoscope.tasks.parity_labels import scored
from stethoscope.tasks.parity_outputs import compared, sentence, shapes, verdict_of, worst_rows
from stethoscope.tasks.parity_side import Side, layers_or_reason
from stethoscope.types import Architecture, Feed

ROWS, LAYER_ROWS = 32, 8
_LAYER_BYTES = 768 << 20
"""Of one model's layers' answers, on disk: fewer rows where they would be more."""
_OPEN = 64


class Compare:
    """Files: "model" (the one that is right), "other", optionally "data".

    params: {"rows" (32), "layers" (true), "batch_size", "seed", "preparation", "data_options", "trusted", "trusted_other"}.
    """

    kind = "compare"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns

        {"verdict": "equal|within_tolerance|different", "sentence", "outputs": [{"a", "b", "orientation", "shape", "max_abs_diff",
        "mean_abs_diff", "max_rel_diff", "nrmse", "cosine", "sqnr_db", "top1_agreement", "top5_agreement", "nonfinite", "within"}],
        "top1_agreement", "first_divergence": {"a", "b", "cause", "cause_id", "confidence", "sentence", "fix", "layer", "group",
        "guesses"} | null, "layers": [{"a", "b", "key", "how", "orientation", "nrmse", "max_abs", "cosine", "sqnr_db", "same",
        "clipped"}], "unmatched": {"a", "b"}, "tolerance", "precision": {"a", "b"}, "rows", "layer_rows", "source", "inputs",
        "preprocessing", "worst_rows", "labels", "time_s": {"a", "b"}, "notes"}.

        Raises:
            BadInput: the inputs or outputs have nothing to do with each other.
            StethoscopeError: as `open_model`, of either.
        """
        return plain_json(_Comparison(context).run())


def plain_json(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """As JSON values; numbers that are none as null."""
    found: Mapping[str, Any] = plain(value)
    return found


class _Comparison:
    """One job."""

    def __init__(self, context: TaskContext) -> None:
        self._context = context
        params = context.params
        self._rows = max(1, int(params.get("rows") or ROWS))
        self._batch_size = params.get("batch_size")
        self._seed = int(params.get("seed") or 0)
        self._folder = context.folder / "tmp" / "layers"
        self._notes: list[str] = []

    def run(self) -> dict[str, Any]:
        context = self._context
        context.memory.watch()
        architecture, opened = context.open_model()
        with ExitStack() as stack:
            runner = stack.enter_context(opened)
            first = Side(context.files["model"], architecture, runner)
            given = stack.enter_context(
                ModelRows(context, architecture, runner, dummy_rows=self._rows, seed=self._seed)
            )
            places, feed = given.at(range(min(self._rows, given.rows)))
            places, feed = places[: self._rows], given.batching.part(feed, 0, self._rows)
            context.report("run", 0.1, f"running {first.file.name}")
            left, left_s = _timed(first, feed, self._batch_size)
            labels = given.labels(places)
            described = given.described(places.tolist()) if given.source != "dummy" else []
            few = given.batching.part(feed, 0, self._layer_rows(architecture, len(places)))
            tensors, problem = LayerTensors(self._folder), ""
            if context.params.get("layers", True):
                context.report("layers", 0.2, f"reading the layers of {first.file.name}")
                tensors, problem = layers_or_reason(first, few, self._folder / "a")
            specs, source = runner.inputs, given.source
        give_back()
        context.report("load", 0.4, f"loading {context.files['other'].name}")
        other_architecture, opened = context.open_model("other")
        with opened as runner:
            second = Side(context.files["other"], other_architecture, runner)
            inputs = pair_inputs(specs, runner.inputs)
            self._check_inputs(inputs, runner.inputs)
            turned = TurnedInputs(inputs, runner.inputs)
            context.report("run", 0.5, f"running {second.file.name}")
            right, right_s = self._run_second(second, turned.feed(feed))
            limits = tolerance(architecture, other_architecture)
            outputs = self._outputs(left, right, limits)
            verdict = verdict_of(outputs)
            value: dict[str, Any] = {
                "verdict": verdict,
                "outputs": outputs,
                "top1_agreement": min(
                    (one["top1_agreement"] for one in outputs if one["top1_agreement"] is not None), default=None
                ),
                "first_divergence": None,
                "layers": [],
                "unmatched": {"a": [], "b": []},
                "tolerance": {
                    "nrmse": limits.nrmse,
                    "top1": limits.top1,
                    "precision": limits.precision,
                    "floor": limits.floor,
                },
                "precision": {"a": precision_of(architecture), "b": precision_of(other_architecture)},
                "rows": len(places),
                "layer_rows": first.batching.rows(few),
                "source": source,
                "inputs": turned.said(),
                "preprocessing": None,
                "worst_rows": worst_rows(left, right, outputs, places, described),
                "labels": scored(left, right, outputs, labels),
                "time_s": {"a": left_s, "b": right_s},
                "notes": self._notes,
            }
            context.save_partial(plain(value))
            if context.params.get("layers", True):
                if verdict == "different":
                    context.report("inputs", 0.6, "trying other preprocessing")
                    tried = tried_inputs(second, turned, feed, left, outputs)
                    value["preprocessing"] = tried or cut_off(second.clipped(turned.feed(feed)), second.file.name)
                self._layers(value, first, second, tensors, turned.feed(few), problem, limits)
            value["sentence"] = sentence(value, context.files["model"].name, context.files["other"].name)
            return value

    def _run_second(self, second: Side, feed: Feed) -> tuple[Feed, float]:
        try:
            return _timed(second, feed, self._batch_size)
        except BadInput as error:
            raise BadInput(
                f"{error} These are the rows that {self._context.files['model'].name} takes: compare models that take the same inputs."
            ) from error

    def _layer_rows(self, architecture: Architecture, rows: int) -> int:
        each = sum(
            4 * math.prod(size or _OPEN for size in layer.output_shape[1:])
            for layer in architecture.layers
            if layer.output_shape
        )
        return max(1, min(rows, LAYER_ROWS, _LAYER_BYTES // max(1, each)))

    def _check_inputs(self, inputs: Mapping[str, str], specs: Sequence[Any]) -> None:
        missing = [spec.name for spec in specs if spec.name not in inputs]
        if missing:
            raise BadInput(
                f"{self._context.files['other'].name}: input {missing[0]!r} has no counterpart in {self._context.files['model'].name}. "
                "Compare models that take the same inputs."
            )

    def _outputs(self, left: Feed, right: Feed, limits: Tolerance) -> list[dict[str, Any]]:
        found = []
        for a, b in pair_outputs(left, right).items():
            told = compared(a, b, left[a], right[b], limits)
            if told is not None:
                found.append(told)
            else:
                self._notes.append(
                    f"Output {a!r} {list(left[a].shape)} and {b!r} {list(right[b].shape)} cannot be compared: their shapes differ."
                )
        for name in [name for name in left if name not in {one["a"] for one in found}]:
            self._notes.append(f"Output {name!r} of the first model has no counterpart.")
        if not found:
            raise BadInput(
                f"{self._context.files['model'].name} and {self._context.files['other'].name}: no two outputs have the same size "
                f"({shapes(left)} and {shapes(right)}). Compare models that answer the same question."
            )
        return found

    def _layers(
        self,
        value: dict[str, Any],
        first: Side,
        second: Side,
        tensors: LayerTensors,
        feed: Feed,
        problem: str,
        limits: Tolerance,
    ) -> None:
        context = self._context
        context.report("layers", 0.7, f"reading the layers of {second.file.name}")
        others, other_problem = layers_or_reason(second, feed, self._folder / "b")
        for reason in (problem, other_problem):
            if reason:
                self._notes.append(f"Layers are not compared. {reason}")
        if problem or other_problem:
            return
        context.report("match", 0.85, "matching layers")
        across = is_across(first.architecture, second.architecture)
        matched = _matched(first.architecture, second.architecture, across)
        pairs = pair(tensors, others, matched, limits.floor, certain=not across)
        sources = reads(first.architecture, tensors)
        errors = layer_errors(tensors, others, pairs, sources, floor=limits.floor)
        same = {one.key: one.same for one in errors}
        value["layers"] = [_told(pairs[key], tensors, others, same[key]) for key in tensors if key in pairs]
        taken = {one.b for one in pairs.values()}
        value["unmatched"] = {
            "a": [key for key in tensors if key not in pairs],
            "b": [key for key in others if key not in taken],
        }
        if value["verdict"] != "different" and not _anomalous(errors, limits):
            return
        found = first_divergence(first.architecture, tensors, others, pairs, errors)
        if found is not None and value["verdict"] == "different":
            context.report("cause", 0.92, f"why {found.layer} parts")
            value["first_divergence"] = explain(
                found, first, second, (tensors, others), pairs, feed, matched, value["preprocessing"]
            )
        elif value["verdict"] == "different" and value["preprocessing"] is not None:
            value["first_divergence"] = _at_the_input(value["preprocessing"], tensors, pairs)


def _matched(first: Architecture, second: Architecture, across: bool) -> dict[str, tuple[str, Any]]:
    """The second model's layer for each of the first, and how it was matched; in one language the same name is the same layer."""
    found: dict[str, tuple[str, Any]] = {one.a: (one.b, one.how) for one in match(first, second)}
    if not across:
        taken, names = {b for b, _ in found.values()}, {layer.path for layer in second.layers}
        for layer in first.layers:
            if layer.path not in found and layer.path in names - taken:
                found[layer.path] = (layer.path, "name")
    return found


def _timed(side: Side, feed: Feed, batch_size: int | None) -> tuple[Feed, float]:
    start = time.perf_counter()
    found = side.outputs(feed, batch_size)
    return found, time.perf_counter() - start


def _anomalous(errors: Sequence[Any], limits: Tolerance) -> bool:
    """Whether a layer is off by more than anything explains although the outputs agree."""
    return any(not one.same and one.nrmse > max(0.1, 10 * limits.nrmse) for one in errors)


def _told(one: TensorPair, first: LayerTensors, second: LayerTensors, same: bool) -> dict[str, Any]:
    said = one.difference.to_json()
    told: dict[str, Any] = {
        "key": one.a,
        "a": first.layers[one.a],
        "b": second.layers[one.b],
        "how": one.how,
        "orientation": one.orientation.said(),
        "nrmse": said["nrmse"],
        "max_abs": said["max_abs"],
        "cosine": one.difference.cosine,
        "sqnr_db": one.difference.sqnr_db,
        "same": same,
        "clipped": None,
    }
    if one.b in second.quantised:
        low, high = second.quantised[one.b]
        values = first.read(one.a)
        told["clipped"] = float(np.mean((values < low) | (values > high)))
        told["range"], told["step"] = [low, high], second.steps[one.b]
    return told


def _at_the_input(tried: Mapping[str, Any], tensors: LayerTensors, pairs: Mapping[str, TensorPair]) -> dict[str, Any]:
    key = next((one for one in tensors if one in pairs), None)
    return {
        "a": tensors.layers[key] if key else "",
        "b": pairs[key].b if key else "",
        "layer": tensors.layers[key] if key else "",
        "group": [],
        "cause": tried["title"],
        "cause_id": tried["cause_id"],
        "confidence": tried["confidence"],
        "sentence": tried["sentence"],
        "fix": tried["fix"],
        "guesses": [],
    }


TASK = Compare()
