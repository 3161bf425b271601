"""Whether a model is compiled so that XLA ties its variables to the device they were made on. Read without running it.

What follows from it on another device, and which remedy is for whom: each way was tried with TensorFlow 2.21 and Keras 3.15 on
two logical CPU devices.

Source: tensorflow.org/xla/known_issues#tfvariable_on_a_different_device; Keras 3.15 `Trainer._resolve_auto_jit_compile`
("auto" is XLA wherever there is a device other than a CPU, no `tf.distribute` scope, and every layer supports it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

SERVING = "Serving: another process or machine predicts. Recommended there."
DEVELOPMENT = "Development: one notebook trains on the GPU and looks at predictions on the CPU. Recommended there."
SEVERAL = "Several devices: training is spread over them, and predictions may stay there. Recommended there."
IN_PLACE = "Where saving is not wanted and both devices have room for the weights."


def on_another_device(architecture: Architecture) -> str:
    """What happens to a Keras model on another device, as its file says; "" where nothing ties it to one."""
    if xla_use(architecture).setting != "on":
        return ""
    return (
        "Compiled with jit_compile=True. In a fresh process, with the CPU only, it loads and predicts: XLA compiles it there, "
        'and again for each new shape. In a process that has its variables on a GPU, predict under tf.device("/CPU:0") '
        "ends with “Trying to access resource … located in device …/GPU:0 from device …/CPU:0”. Keras 3 writes True as well "
        'where jit_compile="auto" met a GPU, and takes a model loaded with compile=False to XLA there again.'
    )


def remedy_for_whom() -> tuple[tuple[str, str], ...]:
    """(situation, what to do), the remedy to take first in each."""
    return (
        ("serving", "load the file in a fresh process, on the device that predicts"),
        ("development in one process", "compile again with jit_compile=False"),
        ("several devices", "load and compile again within a strategy's scope, where Keras leaves XLA off"),
    )


def remedies_in_words() -> str:
    """The same as one sentence."""
    return "; ".join(f"{situation}: {what}" for situation, what in remedy_for_whom())


Setting = Literal["on", "auto", "off", "not said", "no Keras model"]


@dataclass(frozen=True)
class XlaUse:
    """What the file says about XLA."""

    setting: Setting
    """`jit_compile` of `model.compile`; "auto" and "not said" become XLA where Keras 3 trains on an accelerator."""
    optimizer: bool
    """Whether the optimizer's own update is compiled (`jit_compile=True` of a Keras 2 optimizer)."""
    functions: int
    """Functions of a SavedModel that must be compiled."""
    pins: bool
    """Whether running it as saved uses XLA wherever it runs."""
    sentence: str


def xla_use(architecture: Architecture) -> XlaUse:
    """Reads compile settings."""
    if not format_of(architecture).live:
        sentence = "Not a Keras model with compile settings: nothing in the file asks for XLA."
        return XlaUse("no Keras model", False, 0, False, sentence)
    details: Mapping[str, Any] = architecture.compile.details if architecture.compile is not None else {}
    optimizer = details.get("optimizer")
    config = optimizer.get("config") if isinstance(optimizer, Mapping) else None
    # Keras 3 optimizers have no such argument.
    in_optimizer = isinstance(config, Mapping) and config.get("jit_compile") is True
    said = details.get("jit_compile")
    setting: Setting = "on" if said is True else "auto" if said == "auto" else "off" if said is False else "not said"
    return XlaUse(setting, in_optimizer, 0, said is True, _sentence(setting, in_optimizer, architecture))


def _sentence(setting: Setting, optimizer: bool, architecture: Architecture) -> str:
    old = "Keras 2" in architecture.framework_version or "Keras 2" in architecture.display_format
    told = {
        "on": "Compiled with jit_compile=True: its programs can only be run on the device its variables are on.",
        "auto": 'Compiled with jit_compile="auto": Keras 3 uses XLA where it trains on an accelerator, which ties the '
        "variables to it.",
        "off": "Compiled with jit_compile=False: XLA does not tie its variables to a device. Keras 3 also saves False where "
        '"auto" was resolved on a machine without an accelerator; on one with a GPU the same program would use XLA.',
        "not said": "The file does not say jit_compile. Keras 2 leaves XLA off."
        if old
        else "The file does not say jit_compile. Keras 3 then uses XLA where it trains on an accelerator.",
        "no Keras model": "",
    }[setting]
    if optimizer:
        told += " The optimizer's update is compiled as well (jit_compile=True of the optimizer): so is training on another device."
    return told
