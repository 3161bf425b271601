"""Puts settings into TensorFlow before its first operation. Called once, at the start of a worker's job.

Source: tensorflow.org/guide/gpu (memory growth, logical devices); tf.config.threading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stethoscope.errors import BadSetting
from stethoscope.framework_errors import gist
from stethoscope.memory.run_settings import RunSettings

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
