"""A sweep of training in processes like the user's own, one for each batch and each change: what each does, and what it hands on. Used in a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.architecture.losses import canonical_loss
from stethoscope.errors import CannotRun
from stethoscope.memory.configure import configured
from stethoscope.memory.fit_call import FitCall, fit_call
from stethoscope.memory.fit_changes import FitChange, UntriedChange, fit_changes, not_offered
from stethoscope.memory.fit_run import BATCHES, COPIES, HeldRun, measured_fit, measured_predict
from stethoscope.memory.one_process import SHARE, opening
from stethoscope.memory.plain import AtSize, PlainSweep
from stethoscope.memory.plain_run import PlainRun, Wanted, ended
from stethoscope.memory.plain_sweep import CHECKS, KeptSweep, while_running
from stethoscope.memory.points import named
from stethoscope.memory.run_settings import RunSettings
from stethoscope.memory.training_points import FitTrial, HeldBytes, TrainingSwept, compared, ranked
from stethoscope.task import Before, InNewProcess, TaskContext
from stethoscope.types import Status

CALL = "fit"
STEADY_ROWS = 4
"""From so many rows on a batch tells a slope: smaller ones are lost in what tracing takes."""
SLOWEST_S = 20.0
"""Changes are tried at the largest batch asked about whose call takes no longer."""


@dataclass(frozen=True)
class KeptTraining:
    """What one process hands to the next."""

    kept: KeptSweep
    how: FitCall
    row_bytes: int
    """Of data and labels, for one row."""
    kinds: tuple[str, ...]
    """Of changes that are asked for."""
    compare: bool
    """Whether `predict` is measured beside."""
    under_way: Wanted | FitChange | None = None
    """What this process does; None for `predict`."""
    held: tuple[tuple[int, HeldBytes], ...] = ()
    """By batch, at the first size: what `fit` held."""
    trials: tuple[FitTrial, ...] = ()
    predict: HeldRun | None = None

    def settled(self, before: Before, limit_bytes: int) -> KeptTraining:
        """With what was under way as one that did not fit, where its process ended of it."""
        if before.status is Status.OK:
            return self
        if isinstance(self.under_way, Wanted):
            run = ended(self.under_way, before)
            return self.with_sweep(self.kept.sweep.after(self.under_way, run, limit_bytes))
        if isinstance(self.under_way, FitChange):
            trial = FitTrial(self.under_way, before.status, before.reason)
            return replace(self, trials=(*self.trials, trial), under_way=None)
        return replace(self, compare=False)

    def with_sweep(self, sweep: PlainSweep) -> KeptTraining:
        """With other runs."""
        return replace(self, kept=replace(self.kept, sweep=sweep), under_way=None)

    @property
    def first(self) -> AtSize:
        """The first size of the open dimensions, at which changes are tried."""
        return self.kept.sweep.sizes[0]

    @property
    def base(self) -> PlainRun | None:
        """The run that changes are held against: the largest batch asked about that fitted and was quick enough."""
        ran = [run for run in self.first.runs if run.status is Status.OK and run.rows in self.kept.sweep.batch_sizes]
        quick = [run for run in ran if run.time_s * BATCHES <= SLOWEST_S] or ran[:1]
        return max(quick, key=lambda run: run.rows, default=None)

    def changes(self) -> tuple[FitChange, ...]:
        """All that are to be tried."""
        if self.base is None:
            return ()
        made = fit_changes(self.how.optimizer_name, self.base.rows, modern=self.how.modern)
        return tuple(change for change in made if change.kind in self.kinds)

    def next_change(self) -> FitChange | None:
        """The one that comes next; None when all were tried."""
        tried = {trial.change.id for trial in self.trials}
        return next((change for change in self.changes() if change.id not in tried), None)

    def value(self, limit_bytes: int) -> TrainingSwept:
        """The answer so far."""
        swept, base = self.kept.value(CALL, limit_bytes), self.base
        trials = ranked(self.trials, base.peak_bytes if base else None)
        rows = base.rows if base else 0
        untried: tuple[UntriedChange, ...] = ()
        if self.kinds and rows:
            untried = tuple(item for item in not_offered(rows, modern=self.how.modern) if item.kind in self.kinds)
        probes = {run.rows for at in self.kept.sweep.sizes for run in at.runs if run.purpose == "probe"}
        return TrainingSwept(
            **{**vars(swept), "calibrated_at": tuple(sorted(probes))},
            loss=", ".join(canonical_loss(loss)[0] for loss in self.how.losses if loss is not None),
            optimizer=self.how.optimizer_name,
            assumed=self.how.assumed,
            rows=BATCHES,
            row_bytes=COPIES * self.row_bytes,
            trials_batch=rows or None,
            trials=trials,
            untried=untried,
            best=next((trial.change.id for trial in trials if trial.lowers), ""),
            compared=self._compared(),
        )

    def _compared(self) -> Any:
        base, held = self.base, dict(self.held)
        if self.predict is None or base is None or base.rows not in held:
            return None
        fit = self.first.fit
        growth = fit.bytes_per_row if fit and len(fit.probes) > 1 else None
        predict = (self.predict.run.peak_bytes, self.predict.held)
        return compared(base.rows, base.rows * BATCHES, (base.peak_bytes, held[base.rows]), predict, growth)


def begun(
    context: TaskContext, settings: RunSettings, batch_sizes: Sequence[int], sizes: Sequence[int]
) -> InNewProcess:
    """What a first process tells: the sizes that the model takes, how it is trained, and on what labels."""
    with configured(context, settings) as opened:
        begin = opening(context, opened, sizes)
        given, fixed = begin.given, begin.given.batching.fixed
        one = given.batching.take(begin.fed[0][1], fixed or 1)
        how = fit_call(context, opened, begin.call(one))
        rows = tuple(batch_sizes) if fixed is None else (fixed,)
        found = tuple(
            AtSize(told.size if sizes else None, told.attempt, given.together, steady_rows=fixed or STEADY_ROWS)
            for told, _ in begin.fed
        )
        seek = bool(context.params.get("largest", True))
        sweep = PlainSweep(rows, found, bool(context.params.get("check")), fixed, BATCHES, seek)
        row_bytes = sum(array.nbytes for array in one.values()) // (fixed or 1)
        row_bytes += sum(target.array(1, 0).nbytes for target in how.targets)
        kinds = tuple(str(kind) for kind in context.params.get("changes") or ())
        kept = KeptTraining(
            KeptSweep(sweep, given.source, given.sizes.dimensions, begin.size_from, ()),
            how,
            row_bytes,
            kinds,
            bool(context.params.get("compare", True)),
        )
        context.save_partial(kept.value(context.budget.memory_bytes))
        return InNewProcess(kept)


def gone_on(context: TaskContext, settings: RunSettings, kept: KeptTraining) -> InNewProcess | TrainingSwept:
    """What this process does: the next batch, else the next change, else `predict`; the answer where nothing is left."""
    limit = context.budget.memory_bytes
    wanted = kept.kept.sweep.wanted(limit)
    if wanted is not None:
        return _batch(context, settings, kept, wanted)
    change = kept.next_change()
    if change is not None:
        return _change(context, settings, kept, change)
    if kept.compare and kept.predict is None and kept.base is not None:
        return _predict(context, settings, kept, kept.base)
    return kept.value(limit)


def _batch(context: TaskContext, settings: RunSettings, kept: KeptTraining, wanted: Wanted) -> InNewProcess:
    limit, sweep = context.budget.memory_bytes, kept.kept.sweep
    at = sweep.sizes[wanted.size_place]
    phase = "check" if wanted.purpose in CHECKS else "sweep"
    context.save_partial(while_running(kept.value(limit), wanted, at, phase))
    context.entrust(replace(kept, under_way=wanted))
    with configured(context, settings) as opened:
        context.report(phase, _done(kept), f"fit, {named(wanted.rows, at.size)}")
        found = measured_fit(context, opened, kept.how, at, wanted.rows, wanted.purpose)
        kept = kept.with_sweep(sweep.after(wanted, found.run, limit))
        if wanted.size_place == 0:
            kept = replace(kept, held=(*kept.held, (wanted.rows, found.held)))
        context.save_partial(kept.value(limit))
        return InNewProcess(kept)


def _change(context: TaskContext, settings: RunSettings, kept: KeptTraining, change: FitChange) -> InNewProcess:
    limit, base = context.budget.memory_bytes, kept.base
    rows = base.rows if base else 1
    context.entrust(replace(kept, under_way=change))
    with configured(context, settings) as opened:
        context.report("changes", _done(kept), change.title)
        try:
            run = measured_fit(context, opened, kept.how, kept.first, rows, "point", change).run
        except CannotRun as error:
            trial = FitTrial(change, Status.FAILED, str(error))
        else:
            over = run.peak_bytes > limit
            trial = FitTrial(
                change,
                Status.OUT_OF_MEMORY if over else Status.OK,
                "It took more than the limit." if over else "",
                run.peak_bytes,
                run.time_s / rows,
            )
        kept = replace(kept, trials=(*kept.trials, trial), under_way=None)
        context.save_partial(kept.value(limit))
        return InNewProcess(kept)


def _predict(context: TaskContext, settings: RunSettings, kept: KeptTraining, base: PlainRun) -> InNewProcess:
    context.entrust(replace(kept, under_way=None))
    with configured(context, settings) as opened:
        context.report("predict", SHARE, f"predict, {named(base.rows, kept.first.size)}")
        found = measured_predict(context, opened, kept.first, base.rows)
        kept = replace(kept, predict=found, under_way=None)
        context.save_partial(kept.value(context.budget.memory_bytes))
        return InNewProcess(kept)


def _done(kept: KeptTraining) -> float:
    """Of the bar: processes that ended, of those expected."""
    sweep = kept.kept.sweep
    ran = sum(len(at.runs) for at in sweep.sizes) + len(kept.trials)
    expected = len(sweep.batch_sizes) * len(sweep.sizes) + 3 + (7 if kept.kinds else 0)
    return min(SHARE, ran / expected)
