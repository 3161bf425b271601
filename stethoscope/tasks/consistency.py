"""Does the same input always give the same output? Repeated runs, batch 1 against N, training against inference mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stethoscope.errors import BadInput, CannotRun
from stethoscope.tasks.differences import Difference, first_layer, same_bits, worst
from stethoscope.tasks.inputs import ModelInput, model_input
from stethoscope.types import Architecture, Feed, Runner, TaskContext

RANDOM_TYPES = (
    "Dropout",
    "GaussianNoise",
    "GaussianDropout",
    "AlphaDropout",
    "Random",
    "Multinomial",
    "Bernoulli",
    "Sampl",
)
BATCH_TYPES = ("BatchNorm", "FusedBatchNorm", "Normalization", "BATCH_NORM")
_LAYER_ATTEMPTS = 4
_LAYER_ROWS = 4


@dataclass(frozen=True)
class Test:
    """One thing that was tried. `passed` is None when it does not apply to this model."""

    id: str
    name: str
    passed: bool | None
    detail: str
    max_abs_diff: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As in the command line's answer."""
        return {
            "id": self.id,
            "name": self.name,
            "passed": self.passed,
            "detail": self.detail,
            "max_abs_diff": self.max_abs_diff,
        }


@dataclass(frozen=True)
class _Found:
    layer: str
    gap: Difference
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {
            "layer": self.layer,
            "max_abs_diff": self.gap.max_abs_diff,
            "reason": self.reason,
            "values": list(self.gap.values),
            "index": list(self.gap.index),
        }


class Consistency:
    """params: {"runs", "seed", "batch_size", "atol", "trusted"}; files: "model", optionally "data"."""

    kind = "consistency"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns the `consistency` shape of the command line."""
        runs = max(2, int(context.params.get("runs", 5)))
        seed = int(context.params.get("seed", 0))
        batch_size = max(1, int(context.params.get("batch_size", 8)))
        atol = float(context.params.get("atol", 1e-5))
        architecture, opened = context.open_model()
        with opened as runner:
            given = model_input(context, architecture, runner, 0, seed, batch_size)
            feed = given.batching.take(given.feed, given.batching.fixed or batch_size)
            context.memory.enforce()
            study = _Study(context, architecture, runner, given, feed, atol)
            tests, found, outputs = study.run(runs)
        settings = {
            "runs": runs,
            "seed": seed,
            "batch_size": given.batching.rows(feed),
            "atol": atol,
            "dynamic_size": given.dynamic_size,
            "input": given.source,
        }
        failed = [test for test in tests if test.passed is False and test.id not in ("same-input-bitwise", "finite")]
        return {
            "consistent": not failed,
            "runs": runs,
            "first_difference": None if found is None else found.to_json(),
            "tests": [test.to_json() for test in tests],
            "settings": settings,
            "input": {name: {"shape": list(array.shape), "dtype": str(array.dtype)} for name, array in feed.items()},
            "samples": outputs,
        }


class _Study:
    def __init__(
        self,
        context: TaskContext,
        architecture: Architecture,
        runner: Runner,
        given: ModelInput,
        feed: Feed,
        atol: float,
    ) -> None:
        self.context, self.architecture, self.runner, self.given, self.feed, self.atol = (
            context,
            architecture,
            runner,
            given,
            feed,
            atol,
        )
        self.batching = given.batching
        self.types = {layer.path: layer.type for layer in architecture.layers}

    def run(self, runs: int) -> tuple[list[Test], _Found | None, dict[str, Any]]:
        reference = self.runner.predict(self.feed)
        last, bitwise, gap = reference, True, None
        for index in range(1, runs):
            self.context.report("repeat", index / runs, f"run {index + 1} of {runs}")
            again = self.runner.predict(self.feed)
            bitwise = bitwise and all(same_bits(reference[name], again[name]) for name in reference)
            found = worst(reference, again, self.atol)
            if found is not None and (
                gap is None or (found.beyond, found.max_abs_diff) > (gap.beyond, gap.max_abs_diff)
            ):
                gap, last = found, again
        steady = gap is None or not gap.beyond
        tests = [self._bitwise(runs, bitwise, gap), self._tolerant(runs, gap)]
        first = None if bitwise else self._first_between_runs(bits=steady)
        batch, batch_first = self._batch(reference, steady)
        tests += [batch, self._training(reference, steady), self._finite(reference)]
        return tests, first or batch_first, _samples(reference, last)

    def _bitwise(self, runs: int, bitwise: bool, gap: Difference | None) -> Test:
        name = "Same input, same output, to the bit"
        if bitwise:
            return Test("same-input-bitwise", name, True, f"{runs} runs on the same input agree in every bit.", 0.0)
        size = gap.max_abs_diff if gap else 0.0
        return Test("same-input-bitwise", name, False, f"{runs} runs differ by up to {size:.3g}.", size)

    def _tolerant(self, runs: int, gap: Difference | None) -> Test:
        name = "Same input, same output, within tolerance"
        size = gap.max_abs_diff if gap else 0.0
        if gap is None or not gap.beyond:
            return Test(
                "same-input-tolerance",
                name,
                True,
                f"{runs} runs agree within {self.atol:g} (largest gap {size:.3g}).",
                size,
            )
        detail = f"{runs} runs differ by up to {size:.3g}: one gave {_number(gap.values[0])}, another {_number(gap.values[1])}."
        return Test("same-input-tolerance", name, False, detail, size)

    def _batch(self, reference: Feed, steady: bool) -> tuple[Test, _Found | None]:
        id_, name = "batch-1-vs-n", "One row alone, or among others"
        count = self.batching.rows(self.feed)
        if self.batching.fixed is not None:
            return Test(id_, name, None, f"The model takes batches of {self.batching.fixed} only."), None
        if not steady:
            return Test(id_, name, None, "Not meaningful: the output already changes from run to run."), None
        per_row = {key: array for key, array in reference.items() if array.ndim and array.shape[0] == count}
        if count < 2 or not per_row:
            return Test(id_, name, None, "No output has one row for each input row."), None
        self.context.report("batch", 0.5, "batch 1 against N")
        gap, place = None, 0
        for row in range(min(count, 4)):
            try:
                alone = self.runner.predict(self._row(row))
            except (BadInput, CannotRun) as error:
                return Test(id_, name, None, f"It does not run on one row alone: {error}"), None
            found = worst({key: per_row[key][row : row + 1] for key in per_row}, alone, self.atol)
            if found is not None and (
                gap is None or (found.beyond, found.max_abs_diff) > (gap.beyond, gap.max_abs_diff)
            ):
                gap, place = found, row
        size = gap.max_abs_diff if gap else 0.0
        if gap is None or not gap.beyond:
            return Test(
                id_,
                name,
                True,
                f"Rows give the same result alone and in a batch of {count} (largest gap {size:.3g}).",
                size,
            ), None
        detail = f"Row {place} gives {_number(gap.values[0])} in a batch of {count} and {_number(gap.values[1])} alone (gap {size:.3g})."
        return Test(id_, name, False, detail, size), self._first_between_batches(place)

    def _training(self, reference: Feed, steady: bool) -> Test:
        id_, name = "train-vs-inference", "Training mode against inference mode"
        self.context.report("training mode", 0.8)
        try:
            trained = self.runner.predict(self.feed, training=True)
        except CannotRun as error:
            return Test(id_, name, None, str(error))
        if not steady:
            return Test(id_, name, None, "Not meaningful: the output already changes from run to run.")
        gap = worst(reference, trained, self.atol)
        switching = [path for path, kind in self.types.items() if kind.startswith((*RANDOM_TYPES, *BATCH_TYPES))]
        if gap is None or not gap.beyond:
            detail = "Both modes give the same output" + (
                f", although {_listed(switching)} can behave differently."
                if switching
                else ": no layer depends on the mode."
            )
            return Test(id_, name, True, detail, 0.0 if gap is None else gap.max_abs_diff)
        if switching:
            detail = f"The modes differ by up to {gap.max_abs_diff:.3g}, as {_listed(switching)} should make them."
            return Test(id_, name, True, detail, gap.max_abs_diff)
        detail = (
            f"The modes differ by up to {gap.max_abs_diff:.3g}, and no layer known to depend on the mode explains it."
        )
        return Test(id_, name, None if self._custom() else False, detail, gap.max_abs_diff)

    def _custom(self) -> bool:
        return not self.architecture.layers or bool(self.architecture.hazards)

    def _finite(self, reference: Feed) -> Test:
        bad = {
            key: int(array.size - np.isfinite(array).sum())
            for key, array in reference.items()
            if array.dtype.kind in "fc" and not np.isfinite(array).all()
        }
        name = "Output is finite"
        if not bad:
            return Test("finite", name, True, "No NaN and no infinity in any output.")
        listed = ", ".join(f"{count} in {key}" for key, count in bad.items())
        return Test("finite", name, False, f"NaN or infinite values on this input: {listed}.")

    def _row(self, row: int) -> Feed:
        return self.batching.part(self.feed, row, row + 1)

    def _first_between_runs(self, *, bits: bool) -> _Found | None:
        feed = self.batching.take(self.feed, self.batching.fixed or min(self.batching.rows(self.feed), _LAYER_ROWS))
        return self._locate(
            lambda: (self.runner.activations(feed), self.runner.activations(feed)), bits=bits, batch=False
        )

    def _first_between_batches(self, row: int) -> _Found | None:
        count = self.batching.rows(self.feed)

        def both() -> tuple[Feed, Feed]:
            many, alone = self.runner.activations(self.feed), self.runner.activations(self._row(row))
            return {
                path: array[row : row + 1] if array.ndim and array.shape[0] == count else array
                for path, array in many.items()
            }, alone

        return self._locate(both, bits=False, batch=True)

    def _locate(self, pair: Callable[[], tuple[Feed, Feed]], *, bits: bool, batch: bool) -> _Found | None:
        for attempt in range(_LAYER_ATTEMPTS):
            self.context.report("locate", attempt / _LAYER_ATTEMPTS, "comparing layer by layer")
            try:
                first, second = pair()
            except CannotRun:
                return None
            hit = first_layer(first, second, self.atol, bits=bits)
            if hit is not None:
                return _Found(hit[0], hit[1], self._reason(hit[0], batch))
        return None

    def _reason(self, path: str, batch: bool) -> str:
        kind = self.types.get(path) or self.types.get(path.split("#", maxsplit=1)[0]) or path.rsplit("/", 1)[-1]
        if kind.startswith(RANDOM_TYPES) or any(word in kind for word in ("Random", "Dropout", "Noise")):
            return f"{kind} draws random numbers at inference: it was called with training=True, or its random op has no seed."
        if kind.startswith(BATCH_TYPES) and batch:
            return (
                f"{kind} uses the statistics of the batch at inference (training=True), so rows influence each other."
            )
        if batch:
            return f"{kind} mixes the rows of a batch: its result for one row depends on the others."
        return f"{kind} is the first layer whose output changes between runs: it holds a random or stateful operation."


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _listed(paths: list[str]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def _samples(reference: Feed, other: Feed) -> dict[str, Any]:
    """A few values of each output from the first and the most different run, for the picture."""
    picture = {}
    for name, array in reference.items():
        if array.dtype.kind in "fiub" and name in other and other[name].shape == array.shape:
            first, second = array.reshape(-1)[:256], other[name].reshape(-1)[:256]
            picture[name] = {"first": first.astype(float).tolist(), "other": second.astype(float).tolist()}
    return picture


TASK = Consistency()
