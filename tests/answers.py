"""Answers of jobs for tests that need no job: each is a real one, recorded once, with changes that a real one could have.

`answer("convert", top1_agreement=0.75)` is what a conversion answered, with one number changed. A key that no recorded answer of
that kind has is refused, at any depth, so a test cannot go on asserting what the engine no longer says.
`python -m tests.answers [NAME…]` runs the jobs again and writes `answers_of_jobs/`; `contracts/test_answers.py` holds them
against live jobs.
"""

from __future__ import annotations

import copy
import functools
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sample_models import BUILT
from stethoscope.codec import decode
from stethoscope.jobs.job_engine import Engine
from stethoscope.jobs.protocol import JobState
from stethoscope.tasks import all_tasks
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status, WorkerKind

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).with_name("answers_of_jobs")


@dataclass(frozen=True)
class Recipe:
    """A job whose answer is recorded: `files` by role are names of sample models, or make a file at a path."""

    kind: str
    files: Mapping[str, str | Callable[[Path], Path]]
    params: Mapping[str, Any] = field(default_factory=dict)
    worker: WorkerKind = "light"
    memory_bytes: int = 4 << 30
    timeout_s: float = 200

    def job(self, folder: Path) -> Job:
        """The job; files that are made are made in `folder`."""
        files = {
            role: ModelFile.at(BUILT / given if isinstance(given, str) else given(folder / f"{role}.onnx"))
            for role, given in self.files.items()
        }
        return Job(self.kind, files, self.params, Budget(self.memory_bytes, self.timeout_s), self.worker)


def with_another_bias(path: Path) -> Path:
    """The exported digits model, the bias of its last convolution moved."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(BUILT / "digits_cnn.onnx")
    read = [node.input[2] for node in model.graph.node if node.op_type == "Conv" and len(node.input) > 2]
    (bias,) = (one for one in model.graph.initializer if one.name == read[-1])
    bias.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(bias) + 0.5, bias.name))
    onnx.save(model, path)
    return path


def _hungry(path: Path) -> Path:
    from tests.small_models import hungry_onnx

    return hungry_onnx(path)


def _of_an_unknown_operator(path: Path) -> Path:
    """A frozen graph with an operator that ONNX does not have."""
    from tests.models.formats.tf_graphs import FLOAT, dense, node

    graph = dense()
    node(graph, "spectrum/odd", "Digamma", ["y"], T=FLOAT)
    path = path.with_suffix(".pb")
    path.write_bytes(graph.SerializeToString())
    return path


_DIGITS = {"model": "digits_cnn.onnx", "data": "digits_sample.npz"}
RECIPES: dict[str, Recipe] = {
    "activations": Recipe("activations", {"model": "wine_unscaled.keras"}, {"times": True, "rows": 8}, "tensorflow"),
    "compare": Recipe("compare", {**_DIGITS, "other": with_another_bias}, {"rows": 32}),
    "compare-quantised": Recipe("compare", {**_DIGITS, "other": "digits_cnn_int8.tflite"}, {"rows": 16}),
    "convert": Recipe("convert", {"model": "wine_unscaled.keras"}, {"target": "onnx"}, "tensorflow"),
    "convert-refused": Recipe("convert", {"model": _of_an_unknown_operator}, {"target": "onnx"}, "tensorflow"),
    "estimate": Recipe("estimate", {"model": "digits_cnn.onnx"}, {"batch_sizes": [1, 8]}),
    "label_doubts": Recipe("label_doubts", _DIGITS),
    "latency": Recipe(
        "latency", {"model": "digits_cnn.onnx", "other-1": "digits_cnn.tflite"}, {"batch_sizes": [1, 8], "seconds": 0.2}
    ),
    "placement": Recipe("placement", {"model": "wine_unscaled.keras"}, {"with_xla": "on"}, "tensorflow"),
    "predict": Recipe("predict", {"model": "digits_cnn.onnx"}, {"batch_size": 8}),
    "predict-out-of-memory": Recipe("predict", {"model": _hungry}, {"batch_size": 32}, memory_bytes=300 << 20),
    "replicas": Recipe("replicas", {"model": "wine_unscaled.keras"}, {"epochs": 2, "max_rows": 64}, "tensorflow"),
    "sweep": Recipe("sweep", {"model": "digits_cnn.onnx"}, {"batch_sizes": [1, 4, 16]}),
}
"""By name: the kind of the job, or the kind, a dash and what is special about this one."""
OPEN = {"convert": ("operators.before", "operators.after")}
"""Objects whose keys are names out of a model or data, by kind."""


def answer(name: str, /, **changes: Any) -> dict[str, Any]:
    """The recorded answer of this name with `changes`, of which objects go into the objects that are there.

    Raises:
        KeyError: a key that no recorded answer of the kind has.
        AssertionError: a value of another JSON type than any recorded one, or an object in a list that lacks keys.
    """
    return change(name, recorded(name)["value"], **changes)


def change(name: str, value: Mapping[str, Any], /, **changes: Any) -> dict[str, Any]:
    """`value`, an answer of that kind, with `changes`, which are refused as `answer` refuses them."""
    kind = RECIPES[name].kind
    changed: dict[str, Any] = merged(value, changes, shape_of_kind(kind), kind, OPEN.get(kind, ()))
    return changed


def typed(name: str, /, **changes: Any) -> Any:
    """`answer` as the type of its task."""
    return decode(all_tasks()[RECIPES[name].kind].answer, answer(name, **changes))


def row_of(name: str, path: str, place: int = 0, /, **changes: Any) -> dict[str, Any]:
    """The object at `place` of the list at `path` ("rows", "first_divergence.guesses") of a recorded answer, with `changes`."""
    kind, found, shape = RECIPES[name].kind, recorded(name)["value"], shape_of_kind(RECIPES[name].kind)
    for key in path.split("."):
        found, shape = found[key], shape.at(key)
    assert shape.items is not None, f"{name}: {path} is no list"
    changed: dict[str, Any] = merged(found[place], changes, shape.items, f"{kind}.{path}", ())
    return changed


def state_of(
    name: str,
    value: Mapping[str, Any] | None = None,
    status: Status | None = None,
    /,
    *,
    job_id: str = "",
    reason: str | None = None,
    error: str | None = None,
    files: Mapping[str, Path] | None = None,
    **params: Any,
) -> JobState:
    """A job that ended with `value`; what is not given is as it was recorded."""
    real = recorded(name)
    value = real["value"] if value is None else value
    result = JobResult(
        Status(real["status"]) if status is None else status,
        copy.deepcopy(dict(value)),
        real["reason"] if reason is None else reason,
        real["phase"],
        real["peak_rss_bytes"],
        real["wall_s"],
        files or {},
        real["error"] if error is None else error,
    )
    kind = RECIPES[name].kind
    return JobState(
        job_id or f"job-of-{name}-0123456789",
        kind,
        "me",
        "model",
        0.0,
        {**real["params"], **params},
        "done",
        result=result,
    )


@functools.cache
def recorded(name: str) -> dict[str, Any]:
    """What was recorded: {"status", "value", "reason", "phase", "peak_rss_bytes", "wall_s", "error", "params"}."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


@dataclass
class Shape:
    """JSON types that a place in an answer has, its keys if it is an object, and the shape of all its elements if it is a list."""

    types: set[str] = field(default_factory=set)
    keys: dict[str, Shape] = field(default_factory=dict)
    always: set[str] = field(default_factory=set)
    items: Shape | None = None

    def at(self, key: str) -> Shape:
        """The shape of what is under a key."""
        return self.keys[key]

    def take(self, value: Any) -> None:
        """Makes room for one more value."""
        first = "object" not in self.types
        self.types.add(type_of(value))
        if isinstance(value, Mapping):
            self.always = set(value) if first else self.always & set(value)
            for key, one in value.items():
                self.keys.setdefault(key, Shape()).take(one)
        elif isinstance(value, list):
            self.items = self.items or Shape()
            for one in value:
                self.items.take(one)


def type_of(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def shape_of(values: Iterable[Any]) -> Shape:
    """The shape of all of them together."""
    found = Shape()
    for value in values:
        found.take(value)
    return found


@functools.cache
def shape_of_kind(kind: str) -> Shape:
    """The shape of all recorded answers of a kind."""
    return shape_of(recorded(name)["value"] for name, recipe in RECIPES.items() if recipe.kind == kind)


def merged(real: Any, change: Any, shape: Shape, where: str, opened: tuple[str, ...]) -> Any:
    """`real` with `change`, as `answer` does it."""
    kind = type_of(change)
    known = shape.types - {"null"}
    assert not known or kind == "null" or kind in known, f"{where}: expected {' or '.join(sorted(known))}, got {kind}"
    if kind == "object":
        names = where.partition(".")[2] in opened
        unknown = set() if names else set(change) - set(shape.keys)
        if known and unknown:
            raise KeyError(f"{where}: no answer of this kind has {', '.join(sorted(unknown))}")
        held: dict[str, Any] = copy.deepcopy(dict(real)) if isinstance(real, Mapping) and not names else {}
        for key, one in change.items():
            held[key] = merged(held.get(key), one, shape.keys.get(key) or Shape(), f"{where}.{key}", opened)
        return held
    if kind == "array":
        items = shape.items or Shape()
        for one in change:
            lacking = items.always - set(one) if isinstance(one, Mapping) else set()
            assert not lacking, f"{where}: an element lacks {', '.join(sorted(lacking))}; start from row_of"
        return [merged(None, one, items, f"{where}[]", opened) for one in change]
    return change


def differences(one: Shape, other: Shape, opened: tuple[str, ...] = (), where: str = "") -> list[str]:
    """What of two shapes does not agree. What is null or empty in either says nothing."""
    if not (one.types - {"null"}) or not (other.types - {"null"}):
        return []
    if one.types - {"null"} != other.types - {"null"}:
        return [f"{where}: {sorted(one.types)} and {sorted(other.types)}"]
    found = []
    if where not in opened:
        found += [f"{where}.{key}" for key in sorted(set(one.keys) ^ set(other.keys))]
        for key in sorted(set(one.keys) & set(other.keys)):
            found += differences(one.keys[key], other.keys[key], opened, f"{where}.{key}".strip("."))
    if one.items is not None and other.items is not None:
        found += differences(one.items, other.items, opened, f"{where}[]")
    return found


def run(engine: Engine, name: str, folder: Path) -> JobResult:
    """Runs the job of this name anew."""
    recipe = RECIPES[name]
    return engine.wait(engine.submit(recipe.job(folder), fresh=True), recipe.timeout_s + 60)


def record(names: Iterable[str]) -> None:
    """Runs these jobs and writes down what they answered; where the packages are installed is told as a place of nobody's."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        engine = Engine(Path(made) / "engine", {"light": 1, "tensorflow": 1}, 1 << 62)
        for name in names:
            result = run(engine, name, Path(made))
            told = {
                "status": result.status.value,
                "value": result.value,
                "reason": result.reason,
                "phase": result.phase,
                "peak_rss_bytes": result.peak_rss_bytes,
                "wall_s": result.wall_s,
                "error": result.error,
                "params": dict(RECIPES[name].params),
            }
            text = json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False).replace(sys.prefix, "/python")
            (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")
            print(name, result.status.value, f"{result.wall_s} s", result.reason)
        engine.stop()


if __name__ == "__main__":
    record(sys.argv[1:] or RECIPES)
