"""Opening a side of a comparison in the way it is to be run: call style, precision, XLA, device, threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from stethoscope import runtime_threads
from stethoscope.compare.parity.side import Side
from stethoscope.compare.parity.ways import Way
from stethoscope.errors import BadSetting
from stethoscope.memory.call_styles import TITLES, caller
from stethoscope.memory.configure import configure
from stethoscope.memory.precision import AS_SAVED, with_precision
from stethoscope.memory.refusals import of_other_runtimes
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import detect
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, ModelFile

_OF_THE_PROCESS = ("device", "gpu_index", "intra_threads", "inter_threads", "memory_growth", "gpu_memory_limit_bytes")


def way_of(context: TaskContext, role: str, *, alone: bool) -> Way:
    """The way that a job's params ask for, with the process made ready for it. First thing in a task.

    Args:
        context: the running job; params["settings"] is of "model", params["other_settings"] of "other".
        role: whose way.
        alone: whether only this side is run in this process.

    Raises:
        BadSetting: a setting makes no sense, is refused, or would hold for the other side too.
    """
    asked = RunSettings.from_json(context.params.get("settings" if role == "model" else "other_settings"))
    other = RunSettings.from_json(context.params.get("other_settings" if role == "model" else "settings"))
    shared = [name for name in _OF_THE_PROCESS if getattr(asked, name) != getattr(other, name)]
    if not alone and shared:
        raise BadSetting(
            f"Setting {shared[0]}: two models in one process have the same. Let the first be recorded in a job of its own."
        )
    runtime_threads.choose(asked.intra_threads)
    said = list(_in_words(asked))
    if detect(context.files[role]).worker == "tensorflow":
        said += configure(asked)
    else:
        checked = replace(asked, batch_size=RunSettings().batch_size)
        for refusal in of_other_runtimes(checked):
            raise BadSetting(f"{context.files[role].name}: {refusal.message}")
        if asked.intra_threads is not None:
            said.append(f"{asked.intra_threads} thread{'s' if asked.intra_threads > 1 else ''} within one operation.")
    return Way(asked, tuple(said))


@contextmanager
def opened(context: TaskContext, role: str, way: Way) -> Iterator[Side]:
    """Opens the model in a role, to be run in a way.

    Raises:
        CannotRun: this model cannot be run in that way.
        StethoscopeError: as `TaskContext.open_model`.
    """
    architecture, model = context.open_model(role)
    with model as runner:
        changed = with_precision(runner, way.settings.precision)
        call = caller(changed, way.settings)
        try:
            yield Side(context.files[role], architecture, changed, call)
        finally:
            call.close()
            if changed is not runner:
                changed.__exit__(None, None, None)


def described(file: ModelFile) -> Architecture:
    """What a model says about itself, without running anything."""
    return detect(file).describe(file)


def _in_words(settings: RunSettings) -> Iterator[str]:
    usual = RunSettings()
    if settings.call != usual.call:
        yield f"Called as {TITLES[settings.call]}."
    if settings.xla:
        yield "Compiled with XLA."
    if settings.precision != AS_SAVED:
        yield f"Computes in {settings.precision}."
