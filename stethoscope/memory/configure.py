"""Settings of a run put into TensorFlow before its first operation, then into the model as it is loaded.

Source: tensorflow.org/guide/gpu (memory growth, logical devices); tf.config.threading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from stethoscope import devices
from stethoscope.architecture.open_sizes import Sizes
from stethoscope.data.dummy import ModelInput, model_input
from stethoscope.errors import BadSetting
from stethoscope.framework_errors import gist
from stethoscope.memory.call_styles import Caller, caller
from stethoscope.memory.precision import AS_SAVED, largest_difference, with_precision
from stethoscope.memory.refusals import of_other_runtimes
from stethoscope.memory.run_settings import RunSettings, give_back_at_once
from stethoscope.models.formats import detect
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Runner

_MIB = 1 << 20


def configure(settings: RunSettings) -> tuple[str, ...]:
    """Applies threads, visible devices, memory growth, limits and logical devices; returns what was done, in sentences.

    Call style, precision and XLA are no matter of the process: see `call_styles` and `precision`. The limit of the
    process is the job's budget.

    Raises:
        BadSetting: TensorFlow refuses a setting, there is no such device, or an operation has already run.
    """
    import tensorflow as tf

    done: list[str] = []
    if settings.intra_threads is not None:
        _set(tf.config.threading.set_intra_op_parallelism_threads, settings.intra_threads)
        done.append(f"{_counted(settings.intra_threads, 'thread')} within one operation.")
    if settings.inter_threads is not None:
        _set(tf.config.threading.set_inter_op_parallelism_threads, settings.inter_threads)
        done.append(f"{_counted(settings.inter_threads, 'operation')} at a time.")
    gpus = tf.config.list_physical_devices("GPU")
    if settings.device == "cpu" or (settings.device == "auto" and not gpus):
        if gpus:
            _set(tf.config.set_visible_devices, [], "GPU")
            done.append(f"The CPU only; {_counted(len(gpus), 'GPU')} hidden.")
        done += _on_cpu(tf, settings)
    else:
        done += _on_gpu(tf, settings, gpus)
    return tuple(done)


def _on_cpu(tf: Any, settings: RunSettings) -> list[str]:
    if settings.memory_growth:
        raise BadSetting("Memory growth: expected a GPU, got the CPU, which has no such setting. Leave it out.")
    if settings.gpu_memory_limit_bytes is not None or any(settings.logical_devices):
        raise BadSetting(
            "Memory limit of a device: expected a GPU, got the CPU, whose devices TensorFlow cannot limit. Use the memory "
            "limit of the process."
        )
    if not settings.logical_devices:
        return []
    cpu = tf.config.list_physical_devices("CPU")[0]
    number = len(settings.logical_devices)
    _set(
        tf.config.set_logical_device_configuration, cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(number)]
    )
    return [f"The CPU as {_counted(number, 'logical device')}."]


def _on_gpu(tf: Any, settings: RunSettings, gpus: list[Any]) -> list[str]:
    if not gpus:
        raise BadSetting(
            "Device: expected the CPU, got a GPU, of which TensorFlow sees none here (no card, no driver, or a TensorFlow "
            "without CUDA). Choose the CPU."
        )
    if settings.gpu_index >= len(gpus):
        raise BadSetting(
            f"GPU {settings.gpu_index}: expected one of 0 to {len(gpus) - 1}. Choose a card that TensorFlow sees."
        )
    gpu = gpus[settings.gpu_index]
    _set(tf.config.set_visible_devices, [gpu], "GPU")
    done = [f"GPU {settings.gpu_index}."]
    sizes = settings.logical_devices
    if settings.gpu_memory_limit_bytes is not None and not sizes:
        sizes = (settings.gpu_memory_limit_bytes,)
    if settings.memory_growth:
        if sizes:
            raise BadSetting(
                "Memory growth: expected no limit or logical devices on the same card, got both. TensorFlow accepts one of "
                "them; keep the limit."
            )
        _set(tf.config.experimental.set_memory_growth, gpu, True)
        done.append("Memory grows as it is needed.")
    if sizes:
        parts = [tf.config.LogicalDeviceConfiguration(memory_limit=max(1, size // _MIB)) for size in sizes]
        _set(tf.config.set_logical_device_configuration, gpu, parts)
        done.append(f"{_counted(len(sizes), 'logical device')} of {', '.join(f'{s // _MIB:,}' for s in sizes)} MiB.")
    return done


def _set(setter: Callable[..., Any], *arguments: Any) -> None:
    try:
        setter(*arguments)
    except RuntimeError as error:
        raise BadSetting(
            f"{setter.__name__}: expected a process in which TensorFlow has run nothing, got one that has. Start it in a "
            "process of its own."
        ) from error
    except ValueError as error:
        raise BadSetting(f"{setter.__name__}: TensorFlow refused it: {gist(error)}. Leave the setting out.") from error


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
        batch, size = self.settings.batch_size, Sizes.every(context.params.get("size"))
        if self.settings.precision == AS_SAVED:
            call = caller(self.runner, self.settings, on_batch=on_batch)
            return model_input(context, self.architecture, call, samples, seed, batch, size), call
        given = model_input(context, self.architecture, self.runner, samples, seed, batch, size)
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
def configured(context: TaskContext, settings: RunSettings | None = None) -> Iterator[Configured]:
    """Opens files["model"] under params["settings"], or others; first thing in a task, before any operation.

    The precision is as saved until `Configured.ready` is called.

    Raises:
        BadSetting: TensorFlow refuses a setting, or the file is not run by TensorFlow.
        StethoscopeError: as `TaskContext.open_model`.
    """
    settings = settings or settings_of(context)
    if settings.allocator == "system":
        give_back_at_once()
    context.memory.watch()
    done: tuple[str, ...] = ()
    devices.choose(settings.intra_threads)
    if detect(context.files["model"]).worker == "tensorflow":
        context.report("configure", message="setting TensorFlow up")
        done = configure(settings)
    else:
        for refusal in of_other_runtimes(settings):
            raise BadSetting(f"{context.files['model'].name}: {refusal.message}")
    own = settings.allocator == "system"
    # Reading the file for us is no work of a process like the user's.
    architecture, opened = context.open_model() if own else context.open_model(described=context.memory.start_here)
    with opened as runner:
        found = Configured(settings, architecture, runner, done)
        yield found
        if found.runner is not runner:
            found.runner.__exit__(None, None, None)
