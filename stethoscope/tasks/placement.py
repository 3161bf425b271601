"""Train here, predict there: reproduce the clash of XLA with devices on two logical CPU devices, and try what helps.

The trial itself: train on one logical CPU device, predict on another, and try each remedy. Worker only.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.xla_use import XlaUse, xla_use
from stethoscope.framework_errors import explain, gist
from stethoscope.memory.configure import configure
from stethoscope.memory.run_settings import RunSettings
from stethoscope.task import TaskContext
from stethoscope.training.model import package
from stethoscope.training.placement.live_program import LiveProgram, setup_or_made
from stethoscope.training.placement.placement_report import Attempt, Clash, PlacementReport, summed_up
from stethoscope.training.placement.remedies import Remedy, remedies

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
                        when=planned.when,
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


TRAIN, PREDICT = "/CPU:0", "/CPU:1"
"""As on a machine with a GPU, training happens on the default device."""
_ELSEWHERE = re.compile(r"Trying to access resource (\S+)[^\n]*?located in device (\S+) from device (\S+)", re.DOTALL)
_RELATIVE, _ABSOLUTE = 1e-3, 1e-5
"""XLA adds in another order: outputs within this are equal (measured: 3e-7 for small models)."""

Arrays = list[npt.NDArray[Any]]


class Trial:
    """One model compiled one way.

    Args:
        program: the training.
        folder: an empty folder to save into.
        model_file: the name for the printed code.
        say: told what is under way.
    """

    def __init__(self, program: LiveProgram, folder: Path, model_file: str, say: Callable[[str], None]) -> None:
        self._program, self._folder, self._say = program, folder, say
        self._keras = package(program.setup.modern)
        self._ways = remedies(model_file, package=self._keras.__name__)
        self._trained: Any = None
        self._weights: Arrays = []
        self._reference: Arrays = []
        self.final_loss: float | None = None

    def clash(self, *, with_xla: bool, assumed: bool) -> Clash:
        """Trains on one device and predicts on the other."""
        import tensorflow as tf

        found = Clash(with_xla, assumed, False)
        how = "with XLA" if with_xla else "as saved"
        try:
            self._say(f"training {how}")
            with tf.device(TRAIN):
                self._trained = self._program.model(jit_compile=with_xla)
                self.final_loss = self._program.fit(self._trained, epochs=1)[-1]
                self._weights = [np.array(item) for item in self._trained.get_weights()]
                self._reference = self._program.predict(self._trained)
        except Exception as error:
            if explain(error) is not None:
                raise
            return replace(found, other_error=True, message=f"Training {how} failed: {gist(error)}")
        self._say(f"predicting on the other device, {how}")
        try:
            with tf.device(PREDICT):
                self._program.predict(self._trained)
        except Exception as error:
            if explain(error) is not None:
                raise
            place = _ELSEWHERE.search(str(error))
            if place is None:
                return replace(found, other_error=True, message=f"Predicting {how} failed: {gist(error)}")
            variable, has, calls = place.groups()
            return replace(
                found,
                happened=True,
                message=" ".join(place.group(0).split()),
                variable=variable,
                variable_device=_short(has),
                calling_device=_short(calls),
            )
        return found

    def planned(self) -> tuple[Attempt, ...]:
        """Every remedy, not tried yet."""
        return tuple(
            Attempt(way.id, way.title, False, None, None, "Not tried yet.", False, way.code, way.note, when=way.when)
            for way in self._ways
        )

    def attempt(self, remedy_id: str) -> Attempt:
        """Tries one remedy after a clash; compares its outputs with those of the model where it was trained."""
        way = next(way for way in self._ways if way.id == remedy_id)
        run = {"jit-off": self._jit_off, "scope": self._scope, "scope-load": self._scope_load, "clone": self._clone}
        self._say(f"{way.title[:1].lower()}{way.title[1:]}")
        start = time.monotonic()
        try:
            outputs = run[remedy_id]()
        except Exception as error:
            if explain(error) is not None:
                raise
            return self._told(way, start, reason=f"{gist(error)}.")
        differences = [_difference(one, two) for one, two in zip(self._reference, outputs, strict=True)]
        equal = all(
            np.allclose(one, two, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True)
            for one, two in zip(self._reference, outputs, strict=True)
        )
        return self._told(way, start, works=True, equal=equal, max_abs_diff=max(differences, default=0.0))

    def _told(self, way: Remedy, start: float, **found: Any) -> Attempt:
        wall_s = round(time.monotonic() - start, 3)
        told = {"works": False} | found | {"code": way.code, "note": way.note, "when": way.when}
        return Attempt(way.id, way.title, wall_s=wall_s, **told)

    def _jit_off(self) -> Arrays:
        import tensorflow as tf

        model = self._trained
        model.compile(optimizer=model.optimizer, loss=model.loss, jit_compile=False)
        with tf.device(PREDICT):
            return self._program.predict(model)

    def _scope(self) -> Arrays:
        import tensorflow as tf

        with tf.distribute.OneDeviceStrategy(TRAIN).scope(), tf.device(TRAIN):
            model = self._program.model(jit_compile=True)
            self._program.fit(model, epochs=1)
            model.set_weights(self._weights)  # so that the outputs can be compared
        with tf.device(PREDICT):
            return self._program.predict(model)

    def _scope_load(self) -> Arrays:
        import tensorflow as tf

        path = self._folder / "trained.keras"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._trained.save(path)
        with tf.distribute.OneDeviceStrategy(PREDICT).scope():
            # The file was opened for running, so whatever code it holds has been allowed for it.
            model = self._keras.models.load_model(path, safe_mode=False)
        path.unlink()
        with tf.device(PREDICT):
            return self._program.predict(model)

    def _clone(self) -> Arrays:
        import tensorflow as tf

        with tf.device(PREDICT):
            copy = self._keras.models.clone_model(self._trained)
            copy.set_weights(self._weights)
            return self._program.predict(copy)


def _difference(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> float:
    if one.shape != two.shape:
        return float("inf")
    gap = np.abs(one.astype(np.float64) - two.astype(np.float64))
    return float(np.nanmax(gap)) if gap.size and not np.isnan(gap).all() else 0.0


def _short(device: str) -> str:
    return "/" + device.rsplit("/device:", 1)[-1].strip(".,")
