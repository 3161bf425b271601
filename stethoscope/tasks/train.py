"""A short, instrumented training run of a copy of the model on the user's data, and what-if runs beside it.

Gathers `TrainingEvidence`: the base run with instruments, a few seeds of it, then trials, all within one time limit. Worker only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from stethoscope.errors import StethoscopeError
from stethoscope.evidence.training import GradientError, RunCurve, TrainingEvidence, Trial
from stethoscope.program.setup import Setup
from stethoscope.task import TaskContext
from stethoscope.training import smaller_batch
from stethoscope.training.compare import Trainers, compare, skill_of
from stethoscope.training.from_job import fit_settings, fitting_rows, setup_from_job
from stethoscope.training.gathering.blocked_layers import gradient_errors, has_suspects
from stethoscope.training.instruments import owners
from stethoscope.training.model import package
from stethoscope.training.outcome import FitCrash
from stethoscope.training.skill import SCORE_ROWS, expected_loss
from stethoscope.training.trainer import RunState, Trainer
from stethoscope.training.what_if import WhatIf, what_ifs

BASE_SHARE, SLOW_BASE_SHARE, MIN_BASE_SHARE = 0.45, 0.3, 0.25
"""Share of the time for the base runs; less when they could not end in it anyway, so that two trials fit behind."""
CHEAP_RUN_S, MODERATE_RUN_S = 0.4, 1.0
"""A base run that takes less gets three seeds, or two."""
REPEAT_S = 5.0
"""What a run with another seed may take in any case: on a busy machine a run of 0.1 s may well take four times as long."""
LEARNED = 0.97
"""Skill from which nothing is left to try for."""
MIN_STEPS = 20
"""A run that time ended sooner shows nothing that others could be compared with."""
TRACE_S = 1.0
MAX_STATE_BYTES = 128 << 20
HOPELESS_GAIN = 0.02
"""A trial whose first seed gains less is not repeated with other seeds."""
Say = Callable[[str, float, str], None]
Keep = Callable[[TrainingEvidence], None]


@dataclass
class Gatherer:
    """One gathering.

    Args:
        setup: the training as it is.
        epochs_asked: what the user said, None when nothing.
        assumed: sentences on what was assumed so far.
        time_s: seconds for everything.
        say: told (phase, fraction, message).
        keep: given the evidence so far, after the base runs and after each trial.
        warm: called once when the model has been traced.
    """

    setup: Setup
    epochs_asked: int | None
    assumed: tuple[str, ...]
    time_s: float
    say: Say = lambda phase, fraction, message: None
    keep: Keep = lambda evidence: None
    warm: Callable[[], None] = lambda: None
    trials: bool = True
    _trainers: Trainers = field(default_factory=Trainers)
    _states: dict[int, RunState] = field(default_factory=dict)
    _begin: float = field(default_factory=time.perf_counter)

    def run(self) -> TrainingEvidence:
        """The evidence; with `crashed` and nothing else when `fit` cannot run."""
        setup = self.setup
        evidence = self._frame()
        try:
            self.say("train", 0.0, "building, tracing and the first steps")
            trainer = self._trainers.of(setup)
            trainer.warm_up(setup)
            self.warm()
            evidence = self._base(trainer, evidence)
        except FitCrash as crash:
            return replace(evidence, crashed=str(crash))
        self.keep(evidence)
        if evidence.skill < LEARNED:
            evidence = replace(evidence, gradient_errors=self._gradient_errors(trainer))
        if not self.trials:
            return replace(evidence, untried=("Trials were not asked for.",))
        if evidence.skill >= LEARNED:
            return replace(
                evidence,
                untried=(f"Nothing was tried: the training as it is reaches a skill of {evidence.skill:.2f}.",),
            )
        if any(run.stopped == "time" and run.steps_done < MIN_STEPS for run in evidence.base):
            done = min(run.steps_done for run in evidence.base)
            return replace(
                evidence,
                untried=(f"Nothing was tried: in {self.time_s:.0f} s the training gets through {done} steps only.",),
            )
        return self._trials(trainer, evidence)

    def _gradient_errors(self, trainer: Trainer) -> tuple[GradientError, ...]:
        """Computed against measured gradients, where an operation, layer or loss that is not Keras' own may spoil them."""
        layers = owners(package(self.setup.modern), trainer.model)
        operations = [*getattr(trainer.model, "operations", ()), *(layer for _, layer in layers)]
        if not has_suspects(operations, trainer.losses):
            return ()
        self.say("gradients", 0.5, "comparing gradients with the slope of the loss")
        return gradient_errors(layers, trainer.batch_loss(self.setup))

    def _left(self) -> float:
        return self.time_s - (time.perf_counter() - self._begin)

    def _frame(self) -> TrainingEvidence:
        setup = self.setup
        from stethoscope.architecture.losses import canonical_loss

        losses = [canonical_loss(loss)[0] for loss in setup.losses if loss is not None]
        started = "initial weights" if setup.from_file else "new initial weights"
        return TrainingEvidence(
            loss=" + ".join(dict.fromkeys(losses)),
            optimizer=str(setup.optimizer.get("class_name", "")),
            learning_rate=setup.learning_rate,
            batch_size=setup.batch_size,
            epochs_asked=self.epochs_asked,
            steps_per_epoch=max(1, math.ceil(setup.rows / max(1, setup.batch_size))),
            train_rows=setup.rows,
            val_rows=len(setup.y_val[0]) if setup.y_val else 0,
            score_name="accuracy",
            chance=0.0,
            assumed=self.assumed,
            started_from="the file's weights" if setup.config is None else started,
        )

    def _base(self, trainer: Trainer, evidence: TrainingEvidence) -> TrainingEvidence:
        setup = self.setup
        scorer = trainer.evaluation.scorer(setup)
        evidence = replace(
            evidence,
            score_name=scorer.name,
            chance=scorer.chance,
            score_output=setup.outputs[scorer.head] if len(scorer.scales) > 1 and setup.outputs else "",
            expected_initial_loss=expected_loss(setup),
        )
        slow = trainer.step_s * math.ceil(setup.epochs * evidence.steps_per_epoch) > BASE_SHARE * self.time_s
        share = SLOW_BASE_SHARE if slow else BASE_SHARE
        # Tracing counts, but must not leave the run itself with nothing.
        budget = max(MIN_BASE_SHARE * self.time_s, share * self.time_s - (self.time_s - self._left()))
        seeds, runs = 1, list[RunCurve]()
        while len(runs) < seeds:
            seed = len(runs)
            run = trainer.run(
                setup,
                seed,
                time_s=max(0.2, budget if seed == 0 else min(budget, max(3 * runs[0].wall_s, REPEAT_S))),
                instrument=seed == 0,
                max_steps=runs[0].steps_done if runs and runs[0].stopped == "time" else None,
                on_progress=self._progress(f"base run, seed {seed + 1}", evidence.steps_per_epoch),
            )
            runs.append(run)
            budget -= run.wall_s
            if self._small(setup):
                self._states[seed] = trainer.state()
            if seed == 0:
                per_class = trainer.evaluation.last
                full = max(run.wall_s, trainer.step_s * self._total_steps(run) * (run.stopped == "non-finite"))
                seeds = 3 if full < CHEAP_RUN_S else 2 if full < MODERATE_RUN_S else 1
                evidence = replace(
                    evidence,
                    layers=trainer.layers,
                    sampled_steps=trainer.sampled_steps,
                    initial_loss=run.start.loss,
                    per_class_recall=per_class.per_class_recall if per_class else (),
                    per_class_count=per_class.per_class_count if per_class else (),
                )
            if budget <= 0:
                break
        return replace(evidence, base=tuple(runs), step_s=trainer.step_s)

    def _total_steps(self, run: RunCurve) -> int:
        return math.ceil(self.setup.epochs * max(1, math.ceil(self.setup.rows / self.setup.batch_size)))

    def _small(self, setup: Setup) -> bool:
        return sum(array.nbytes for array in setup.weights or ()) * 3 < MAX_STATE_BYTES

    def _progress(self, what: str, steps_per_epoch: int) -> Callable[[int, int], None]:
        def told(step: int, total: int) -> None:
            epoch, epochs = math.ceil(step / steps_per_epoch), math.ceil(total / steps_per_epoch)
            self.say("train", min(1.0, 1 - self._left() / self.time_s), f"{what}, epoch {epoch} of {epochs}")

        return told

    def _trials(self, trainer: Trainer, evidence: TrainingEvidence) -> TrainingEvidence:
        steps = max(run.steps_done for run in evidence.base)
        if any(run.stopped == "non-finite" for run in evidence.base):
            steps = self._total_steps(evidence.base[0])
            allowed = 0.25 * self._left() / max(trainer.step_s, 1e-7)
            steps = int(max(1, min(steps, allowed)))
        run_s = max(run.wall_s for run in evidence.base)
        run_s = max(run_s, steps * evidence.step_s) if math.isfinite(run_s) else steps * evidence.step_s
        for idea in what_ifs(self.setup, evidence.base):
            need = run_s * (2.0 if idea.make is None else 1.0) + (TRACE_S if idea.structural else 0.0)
            if idea.make is None and (any(run.stopped == "time" for run in evidence.base) or not self._states):
                evidence = _left_out(evidence, idea, "the run as it is already used up its time")
                continue
            if need > self._left():
                evidence = _left_out(
                    evidence, idea, f"it needs about {need:.0f} s, {max(0, self._left()):.0f} s are left"
                )
                continue
            self.say("trials", min(1.0, 1 - self._left() / self.time_s), idea.title)
            try:
                runs = (
                    self._longer(trainer, idea, evidence) if idea.make is None else self._tried(idea, evidence, steps)
                )
            except StethoscopeError as error:
                evidence = _left_out(evidence, idea, str(error))
                continue
            evidence = replace(evidence, trials=(*evidence.trials, self._judged(idea, evidence, runs)))
            self.keep(evidence)
        return evidence

    def _tried(self, idea: WhatIf, evidence: TrainingEvidence, steps: int) -> list[RunCurve]:
        assert idea.make is not None
        setup = idea.make()
        trainer = self._trainers.of(setup)
        # A smaller batch means more steps in the same epochs; everything else takes as many steps as the base.
        more = max(1.0, self.setup.batch_size / setup.batch_size)
        runs: list[RunCurve] = []
        for base in evidence.base:
            run = trainer.run(
                setup,
                base.seed,
                time_s=max(0.2, min(self._left(), 0.5 * self.time_s)),
                max_steps=math.ceil(steps * more),
                scores_between=False,
                on_progress=self._progress(idea.title, max(1, math.ceil(setup.rows / setup.batch_size))),
            )
            runs.append(run)
            if skill_of(run) - skill_of(base) < HOPELESS_GAIN and skill_of(base) < 0.85:
                break
            if self._left() < 1.5 * run.wall_s:
                break
        return runs

    def _longer(self, trainer: Trainer, idea: WhatIf, evidence: TrainingEvidence) -> list[RunCurve]:
        setup = self.setup.with_changes(epochs=idea.value or self.setup.epochs)
        trainer = self._trainers.of(setup)
        runs: list[RunCurve] = []
        for base in evidence.base:
            state = self._states.get(base.seed)
            if state is None:
                break
            run = trainer.run(
                setup,
                base.seed,
                time_s=max(0.2, min(0.5 * self._left(), 0.35 * self.time_s)),
                resume=state,
                scores_between=False,
                on_progress=self._progress(idea.title, evidence.steps_per_epoch),
            )
            runs.append(run)
            if skill_of(run) - skill_of(base) < HOPELESS_GAIN and skill_of(base) < 0.85:
                break
            if self._left() < 1.5 * (run.wall_s - base.wall_s):
                break
        return runs

    def _judged(self, idea: WhatIf, evidence: TrainingEvidence, runs: list[RunCurve]) -> Trial:
        rows = evidence.val_rows or evidence.train_rows
        found = compare(evidence.base, runs, rows=min(rows, SCORE_ROWS), same_loss=idea.same_loss)
        reached = max((run.epochs_done for run in runs), default=0.0)
        value = float(np.floor(reached)) if idea.make is None else idea.value
        return Trial(
            id=idea.id,
            title=idea.title if idea.make is not None else f"{value:g} epochs",
            runs=tuple(runs),
            detail=idea.detail,
            value=value,
            effect=found.effect,
            spread=found.spread,
            helps=found.verdict == "helps",
            worse=found.verdict == "worse",
            gain_train=found.gain_train,
            loss_ratio=found.loss_ratio,
        )


def _left_out(evidence: TrainingEvidence, idea: WhatIf, reason: str) -> TrainingEvidence:
    return replace(evidence, untried=(*evidence.untried, f"{idea.id} ({idea.title}): {reason}."))


TIME_S = 12.0
"""Seconds for everything after the model is loaded, unless params say otherwise."""


class Train:
    """params: {"fit": {…}, "time_s", "trials", "trusted"}; files: "model", "data"."""

    kind = "train"
    answer = TrainingEvidence

    def run(self, context: TaskContext) -> TrainingEvidence:
        """Trains; what is known so far is kept as the partial answer. Where memory runs out, says which batch was seen to fit."""
        if context.before is not None:
            smaller_batch.find(context, context.before)
        fit = fit_settings(context.params.get("fit"))
        _, setup, assumed = setup_from_job(context)
        setup, sentences = fitting_rows(setup, context.budget.memory_bytes)
        smaller_batch.begin(context, setup.batch_size)

        def keep(evidence: TrainingEvidence) -> None:
            context.keep_to_myself()  # the training as it is has run: what its trials need is no matter of its batch
            context.save_partial(evidence)

        gatherer = Gatherer(
            setup,
            fit.epochs,
            (*assumed, *sentences),
            float(context.params.get("time_s") or TIME_S),
            say=context.report,
            keep=keep,
            warm=context.memory.enforce,
            trials=bool(context.params.get("trials", True)),
        )
        return gatherer.run()


TASK = Train()
