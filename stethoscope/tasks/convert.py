"""Convert a model, and run what came of it: converted means that the target's own runtime has loaded it and answered."""

from __future__ import annotations

import shutil
import statistics
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stethoscope.activations.model_rows import ModelRows
from stethoscope.convert import converter_to
from stethoscope.convert.converter import CannotConvert, Converter, Made, Source
from stethoscope.convert.correspondence import fed_as, paired
from stethoscope.convert.made_file import open_made
from stethoscope.convert.options import Options
from stethoscope.convert.runtime_refusals import refused
from stethoscope.errors import CannotRun, StethoscopeError
from stethoscope.formats import detect, format_of
from stethoscope.formats.tflite_model.quantised_ends import (
    dequantised,
    quantised,
)
from stethoscope.memory.allocation import give_back
from stethoscope.memory.run_settings import RunSettings
from stethoscope.model_format import Ends
from stethoscope.task import TaskContext
from stethoscope.tasks.configured import Configured
from stethoscope.tasks.conversion_differences import differences, doubts
from stethoscope.tasks.estimate import HEADROOM_BYTES, estimates
from stethoscope.tasks.feeds import Batching
from stethoscope.tasks.row_calls import in_calls
from stethoscope.types import Architecture, Feed, ModelFile, Runner

ROWS = 8
"""Rows on which source and target are compared."""
_CALLS, _TIMED_S = 7, 3.0


class Convert:
    """Files: "model", optionally "data" (rows for comparing, and for the ranges of quantised targets).

    params: {"target", "options", "rows" (8), "seed", "preparation", "data_options", "trusted"}.
    """

    kind = "convert"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Leaves the file ("model.onnx", "model.tflite", "model.pb", "saved_model.zip") and returns

        {"target", "title", "file", "beside": [names of files with weights], "size_bytes", "source_size_bytes", "runs_in_target",
        "max_abs_diff", "top1_agreement", "outputs": [{"name", "in_target", "max_abs_diff", "mean_abs_diff", "nrmse",
        "cosine", "sqnr_db", "top1_agreement", "nonfinite"}], "unsupported": [], "notes", "rows", "source" (of the rows), "options", "code",
        "operators": {"before": {type: count}, "after": …}, "time_s": {"before", "after", "rows"}, "peak_bytes" and "estimated_peak_bytes": {"before", "after"},
        "convert_s", "convert_peak_bytes"}.

        Raises:
            CannotConvert: the target cannot express it, or its runtime refuses what came out.
            BadSetting: no such target or option.
        """
        converter = converter_to(str(context.params.get("target") or ""))
        options = Options.from_json(context.params.get("options") or {})
        context.memory.watch()
        architecture = detect(context.files["model"]).describe(context.files["model"])
        if reason := converter.refusal(architecture):
            raise CannotConvert(f"{context.files['model'].name}: {reason[:1].lower()}{reason[1:]}")
        architecture, opened = context.open_model()
        with opened as runner:
            return _Conversion(context, converter, options, architecture, runner).run()


class _Rows:
    """Rows of the data, or random ones, for finding ranges."""

    def __init__(self, given: ModelRows, rows: int, batch_size: int) -> None:
        self._given, self._batch = given, batch_size
        self.source, self.rows = given.source, min(rows, given.rows)

    def feeds(self) -> Iterator[Feed]:
        """One call's worth after another."""
        for _, feed in self._given.batches(self.rows, self._batch):
            yield self._given.batching.take(feed, self._given.batching.fixed or self._batch)


class _Conversion:
    """One job."""

    def __init__(
        self, context: TaskContext, converter: Converter, options: Options, architecture: Architecture, runner: Runner
    ) -> None:
        self._context, self._converter, self._options = context, converter, options
        self._architecture, self._runner = architecture, runner
        self._file = context.files["model"]
        self._folder = context.folder / "tmp" / "converted"
        self._folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> dict[str, Any]:
        context, options = self._context, self._options
        seed, rows = int(context.params.get("seed") or 0), max(1, int(context.params.get("rows") or ROWS))
        dummy = max(rows, options.calibration_rows) if self._converter.calibrated else rows
        with ModelRows(context, self._architecture, self._runner, dummy_rows=dummy, seed=seed) as given:
            calibration = _Rows(given, options.calibration_rows, options.batch_size or 1)
            source = Source(self._file, self._architecture, self._runner, calibration)
            _, feed = given.at(range(min(rows, given.rows)))
            feed = given.batching.part(feed, 0, rows)
            before, before_s, before_peak = self._measured(
                self._runner, feed, format_of(self._architecture).ends(self._file)
            )
            give_back()
            context.memory.reset()
            start = time.perf_counter()
            made = self._converter.convert(source, options, self._folder, context.report)
            convert_s, convert_peak = time.perf_counter() - start, context.memory.peak_bytes()
            give_back()
            value, described = self._tried(made, source, feed, before)
            value["time_s"] |= {"before": before_s}
            value["peak_bytes"] |= {"before": before_peak}
            file, beside = self._kept(made)
            context.report("again", 0.97, "asking the source once more, to tell whether it always answers the same")
            again, _, _ = self._measured(
                self._runner, feed, format_of(self._architecture).ends(self._file), timed=False
            )
            notes = [*made.notes, *doubts(before, again, value["outputs"], self._architecture, described)]
            value["estimated_peak_bytes"] |= {
                "before": self._estimated(self._architecture, self._runner, value["rows"])
            }
            return {
                "target": self._converter.id,
                "title": self._converter.title,
                "file": file.name,
                "beside": [one.name for one in beside],
                "size_bytes": sum(one.stat().st_size for one in (file, *beside)),
                "source_size_bytes": _size(self._file.path),
                "unsupported": [],
                "notes": notes,
                "options": (made.options or options).to_json(),
                "code": self._converter.code(self._architecture, made.options or options),
                "convert_s": convert_s,
                "convert_peak_bytes": convert_peak,
                **value,
            }

    def _tried(self, made: Made, source: Source, feed: Feed, before: Feed) -> tuple[dict[str, Any], Architecture]:
        """Loads what was made as any file, runs it on the same rows, and says how far it is off; and what it is."""
        self._context.report("try", 0.85, "loading and running it in its own runtime")
        file = ModelFile(made.path, made.path.name)
        scratch = self._folder / "scratch"
        scratch.mkdir(exist_ok=True)
        rows = Batching.of(self._runner.inputs).rows(feed)
        try:
            described, opened = open_made(made.path, scratch)
            with opened as runner:
                names = paired([one.name for one in runner.outputs], made.outputs, made.output_order, list(before))
                fed = fed_as(feed, made, self._runner.inputs, runner.inputs)
                after, after_s, after_peak = self._measured(runner, fed, self._ends_of(file, described, made, names))
                estimated = self._estimated(described, runner, rows)
        except (CannotRun, StethoscopeError) as error:
            raise refused(error, source, file.path) from error
        outputs = differences(self._file.name, before, after, names)
        biggest = [one["max_abs_diff"] for one in outputs]
        agreements = [one["top1_agreement"] for one in outputs if one["top1_agreement"] is not None]
        return {
            "runs_in_target": True,
            "outputs": outputs,
            "max_abs_diff": None if None in biggest else max(biggest),
            "top1_agreement": min(agreements) if agreements else None,
            "rows": rows,
            "source": source.calibration.source,
            "operators": {"before": _kinds(self._architecture), "after": _kinds(described)},
            "time_s": {"after": after_s, "rows": rows},
            "peak_bytes": {"after": after_peak},
            "estimated_peak_bytes": {"after": estimated},
        }, described

    def _estimated(self, architecture: Architecture, runner: Runner, rows: int) -> int | None:
        """The peak that would be foretold for these rows; None where that cannot be, or where memory is short."""
        context = self._context
        if context.budget.memory_bytes - context.memory.added_bytes() < HEADROOM_BYTES:
            return None
        context.report("estimate", 0.9, "what would have been said of its memory")
        opened = Configured(RunSettings(), architecture, runner, ())
        found = estimates(opened, [rows]).estimates
        return found[0].peak_bytes if found else None

    def _ends_of(self, file: ModelFile, described: Architecture, made: Made, outputs: Mapping[str, str]) -> Ends:
        """How the new file's inputs and outputs stand for real numbers; one made of a TFLite file keeps its integers."""
        own = format_of(self._architecture).ends(self._file)
        if not own.inputs and not own.outputs:
            return format_of(described).ends(file)
        return Ends(
            {name: own.inputs[original] for name, original in made.inputs.items() if original in own.inputs},
            {name: own.outputs[original] for name, original in outputs.items() if original in own.outputs},
        )

    def _measured(self, runner: Runner, feed: Feed, ends: Ends, *, timed: bool = True) -> tuple[Feed, float, int]:
        """(outputs as real numbers, seconds for all rows, the peak of the call in bytes above what was held before)."""
        batching = Batching.of(runner.inputs)
        fed = quantised(feed, runner.inputs, ends.inputs)
        self._context.memory.reset()
        held = self._context.memory.added_bytes()
        outputs = in_calls(runner.predict, fed, batching)
        peak = max(0, self._context.memory.peak_bytes() - held)
        took = _timed(lambda: in_calls(runner.predict, fed, batching)) if timed else 0.0
        return dequantised(outputs, ends.outputs), took, peak

    def _kept(self, made: Made) -> tuple[Path, list[Path]]:
        """Puts what was made where the job leaves its files; a folder becomes one file."""
        self._context.report("keep", 0.95, "keeping the file")
        out = self._context.folder / "out"
        out.mkdir(exist_ok=True)
        if made.path.is_dir():
            target = out / f"{made.path.name}.zip"
            with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
                for path in sorted(made.path.rglob("*")):
                    archive.write(path, path.relative_to(made.path))
            return target, []
        data = made.path.with_name(f"{made.path.name}.data")
        beside = [Path(shutil.move(data, out / data.name))] if data.exists() else []
        return Path(shutil.move(made.path, out / made.path.name)), beside


def _timed(call: Callable[[], object]) -> float:
    """The median of a few calls, in seconds."""
    times: list[float] = []
    while len(times) < _CALLS and (not times or sum(times) < _TIMED_S):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _kinds(architecture: Architecture) -> dict[str, int]:
    return dict(Counter(layer.type for layer in architecture.layers).most_common())


def _size(path: Path) -> int:
    return (
        path.stat().st_size if path.is_file() else sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
    )


TASK = Convert()
