"""What a task is, and what it gets: its files, its parameters, its folder, a way to report, and its memory measured."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from stethoscope.codec import decode, plain, ready
from stethoscope.errors import StethoscopeError
from stethoscope.types import Architecture, Budget, ModelFile, Runner, Status

if TYPE_CHECKING:
    import numpy.typing as npt


A = TypeVar("A")
HANDED_OVER = "handed-over.json"
OPEN_SIZE = "open-size.json"
"""In a job's folder: from what state another process goes on when this one has ended."""


class Reporter(Protocol):
    """How a running task says where it is. Every call is one bounded JSON line to the parent."""

    def __call__(self, phase: str, fraction: float | None = None, message: str = "") -> None:
        """Says that `phase` is under way, `fraction` of it done."""
        ...


class Task(Protocol[A]):
    """One kind of job. `run` is called in a contained worker; it answers with a frozen dataclass, and leaves files."""

    kind: str
    answer: type[A]
    """What it answers with. A field that may not be known yet when a job is ended early has a default."""

    def run(self, context: TaskContext) -> A | InNewProcess:
        """Does the work, or the part of it that this process can do."""
        ...


def task_of(kind: str) -> Task[Any]:
    """The task of this kind, known by its name only; of the others nothing is imported.

    Raises:
        KeyError: there is none.
    """
    try:
        task: Task[Any] = importlib.import_module(f"stethoscope.tasks.{kind}").TASK
    except (ImportError, AttributeError) as error:
        raise KeyError(kind) from error
    return task


def await_answer(kind: str) -> None:
    """Prepares for the answer of a job of this kind, which takes a moment the first time."""
    ready(task_of(kind).answer)


def misfit(kind: str, value: Mapping[str, Any]) -> str:
    """Why a value is no answer of its kind of job, as the code is now; "" where it is one."""
    try:
        decode(task_of(kind).answer, value)
    except KeyError:
        return f"There is no job of the kind {kind}."
    except StethoscopeError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class InNewProcess:
    """Returned by a task in place of its answer: to go on in another process, with nothing of this one's memory.

    `state` is what that process gets, a dataclass or plain JSON values.
    """

    state: object


@dataclass(frozen=True)
class Before:
    """What the process before this one left, where a job goes on in another."""

    state: Mapping[str, Any]
    status: Status = Status.OK
    """How that process ended: "ok" where it asked to go on."""
    reason: str = ""
    peak_bytes: int = 0


class OpensModel(Protocol):
    """How a task comes by a model."""

    def __call__(self, role: str = "model", described: Callable[[], None] = ...) -> tuple[Architecture, Runner]:
        """Opens the model among the job's files that has this role; `described` is called before it is loaded."""
        ...


@dataclass(frozen=True)
class TaskContext:
    """What a task gets: its files, its parameters, its folder, and a way to report."""

    files: Mapping[str, ModelFile]
    params: Mapping[str, Any]
    folder: Path
    """The job's own folder: the only place it can write."""
    budget: Budget
    report: Reporter
    memory: MemoryMeter
    open_model: OpensModel
    """Recognises, describes and loads files["model"] (or the model in another role), refusing what the owner has not allowed."""
    before: Before | None = None
    """None in the first process of a job."""

    def entrust(self, state: object) -> None:
        """Says from what state another process shall go on, should this one run out of memory.

        Without it that ends the job. What is cancelled, out of time or crashed ends in any case.
        """
        _write(self.folder, HANDED_OVER, {"state": plain(state)})

    def keep_to_myself(self) -> None:
        """Takes `entrust` back: what ends this process ends the job."""
        (self.folder / HANDED_OVER).unlink(missing_ok=True)

    def foresee(self, open_size: int | None) -> None:
        """Tells how large what the model leaves open is here, for the report of a process that runs out of memory.

        None where there are several sizes, or none.
        """
        _write(self.folder, OPEN_SIZE, {"open_size": open_size})

    def save_partial(self, value: Any) -> None:
        """Keeps what is known so far, an answer or some of its fields: all there is if this process is killed."""
        _write(self.folder, "partial.json", value)

    def save(self, name: str, array: npt.NDArray[Any]) -> str:
        """Writes `array` as `name`.npy into the job's outputs; returns the file's name.

        Object arrays (strings from a model) are stored as fixed-width unicode: pickle is never used.
        """
        import numpy as np

        values = array.astype(str) if array.dtype.kind in "OS" else array
        path = self.folder / "out" / f"{name}.npy"
        path.parent.mkdir(exist_ok=True)
        np.save(path, values, allow_pickle=False)
        return path.name


class MemoryMeter(Protocol):
    """Measures and limits the memory of the process it lives in."""

    def watch(self) -> None:
        """Measures more exactly from now on, at a little cost in time."""
        ...

    def rest(self) -> None:
        """Ends what `watch` began."""
        ...

    def reset(self) -> None:
        """Starts a new measurement."""
        ...

    def start_here(self) -> None:
        """Counts from what is held now: what came before was our own work, none of the user's process."""
        ...

    def peak_bytes(self) -> int:
        """The most memory added since the last `reset`, in bytes."""
        ...

    def added_bytes(self) -> int:
        """Memory the job holds now beyond what the process started with, in bytes."""
        ...

    def enforce(self) -> None:
        """Turns the budget into a hard limit, so that going over is an error with a cause instead of a kill.

        Called after the model is loaded and warm: before that, frameworks abort instead of raising.
        """
        ...


def _write(folder: Path, name: str, value: object) -> None:
    temporary = folder / f"{name}.tmp"
    temporary.write_text(json.dumps(plain(value)))
    temporary.replace(folder / name)
