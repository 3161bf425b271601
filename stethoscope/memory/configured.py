"""Opening a job's model under its settings: TensorFlow configured first, then the model loaded, then its precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from stethoscope import runtime_threads
from stethoscope.data.feeds.dummy import ModelInput, model_input
from stethoscope.errors import BadSetting
from stethoscope.memory.allocation import give_back_at_once
from stethoscope.memory.call_styles import Caller, caller
from stethoscope.memory.configure import configure
from stethoscope.memory.precision import AS_SAVED, largest_difference, with_precision
from stethoscope.memory.refusals import of_other_runtimes
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import detect
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Runner


@dataclass
class Configured:
    """A model opened under settings."""

    settings: RunSettings
    architecture: Architecture
    runner: Runner
    done: tuple[str, ...]
    """What was set before TensorFlow ran anything, in sentences."""
    precision_difference: dict[str, float | None] = field(default_factory=dict)
    """How far each output moved by the change of precision, on the first row."""

    def ready(
        self, context: TaskContext, samples: int, seed: int, on_batch: Callable[[int], None] | None = None
    ) -> tuple[ModelInput, Caller]:
        """The job's input, and the model to call with it: in the precision and call style of the settings, and warm.

        Args:
            context: the running job.
            samples: rows of random input; 0 for one batch.
            seed: of the random input.
            on_batch: see `call_styles.caller`.

        Raises:
            BadInput: as `model_input`.
            CannotRun: the model cannot be called in that style, or not be rebuilt in that precision.
        """
        batch = self.settings.batch_size
        if self.settings.precision == AS_SAVED:
            call = caller(self.runner, self.settings, on_batch=on_batch)
            return model_input(context, self.architecture, call, samples, seed, batch), call
        given = model_input(context, self.architecture, self.runner, samples, seed, batch)
        first = given.batching.take(given.feed, given.batching.fixed or 1)
        self._change_precision(first)
        call = caller(self.runner, self.settings, on_batch=on_batch)
        call(first)
        return given, call

    def _change_precision(self, feed: Feed) -> None:
        before = self.runner.predict(feed)
        self.runner = with_precision(self.runner, self.settings.precision)
        self.precision_difference = largest_difference(before, self.runner.predict(feed))


def settings_of(context: TaskContext) -> RunSettings:
    """The settings in params["settings"]; params["batch_size"] alone is enough.

    Raises:
        BadSetting: a setting makes no sense.
    """
    if context.params.get("settings") is not None:
        return RunSettings.from_json(context.params["settings"])
    return replace(RunSettings(), batch_size=max(1, int(context.params.get("batch_size", RunSettings().batch_size))))


@contextmanager
def configured(context: TaskContext) -> Iterator[Configured]:
    """Opens files["model"] under params["settings"]; first thing in a task, before any operation.

    The precision is as saved until `Configured.ready` is called.

    Raises:
        BadSetting: TensorFlow refuses a setting, or the file is not run by TensorFlow.
        StethoscopeError: as `TaskContext.open_model`.
    """
    settings = settings_of(context)
    if settings.allocator == "system":
        give_back_at_once()
    context.memory.watch()
    done: tuple[str, ...] = ()
    runtime_threads.choose(settings.intra_threads)
    if detect(context.files["model"]).worker == "tensorflow":
        context.report("configure", message="setting TensorFlow up")
        done = configure(settings)
    else:
        for refusal in of_other_runtimes(settings):
            raise BadSetting(f"{context.files['model'].name}: {refusal.message}")
    architecture, opened = context.open_model()
    with opened as runner:
        found = Configured(settings, architecture, runner, done)
        yield found
        if found.runner is not runner:
            found.runner.__exit__(None, None, None)
