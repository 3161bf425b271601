"""Train on one device and on several: two loss curves, whether they agree, and what makes them differ."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stethoscope.errors import BadSetting
from stethoscope.memory.configure import configure
from stethoscope.memory.run_settings import RunSettings
from stethoscope.task import TaskContext
from stethoscope.training.placement import config_changes
from stethoscope.training.placement.config_changes import NOISE_FACTOR, ROUNDING, ReplicaReport, distance, told
from stethoscope.training.placement.config_changes import program as printed_program
from stethoscope.training.placement.live_program import setup_or_made

DEVICES, EPOCHS, MAX_ROWS = 2, 6, 1024
MADE_BATCHES = 8
MAX_DEVICES = 8
REPEATS_WITH_RANDOM_LAYERS = 2
TIME_SHARE = 0.8
"""Of the job's time: no run is begun after it."""


class Replicas:
    """Trains copies of files["model"] on one logical CPU device and, with MirroredStrategy, on several.

    params: {"devices", "batch": "same" | "per replica", "epochs", "max_rows", "fit", "trusted"}; files: "model",
    optionally "data". "same": the batch is divided among the replicas; "per replica": each keeps it.
    """

    kind = "replicas"
    answer = ReplicaReport

    def run(self, context: TaskContext) -> ReplicaReport:
        """Trains on one device and on several; what is known so far is kept as the partial answer.

        Raises:
            BadSetting: params that make no sense.
            CannotRun, BadInput: there is no Keras model to train, or the data does not fit it.
        """
        devices, epochs, most, per_replica = _asked(context.params)
        configure(RunSettings(device="cpu", logical_devices=(0,) * devices))
        from stethoscope.training.placement.live_program import LiveProgram
        from stethoscope.training.placement.replica_trial import ReplicaTrial

        deadline = time.monotonic() + TIME_SHARE * context.budget.timeout_s
        _, setup, assumed = setup_or_made(context, MADE_BATCHES * 32)
        setup = setup.with_changes(live=setup.live, shuffle=False)
        program = LiveProgram(setup, rows=min(most, setup.rows), batch_size=setup.batch_size)
        context.memory.enforce()
        runs = 0

        def say(title: str) -> None:
            nonlocal runs
            runs += 1
            context.report("train", None, f"run {runs}: {title}")

        trial = ReplicaTrial(
            program, devices, epochs, per_replica=per_replica, more_time=lambda: time.monotonic() < deadline, say=say
        )
        way = trial.start
        package = "keras" if setup.modern else "tf_keras"
        code = printed_program(context.files["model"].name, package, devices, way.batch_size, per_replica=per_replica)
        report = ReplicaReport(
            devices, way.batch_size, way.global_batch_size, way.rows, epochs, code=code, assumed=assumed
        )

        def keep() -> ReplicaReport:
            nonlocal report
            report = replace(report, curves=tuple(trial.curves))
            report = replace(report, sentence=told(report))
            context.save_partial(report)
            return report

        one = trial.one("one", "One device", way)
        keep()
        several = trial.several("several", f"{devices} devices", way)
        keep()
        if not one.losses or not several.losses:
            return keep()
        noisy = bool(config_changes.random_layers(setup.config))
        repeats = REPEATS_WITH_RANDOM_LAYERS if noisy else 1
        again = [
            trial.one(f"one-again-{number}", "One device, rows of a batch in another order", way, again=number)
            for number in range(1, repeats + 1)
        ]
        spread = max((distance(one.losses, curve.losses) for curve in again if curve.losses), default=0.0)
        tolerance = max(ROUNDING, NOISE_FACTOR * spread if math.isfinite(spread) else 0.0)
        gap = distance(one.losses, several.losses)
        report = replace(report, gap=gap, tolerance=tolerance, agree=gap <= tolerance)
        keep()
        if noisy or not report.agree:
            for suspect in trial.suspects(one, gap, tolerance):
                report = replace(report, suspects=(*report.suspects, suspect))
                keep()
        return keep()


def _asked(params: Mapping[str, Any]) -> tuple[int, int, int, bool]:
    devices, epochs = int(params.get("devices", DEVICES)), int(params.get("epochs", EPOCHS))
    rows, batch = int(params.get("max_rows", MAX_ROWS)), str(params.get("batch", "same"))
    if not 2 <= devices <= MAX_DEVICES:
        raise BadSetting(f"Devices: expected 2 to {MAX_DEVICES}, got {devices}. Choose fewer or more.")
    if epochs < 1 or rows < 2:
        raise BadSetting(f"Training: expected at least 1 epoch and 2 rows, got {epochs} and {rows}. Correct them.")
    if batch not in ("same", "per replica"):
        raise BadSetting(f'Batch: expected "same" or "per replica", got {batch!r}. Choose one.')
    return devices, epochs, rows, batch == "per replica"


TASK = Replicas()
