"""Profile the user's data against a model's inputs and outputs. Executes nothing."""

from __future__ import annotations

from dataclasses import replace

from stethoscope.data import open_data
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.data.rows import bind_all, data_of
from stethoscope.data.study.array_statistics import profile_array
from stethoscope.data.study.profiles import ArrayProfile, DataEvidence, Unprepared
from stethoscope.data.study.target_profile import profile_target
from stethoscope.errors import BadInput
from stethoscope.evidence.data_fit.raw_rows import unprepared
from stethoscope.evidence.data_fit.sampled_rows import sampled_rows
from stethoscope.models.formats import detect, format_of
from stethoscope.task import Reporter, TaskContext
from stethoscope.tasks.fit_data import Fitting
from stethoscope.types import Architecture, Feed

MAX_OTHERS = 20


def profile_data(arrays: Feed, architecture: Architecture, source: str, report: Reporter | None = None) -> DataEvidence:
    """Returns the profile of a data file's arrays. Runs no model; adds little memory to the arrays themselves."""
    bound = bind_all(arrays, architecture)
    specs = {spec.name: spec for spec in architecture.outputs}
    total = len(bound.inputs) + len(bound.targets) + len(bound.others)
    done = 0

    def say(name: str) -> None:
        nonlocal done
        if report is not None:
            report("profile", done / max(1, total), f"reading {name}")
        done += 1

    inputs: dict[str, ArrayProfile] = {}
    for name, array in bound.inputs.items():
        say(name)
        inputs[name] = profile_array(name, array)
    targets = {}
    for name, array in bound.targets.items():
        say(name)
        targets[name] = profile_target(name, array, specs.get(name), bound.inputs)
    others: dict[str, ArrayProfile] = {}
    for name, array in list(bound.others.items())[:MAX_OTHERS]:
        say(name)
        others[name] = profile_array(name, array, duplicates=False)
    return DataEvidence(source, inputs, targets, others, bound.problem, bound.rows)


class Profile:
    """params: none; files: "model", "data"."""

    kind = "profile"
    answer = DataEvidence

    def run(self, context: TaskContext) -> DataEvidence:
        """Reads both and profiles the data."""
        model, data = context.files["model"], context.files["data"]
        context.report("read", message=f"reading {model.name}")
        architecture = detect(model).describe(model)
        context.report("data", message=f"reading {data.name}")
        try:
            arrays = data_of(context)
        except BadInput:
            # Rows of many shapes: what is missing is known all the same.
            context.save_partial(DataEvidence(data.name, raw=_raw(context, architecture)))
            raise
        found = profile_data(arrays, architecture, data.name, context.report)
        texts = any(array.dtype.kind in "USO" for array in arrays.values())
        return replace(found, raw=_raw(context, architecture)) if texts else found


def _raw(context: TaskContext, architecture: Architecture) -> tuple[Unprepared, ...]:
    """Texts and rows of many shapes beside inputs that take numbers of one."""
    steps = Preparation.from_json(context.params.get("preparation") or ())
    file = context.files["data"]
    with open_data(file, context.budget.memory_bytes, context.params.get("data_options") or {}) as data:
        sampled, about = sampled_rows(data), data.about
    ends = format_of(architecture).ends(context.files["model"]).inputs
    fitting = Fitting(architecture, about, sampled, steps, ends, {})
    targets = [one.name for one in about.fields if one.role == "target"]
    return unprepared(fitting.inputs(), fitting.arrays, architecture, targets)


TASK = Profile()
