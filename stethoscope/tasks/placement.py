"""Train here, predict there: reproduce the clash of XLA with devices on two logical CPU devices, and try what helps."""

from __future__ import annotations

import time
from typing import Any

from stethoscope.memory.configure import configure
from stethoscope.memory.run_settings import RunSettings
from stethoscope.task import TaskContext
from stethoscope.training.placement.live_program import setup_or_made
from stethoscope.training.placement.placement_report import Attempt, Clash, PlacementReport, XlaUse, summed_up, xla_use

STEPS, BATCH = 4, 16
TIME_SHARE = 0.8
"""Of the job's time: what is not begun by then is told as not tried."""


class Placement:
    """Trains a copy of files["model"] for a few steps on one logical CPU device and predicts on another.

    params: {"fit", "with_xla": "auto" | "as saved" | "on", "trusted"}; files: "model", optionally "data". "auto" tries
    the model as saved and, where that cannot clash, as Keras 3 would compile it on an accelerator.
    """

    kind = "placement"
    answer = PlacementReport

    def run(self, context: TaskContext) -> PlacementReport:
        """Trains, predicts, and tries what helps; what is known so far is kept as the partial answer.

        Raises:
            CannotRun, BadInput: there is no Keras model to train, or the data does not fit it.
        """
        configure(RunSettings(device="cpu", logical_devices=(0, 0)))
        from stethoscope.training.placement.clash import PREDICT, TRAIN, Trial
        from stethoscope.training.placement.live_program import LiveProgram

        deadline = time.monotonic() + TIME_SHARE * context.budget.timeout_s
        architecture, setup, assumed = setup_or_made(context, STEPS * BATCH)
        batch = min(BATCH, setup.batch_size, setup.rows)
        steps = max(1, min(STEPS, setup.rows // batch))
        # Whole batches only: XLA compiles a program for every size.
        program = LiveProgram(setup, rows=steps * batch, batch_size=batch)
        context.memory.enforce()
        use = xla_use(architecture)
        trial = Trial(
            program,
            context.folder / "tmp" / "trained",
            context.files["model"].name,
            lambda message: context.report("placement", message=message),
        )

        def kept(clash: Clash, attempts: tuple[Attempt, ...]) -> PlacementReport:
            report = PlacementReport(
                use,
                clash,
                attempts,
                TRAIN,
                PREDICT,
                program.rows,
                steps,
                trial.final_loss,
                assumed,
                summed_up(use, clash, attempts),
            )
            context.save_partial(report)
            return report

        clash = self._clash(trial, use, str(context.params.get("with_xla") or "auto"))
        attempts: tuple[Attempt, ...] = ()
        if clash.happened:
            attempts = trial.planned()
            # The remedy that recompiles the trained model comes last: the others start from it as it is.
            for planned in sorted(attempts, key=lambda attempt: attempt.id == "jit-off"):
                kept(clash, attempts)
                if time.monotonic() > deadline:
                    done = Attempt(
                        planned.id,
                        planned.title,
                        False,
                        None,
                        None,
                        "The time was up.",
                        False,
                        planned.code,
                        planned.note,
                    )
                else:
                    done = trial.attempt(planned.id)
                attempts = tuple(done if item.id == done.id else item for item in attempts)
        return kept(clash, attempts)

    def _clash(self, trial: Any, use: XlaUse, wanted: str) -> Clash:
        if wanted == "on" or use.setting == "on":
            clash: Clash = trial.clash(with_xla=True, assumed=use.setting != "on")
            return clash
        clash = trial.clash(with_xla=False, assumed=False)
        if wanted == "as saved" or clash.happened or clash.other_error:
            return clash
        supposed: Clash = trial.clash(with_xla=True, assumed=True)
        return supposed if supposed.happened else clash


TASK = Placement()
