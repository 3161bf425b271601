"""The same run outside the dashboard: as Python to copy, and as a command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dashboard import recipe_inputs, session
from dashboard.data import data_use
from stethoscope.codec import partial_of
from stethoscope.data.dummy import FedInput
from stethoscope.jobs.protocol import JobState
from stethoscope.memory.call_styles import usual_call
from stethoscope.memory.prediction import Prediction
from stethoscope.memory.recipes import python_code
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

MIB = 1 << 20


def predict_code(
    name: str,
    architecture: Architecture,
    settings: Mapping[str, Any],
    data_name: str | None,
    given: Mapping[str, FedInput] | None = None,
) -> str:
    """Python that repeats a prediction: same seed, same samples, same batches, without the memory limit.

    Args:
        name: The model's file name; always printed as a Python literal.
        settings: "samples", "batch_size", "seed", "settings" (how it was called); "preparation" and "data_options" of the data.
        data_name: The file with the data, or None for random input.
        given: What the run fed, when it got that far.
    """
    kind = format_of(architecture)
    inputs = recipe_inputs.lines(architecture, settings, data_name, given or {})
    if kind.live:
        chosen = RunSettings.from_json(settings.get("settings"))
        chosen = replace(chosen, batch_size=int(settings["batch_size"]), memory_limit_bytes=None)
        return python_code(
            name,
            chosen,
            architecture.inputs,
            format_=kind,
            keras_2=architecture.of_keras_2,
            inputs=inputs,
            given=architecture.given,
        )
    program = kind.program(name, architecture)
    lines = ["import numpy as np", *program.imports, "", *inputs, "", *program.load, ""]
    lines += [
        f"batch_size = {int(settings['batch_size'])}",
        "samples = len(next(iter(inputs.values())))",
        "results = []",
        "for start in range(0, samples, batch_size):",
        "    batch = {name: values[start : start + batch_size] for name, values in inputs.items()}",
        *(f"    {line}" for line in program.call),
    ]
    return "\n".join(lines) + "\n"


def of_run(name: str, architecture: Architecture, state: JobState, limit_bytes: int) -> tuple[str, str]:
    """The run that is shown, as Python and as a command: from what it did, not from what the settings are now."""
    known = partial_of(state.result, Prediction) if state.result else None
    used = {"samples": 32, "batch_size": 32, "seed": 0, **state.params, **(vars(known.settings) if known else {})}
    given = known.input if known else {}
    sources = {fed.source for fed in given.values()} - {"dummy"}
    data = next(iter(sources), None)
    options = {
        "data": data,
        **data_use.command_options(state.params),
        "samples": None if data else used["samples"],
        "size": state.params.get("size"),
        "batch-size": used["batch_size"],
        "seed": used["seed"],
        "memory-limit": f"{int(used.get('memory_limit_bytes') or limit_bytes) // MIB}MiB",
        **_setting_options(state.params.get("settings") or {}, usual_call(format_of(architecture))),
    }
    return predict_code(name, architecture, used, data, given), command_line("predict", name, options)


def _setting_options(chosen: Mapping[str, Any], usual: str) -> dict[str, Any]:
    """Options of the command line for settings that are not the plain ones; `usual` is the call style of its own."""
    plain = RunSettings(call=usual).to_json()
    names = ("call", "precision", "device", "intra_threads", "inter_threads")
    found = {name.replace("_", "-"): chosen[name] for name in names if chosen.get(name, plain[name]) != plain[name]}
    lean = {"allocator": "system"} if chosen.get("allocator") == "system" else {}
    return found | lean | ({"xla": True} if chosen.get("xla") else {})


def command_line(verb: str, name: str, options: Mapping[str, Any], *others: str) -> str:
    """The `stethoscope` command equal to a run of the model in view: options without a value are left out.

    Args:
        verb: the command.
        name: the file it is about.
        options: by name. The owner's code and consent are added, unless the options say something of them.
        others: files that come behind the first.
    """
    parts = ["stethoscope", verb, *(one if not one.startswith("-") else f"./{one}" for one in (name, *others))]
    entry = session.current().entry
    own = {} if entry is None else {"code": entry.code and entry.code.name, "trust": entry.trusted or None}
    for option, value in {**options, **{key: own[key] for key in own if key not in options}}.items():
        if value is True:
            parts.append(f"--{option}")
        elif value is not None:
            parts += [f"--{option}", str(value)]
    return shlex.join(parts)
