"""Prove: train the model as it is and fixed copies of it, side by side.

Shows whether a fix helps: the training as it is beside a fixed copy, on the same rows and seeds. Worker only.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stethoscope.checks.findings import Proof
from stethoscope.checks.fixes import Fix, fix_from_json
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.compile_and_fit import EarlyStopping
from stethoscope.errors import BadSetting, CannotRun, StethoscopeError
from stethoscope.evidence.training import RunCurve
from stethoscope.program.model_config import is_model, walk
from stethoscope.program.setup import Setup
from stethoscope.task import TaskContext
from stethoscope.training import smaller_batch
from stethoscope.training.compare import Runs, Trainers, judged
from stethoscope.training.outcome import FitCrash
from stethoscope.training.skill import Scorer
from stethoscope.training.trainer import Trainer

SEEDS, TIME_S = 3, 45.0
MAX_SEEDS, MAX_FIXES = 10, 100


@dataclass(frozen=True)
class ProvedFixes:
    """What the fixes did: one proof per list of fixes, as far as there was time."""

    proofs: tuple[Proof, ...] = ()
    assumed: tuple[str, ...] = ()
    """What was assumed about the training, one sentence each."""


class Prove:
    """Judges fixes by what they do to the training of files["model"] on files["data"].

    params: {"fixes": one list of fixes (as `Fix.to_json` gives them) per finding, "seeds", "time_s", "fit", "trusted"}.
    """

    kind = "prove"
    answer = ProvedFixes

    def run(self, context: TaskContext) -> ProvedFixes:
        """Tries one list of fixes after another; the proofs so far are kept if the job is ended early.

        Raises:
            BadSetting: params["fixes"] is not a list of lists of fixes.
            BadInput, CannotRun: there is nothing to train; see `setup_from_job`.
        """
        from stethoscope.training.from_job import setup_from_job

        lists = _fixes(context.params.get("fixes"))
        seeds = max(1, min(MAX_SEEDS, int(context.params.get("seeds", SEEDS))))
        time_s = float(context.params.get("time_s", TIME_S))
        if context.before is not None:
            smaller_batch.find(context, context.before)
        _, setup, assumed = setup_from_job(context)
        smaller_batch.begin(context, setup.batch_size)
        proofs: list[Proof] = []

        def say(fraction: float, message: str) -> None:
            context.report("prove", fraction, f"fix {min(len(proofs) + 1, len(lists))} of {len(lists)}: {message}")

        prover = Prover(setup, seeds, time_s, len(lists), say)
        for fixes in lists:
            proofs.append(prover.prove(fixes))
            context.keep_to_myself()  # the training as it is has run: what a fix needs is no matter of its batch
            context.save_partial(ProvedFixes(tuple(proofs), assumed))
        return ProvedFixes(tuple(proofs), assumed)


def _fixes(value: Any) -> list[list[Fix]]:
    if not isinstance(value, list) or len(value) > MAX_FIXES or not all(isinstance(item, list) for item in value):
        raise BadSetting(f"Fixes to prove: expected a list of at most {MAX_FIXES} lists of fixes, got something else.")
    return [[fix_from_json(fix) for fix in item] for item in value]


TASK = Prove()


MIN_STEPS = 30
"""Fewer steps than this show nothing, unless the training itself asks for fewer."""
SLOWER = 3.0
"""A fixed run may take so many times as long as a base run (more epochs, smaller batches) before it is cut off."""
_HONEST = frozenset({"drop-features", "remove-duplicates"})
"""Fixes that take away what makes a score look better than it is: a lower score after them is no harm."""
_NEW_SCALE = frozenset({"add-regularisation", "class-weights", "scale-targets", "encode-labels"})
"""Fixes after which the loss is another quantity, even when its name stays."""

Say = Callable[[float, str], None]


@dataclass
class Prover:
    """Proves fixes one by one within a time budget; runs of the unchanged training are shared.

    Args:
        base: the training as it is.
        seeds: how many seeds each side gets.
        time_s: seconds for all runs together.
        fixes: how many fixes will be asked for.
        say: told (fraction of the time, what is under way).
    """

    base: Setup
    seeds: int
    time_s: float
    fixes: int
    say: Say = lambda fraction, message: None
    _trainers: Trainers = field(default_factory=Trainers)
    _begin: float = field(default_factory=time.perf_counter)
    _runs: dict[str, Runs] = field(default_factory=dict)
    _done: int = 0

    def prove(self, fixes: Sequence[Fix]) -> Proof:
        """Applies `fixes` in order to a copy of the training and compares. Never raises for what a model or a fix is."""
        begin = time.perf_counter()
        try:
            proof = self._proved(fixes)
        except CannotRun as error:
            proof = Proof("skipped", f"Not tried: {error}")
        self._done += 1
        return Proof(**{**vars(proof), "wall_s": time.perf_counter() - begin})

    def _proved(self, fixes: Sequence[Fix]) -> Proof:
        chosen = [fix for fix in fixes if fix.provable]
        if not chosen:
            return Proof("skipped", "Not tried: the change does not alter the training, so no run can show an effect.")
        kinds = _kinds(chosen)
        share = self._share()
        if share <= 0:
            return Proof("skipped", f"Not tried: the {self.time_s:.0f} s for proofs were used up. Allow more time.")
        if any(isinstance(fix, EarlyStopping) for fix in chosen):
            chosen = self._stopped_in_time(chosen, share)
        fixed = self.base
        for fix in chosen:
            fixed = fix.apply(fixed)
        before_setup, after_setup, final_against = _scored_alike(self._base_for(kinds), fixed)
        before = self._base_runs(before_setup, final_against, share)
        if before.too_slow:
            return Proof("skipped", before.too_slow)
        after = self._fixed_runs(after_setup, before, share)
        if len(self.base.y) > 1:
            before, after = _by_output(before, after, changed_outputs(self.base, fixed), self.base.outputs)
        same_loss = self.base.losses == fixed.losses and not kinds & _NEW_SCALE
        return judged(before, after, same_loss=same_loss, honest=bool(kinds & _HONEST))

    def _stopped_in_time(self, fixes: Sequence[Fix], share: float) -> list[Fix]:
        """Early stopping with the epoch at which the base runs were best on validation rows filled in."""
        runs = self._base_runs(self.base, None, share)
        best = [
            curve.score_epochs[min(range(len(curve.val_loss)), key=curve.val_loss.__getitem__)]
            for curve in runs.curves
            if len(curve.val_loss) == len(curve.score_epochs) > 0
        ]
        epoch = sum(best) / len(best) if best else None
        return [
            dataclasses.replace(fix, epochs=epoch) if isinstance(fix, EarlyStopping) and fix.epochs is None else fix
            for fix in fixes
        ]

    def _share(self) -> float:
        """Seconds for the next fix: an equal part of what is left, the base runs counting as one fix more."""
        left = self.time_s - (time.perf_counter() - self._begin)
        waiting = max(1, self.fixes - self._done)
        return left / (waiting + (0 if self._runs else 1))

    def _base_for(self, kinds: frozenset[str]) -> Setup:
        """What is compared with. New initial weights prove themselves against the file's, so every seed takes those."""
        if "set-initialiser" in kinds and self.base.from_file:
            return self.base.with_changes(keep_weights=frozenset(self.base.weight_layers))
        return self.base

    def _base_runs(self, setup: Setup, final_against: Setup | None, share: float) -> Runs:
        key = repr((sorted(setup.keep_weights), setup.losses, None if final_against is None else final_against.losses))
        if key not in self._runs:
            # The loop trains with the base's own losses whatever the scores are computed by.
            self._runs[key] = self._run(self.base, setup, share, self.seeds, final_against)
        return self._runs[key]

    def _fixed_runs(self, setup: Setup, before: Runs, share: float) -> Runs:
        if before.epochs_share < 1.0:
            setup = setup.with_changes(epochs=setup.epochs * before.epochs_share)
        return self._run(setup, setup, share, len(before.curves) or self.seeds, None, limit_s=before.run_s * SLOWER)

    def _run(
        self, built: Setup, setup: Setup, share: float, seeds: int, final_against: Setup | None, limit_s: float = 0.0
    ) -> Runs:
        """Trains `setup` on the model of `built`, seed by seed, as far as the time goes."""
        begin = time.perf_counter()
        self.say(min(1.0, (begin - self._begin) / self.time_s), "building and tracing")
        try:
            trainer = self._trainers.of(built)
            trainer.warm_up(setup)
        except FitCrash as crash:
            return Runs(crash=str(crash))
        except CannotRun as error:
            return Runs(crash=f"Keras cannot build it: {error}")
        per_run = max(limit_s, (share - (time.perf_counter() - begin)) / seeds)
        steps = trainer_steps(setup)
        if trainer.step_s * min(MIN_STEPS, steps) > max(per_run, share / 2):
            need = trainer.step_s * steps * seeds * 2
            return Runs(
                too_slow=f"Not tried: one step takes {trainer.step_s:.2f} s, so this proof needs about {need:,.0f} s and has "
                f"{share:,.0f} s. Allow more time, or give fewer rows or epochs."
            )
        return self._seeds(trainer, setup, per_run, seeds, final_against)

    def _seeds(self, trainer: Trainer, setup: Setup, per_run: float, seeds: int, final_against: Setup | None) -> Runs:
        scorer = Scorer.of(final_against or setup)
        runs = Runs(
            metric=scorer.name,
            held_out=bool(setup.y_val),
            rows=_scored_rows(setup),
            metrics=tuple(scale.metric for scale in scorer.scales),
        )
        epochs = setup.epochs
        for seed in range(seeds):
            part = (time.perf_counter() - self._begin) / self.time_s
            if seed and part > 1.0:
                break
            self.say(min(1.0, part), f"seed {seed + 1} of {seeds}")
            try:
                curve = trainer.run(setup.with_changes(epochs=epochs), seed, time_s=per_run)
            except FitCrash as crash:
                return Runs(crash=str(crash))
            except StethoscopeError as error:
                return Runs(crash=f"Keras cannot build it: {error}")
            if final_against is not None:
                scored = trainer.evaluation.scores(final_against)
                curve = RunCurve(
                    **{**vars(curve), "final": scored, "epoch_score": (), "score_epochs": (), "val_score": ()}
                )
            runs.curves.append(curve)
            runs.run_s = max(runs.run_s, curve.wall_s)
            if seed == 0 and curve.stopped == "time" and curve.epochs_done < epochs:
                # The other seeds, and the fixed copies, get as far as this one did.
                runs.epochs_share = curve.epochs_done / epochs
                epochs = curve.epochs_done
        runs.epochs = epochs
        return runs


def trainer_steps(setup: Setup) -> int:
    """Steps of the whole training."""
    return max(1, math.ceil(setup.epochs * math.ceil(setup.rows / max(1, setup.batch_size))))


def _kinds(fixes: Sequence[Fix]) -> frozenset[str]:
    found: set[str] = set()
    for fix in fixes:
        found.add(fix.kind)
        if isinstance(fix, Combined):
            found |= _kinds(fix.fixes)
    return frozenset(found)


def changed_outputs(base: Setup, fixed: Setup) -> list[int]:
    """The outputs whose loss, targets or own layer a fix changes."""
    before, after = _layers(base), _layers(fixed)
    return [
        place
        for place, (name, old, new) in enumerate(zip(base.outputs, base.y, fixed.y, strict=False))
        if new is not old or fixed.losses[place] != base.losses[place] or before.get(name) != after.get(name)
    ]


def _layers(setup: Setup) -> dict[str, Any]:
    if setup.config is None or not is_model(setup.config):
        return {}
    return {path: entry["config"] for path, entry in walk(setup.config)}


def _by_output(before: Runs, after: Runs, changed: Sequence[int], names: Sequence[str]) -> tuple[Runs, Runs]:
    """A change of one output is judged by that one's score; any other by the mean skill of all."""
    if len(changed) != 1:
        return before.of_all_outputs(), after.of_all_outputs()
    place = changed[0]
    return before.of_output(place, names[place]), after.of_output(place, names[place])


def _scored_rows(setup: Setup) -> int:
    return len(setup.y_val[0]) if setup.y_val else setup.rows


def _scored_alike(base: Setup, fixed: Setup) -> tuple[Setup, Setup, Setup | None]:
    """Both setups with scores of one kind: where only one loss treats the targets as classes, both are scored as classes.

    The third is what the base's final predictions are scored against instead of its own targets: where these are no
    classes in themselves (scaled labels), those of the fixed copy, row by row.
    """
    before, after = _score_kinds(base), _score_kinds(fixed)
    if before == after or len(before) != len(after):
        return base, fixed, None
    if "numbers" not in before:
        return (base, fixed.with_changes(y=(*fixed.y,), losses=base.losses) if "numbers" in after else fixed, None)
    alike = base.with_changes(y=(*base.y,), losses=fixed.losses)
    aligned = all(len(old) == len(new) for old, new in zip(base.y, fixed.y, strict=True))
    if "numbers" in _score_kinds(alike) and aligned and len(base.y_val) == len(fixed.y_val):
        against = base.with_changes(y=fixed.y, y_val=fixed.y_val, losses=fixed.losses)
        return base, fixed, against
    return alike, fixed, None


def _score_kinds(setup: Setup) -> tuple[str, ...]:
    return tuple(scale.kind for scale in Scorer.of(setup).scales)
