"""Convert a model, and run what came of it: converted means that the target's own runtime has loaded it and answered."""

from __future__ import annotations

import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stethoscope.activations.model_rows import ModelRows
from stethoscope.architecture.open_sizes import sizes_to_try
from stethoscope.compare.convert import converter_to
from stethoscope.compare.convert.asking import Answered, Remembering, measured, measured_in_time
from stethoscope.compare.convert.converter import CannotConvert, Converter, Made, Options, Source, Unsupported
from stethoscope.compare.convert.made_file import OutputDifference, differences, doubts, fed_as, open_made, paired
from stethoscope.compare.convert.ways_round import refused
from stethoscope.compare.parity.array_difference import largest_of
from stethoscope.compare.parity.precision import Tolerance, precision_of, tolerance
from stethoscope.data.batching import Batching
from stethoscope.errors import CannotRun, StethoscopeError
from stethoscope.memory.configure import Configured
from stethoscope.memory.estimator import Estimator
from stethoscope.memory.run_settings import RunSettings, give_back
from stethoscope.models.formats import detect, format_of
from stethoscope.models.model_format import Ends
from stethoscope.sizes import human_bytes
from stethoscope.task import TaskContext
from stethoscope.tasks.estimate import HEADROOM_BYTES
from stethoscope.types import Architecture, Feed, ModelFile, Runner

ROWS = 8
"""Rows on which source and target are compared, where nobody says how many; fewer where they take long."""


@dataclass(frozen=True)
class OperatorsOfBoth:
    """How often each type of operator is in the source and in what was made of it."""

    before: Mapping[str, int]
    after: Mapping[str, int]


@dataclass(frozen=True)
class TimeOfBoth:
    """Seconds for all of `rows`: the median of a few calls."""

    before: float
    after: float
    rows: int


@dataclass(frozen=True)
class BytesOfBoth:
    """Peaks of source and target, each for the rows that are compared; None where it is not known."""

    before: int | None
    after: int | None


@dataclass(frozen=True)
class Conversion:
    """A file that was made, that its runtime has run, and how it compares with the source on the same rows."""

    target: str
    title: str
    """Of the target."""
    file: str
    """The name of the file that the job left ("model.onnx", "model.tflite", "model.pb", "saved_model.zip"),"""
    beside: tuple[str, ...]
    """and of files with its weights."""
    size_bytes: int
    source_size_bytes: int
    runs_in_target: bool
    max_abs_diff: float | None
    """The largest of all outputs; None where one of them has values that are no numbers."""
    top1_agreement: float | None
    """The share of rows with the same class; None where no output has classes."""
    outputs: tuple[OutputDifference, ...]
    rows: int
    source: str
    """Of the rows: "dummy" or the data file's name."""
    options: Options
    """What it was made with."""
    code: str
    """Python that converts the plain way."""
    operators: OperatorsOfBoth
    time_s: TimeOfBoth
    peak_bytes: BytesOfBoth
    """Above what was held before the call,"""
    estimated_peak_bytes: BytesOfBoth
    """and as it would be foretold."""
    convert_s: float
    convert_peak_bytes: int
    notes: tuple[str, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    """None: what lacks an operator is not converted."""


@dataclass(frozen=True)
class _Tried:
    """What was made, loaded and run."""

    architecture: Architecture
    outputs: tuple[OutputDifference, ...]
    time_s: float
    peak_bytes: int
    estimated_peak_bytes: int | None


class Convert:
    """Files: "model", optionally "data" (rows for comparing, and for the ranges of quantised targets).

    params: {"target", "options", "rows" (up to 8, as time allows), "seed", "preparation", "data_options", "trusted"}.
    """

    kind = "convert"
    answer = Conversion

    def run(self, context: TaskContext) -> Conversion:
        """Leaves the file, and those with its weights.

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
            return _Converting(context, converter, options, architecture, runner).run()


class _Rows:
    """Rows of the data, or random ones, for finding ranges."""

    def __init__(self, given: ModelRows, rows: int, batch_size: int) -> None:
        self._given, self._batch = given, batch_size
        self.source, self.rows = given.source, min(rows, given.rows)

    def feeds(self) -> Iterator[Feed]:
        """One call's worth after another."""
        for _, feed in self._given.batches(self.rows, self._batch):
            yield self._given.batching.take(feed, self._given.batching.fixed or self._batch)


class _Converting:
    """One job."""

    def __init__(
        self, context: TaskContext, converter: Converter, options: Options, architecture: Architecture, runner: Runner
    ) -> None:
        self._context, self._converter, self._options = context, converter, options
        self._architecture, self._runner = architecture, runner
        self._file = context.files["model"]
        self._folder = context.folder / "tmp" / "converted"
        self._folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> Conversion:
        context, options = self._context, self._options
        seed, rows = int(context.params.get("seed") or 0), max(1, int(context.params.get("rows") or ROWS))
        dummy = max(rows, options.calibration_rows) if self._converter.calibrated else rows
        asked = Remembering(self._runner)
        with ModelRows(context, self._architecture, asked, dummy_rows=dummy, seed=seed) as given:
            calibration = _Rows(given, options.calibration_rows, options.batch_size or 1)
            source = Source(self._file, self._architecture, self._runner, calibration)
            _, feed = given.at(range(min(rows, given.rows)))
            context.report("measure", 0.02, "asking the source")
            feed, before = self._before(given.batching.part(feed, 0, rows), given.batching, asked)
            give_back()
            context.memory.reset()
            start = time.perf_counter()
            made = self._converter.convert(source, options, self._folder, context.report)
            convert_s, convert_peak = time.perf_counter() - start, context.memory.peak_bytes()
            give_back()
            tried = self._tried(made, source, feed, before.outputs)
            file, beside = self._kept(made)
            limits = self._limits(tried.architecture)
            notes = [*made.notes, *doubts(before.outputs, before.again, tried.outputs, limits)]
            compared = Batching.of(self._runner.inputs).rows(feed)
            agreements = [one.top1_agreement for one in tried.outputs if one.top1_agreement is not None]
            return Conversion(
                target=self._converter.id,
                title=self._converter.title,
                file=file.name,
                beside=tuple(one.name for one in beside),
                size_bytes=sum(one.stat().st_size for one in (file, *beside)),
                source_size_bytes=_size(self._file.path),
                runs_in_target=True,
                max_abs_diff=largest_of([output.max_abs_diff for output in tried.outputs]),
                top1_agreement=min(agreements, default=None),
                outputs=tried.outputs,
                rows=compared,
                source=calibration.source,
                options=made.options or options,
                code=self._converter.code(self._architecture, made.options or options),
                operators=OperatorsOfBoth(_kinds(self._architecture), _kinds(tried.architecture)),
                time_s=TimeOfBoth(before.time_s, tried.time_s, compared),
                peak_bytes=BytesOfBoth(before.peak_bytes, tried.peak_bytes),
                estimated_peak_bytes=BytesOfBoth(
                    self._estimated(self._architecture, self._runner, feed), tried.estimated_peak_bytes
                ),
                convert_s=convert_s,
                convert_peak_bytes=convert_peak,
                notes=tuple(notes),
            )

    def _before(self, feed: Feed, batching: Batching, asked: Remembering) -> tuple[Feed, Answered]:
        """(the rows that are compared, the source's answers to them)."""
        ends, memory = format_of(self._architecture).ends(self._file), self._context.memory
        if self._context.params.get("rows"):
            return feed, measured(self._runner, feed, ends, memory)
        return measured_in_time(self._runner, asked, feed, batching, ends, memory)

    def _tried(self, made: Made, source: Source, feed: Feed, before: Feed) -> _Tried:
        """Loads what was made as any file, runs it on the same rows, and says how far it is off; and what it is."""
        size = human_bytes(_size(made.path))
        self._context.report("try", 0.85, f"the file is made ({size}); loading and running it in its own runtime")
        file = ModelFile(made.path, made.path.name)
        scratch = self._folder / "scratch"
        scratch.mkdir(exist_ok=True)
        try:
            described, opened = open_made(made.path, scratch)
            with opened as runner:
                names = paired([one.name for one in runner.outputs], made.outputs, made.output_order, list(before))
                fed = fed_as(feed, made, self._runner.inputs, runner.inputs)
                after = measured(runner, fed, self._ends_of(file, described, made, names), self._context.memory)
                estimated = self._estimated(described, runner, fed)
        except (CannotRun, StethoscopeError) as error:
            raise refused(error, source, file.path) from error
        outputs = differences(self._file.name, before, after.outputs, names, self._limits(described))
        return _Tried(described, outputs, after.time_s, after.peak_bytes, estimated)

    def _limits(self, made: Architecture) -> Tolerance:
        """What the precision of both explains."""
        return tolerance(precision_of(self._architecture), precision_of(made))

    def _estimated(self, architecture: Architecture, runner: Runner, feed: Feed) -> int | None:
        """The peak that would be foretold for these rows; None where that cannot be, or where memory is short."""
        context = self._context
        if context.budget.memory_bytes - context.memory.added_bytes() < HEADROOM_BYTES:
            return None
        context.report("estimate", 0.9, "what would have been said of its memory")
        opened = Configured(RunSettings(), architecture, runner, ())
        rows, shapes = Batching.of(runner.inputs).rows(feed), {name: array.shape for name, array in feed.items()}
        found = Estimator(opened).of([rows], sizes_to_try(runner.inputs, data=shapes)).estimates
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


def _kinds(architecture: Architecture) -> dict[str, int]:
    return dict(Counter(layer.type for layer in architecture.layers).most_common())


def _size(path: Path) -> int:
    return (
        path.stat().st_size if path.is_file() else sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
    )


TASK = Convert()
