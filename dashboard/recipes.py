"""The same run outside the dashboard: as Python to copy, and as a command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from dashboard import recipe_inputs
from dashboard.data import data_use
from stethoscope.jobs.state import JobState
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import Architecture

MIB = 1 << 20


def predict_code(
    name: str,
    architecture: Architecture,
    settings: Mapping[str, Any],
    data_name: str | None,
    given: Mapping[str, Any] | None = None,
) -> str:
    """Python that repeats a prediction: same seed, same samples, same batches, without the memory limit.

    Args:
        name: The model's file name; always printed as a Python literal.
        settings: "samples", "batch_size", "seed"; "preparation" and "data_options" of the data.
        data_name: The file with the data, or None for random input.
        given: What the run fed, {name: {"shape", "dtype"}}, when it got that far.
    """
    kind = architecture.format_id
    if kind.startswith("tflite"):
        body = _tflite(name)
    elif kind.startswith("onnx"):
        body = _onnx(name)
    elif "saved" in kind:
        body = _saved_model(name)
    elif "frozen" in kind or kind in {"pb", "graphdef"}:
        body = _frozen(name, architecture)
    else:
        body = _keras(name, architecture)
    imports, load, call = body
    lines = [
        "import numpy as np",
        *imports,
        "",
        *recipe_inputs.lines(architecture, settings, data_name, given or {}),
        "",
        *load,
        "",
    ]
    lines += [
        f"batch_size = {int(settings['batch_size'])}",
        "samples = len(next(iter(inputs.values())))",
        "results = []",
        "for start in range(0, samples, batch_size):",
        "    batch = {name: values[start : start + batch_size] for name, values in inputs.items()}",
        *(f"    {line}" for line in call),
    ]
    return "\n".join(lines) + "\n"


def of_run(name: str, architecture: Architecture, state: JobState, limit_bytes: int) -> tuple[str, str]:
    """The run that is shown, as Python and as a command: from what it did, not from what the settings are now."""
    value = state.result.value if state.result else {}
    used = {"samples": 32, "batch_size": 32, "seed": 0, **state.params, **(value.get("settings") or {})}
    given = value.get("input") or {}
    sources = {str(item.get("source")) for item in given.values()} - {"dummy", "None"}
    data = next(iter(sources), None)
    options = {
        "data": data,
        **data_use.command_options(state.params),
        "samples": None if data else used["samples"],
        "batch-size": used["batch_size"],
        "seed": used["seed"],
        "memory-limit": f"{int(used.get('memory_limit_bytes') or limit_bytes) // MIB}MiB",
        **_setting_options(state.params.get("settings") or {}),
    }
    return predict_code(name, architecture, used, data, given), command_line("predict", name, options)


def _setting_options(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the command line for settings that are not the plain ones."""
    plain = RunSettings().to_json()
    names = ("call", "precision", "device", "intra_threads", "inter_threads")
    found = {name.replace("_", "-"): chosen[name] for name in names if chosen.get(name, plain[name]) != plain[name]}
    return found | ({"xla": True} if chosen.get("xla") else {})


def command_line(verb: str, name: str, options: Mapping[str, Any]) -> str:
    """The `stethoscope` command equal to a run: options without a value are left out."""
    parts = ["stethoscope", verb, name if not name.startswith("-") else f"./{name}"]
    for option, value in options.items():
        if value is True:
            parts.append(f"--{option}")
        elif value is not None:
            parts += [f"--{option}", str(value)]
    return shlex.join(parts)


def _keras(name: str, architecture: Architecture) -> tuple[list[str], list[str], list[str]]:
    old = architecture.framework_version.startswith(("Keras 1", "Keras 2"))
    module = "tf_keras" if old else "keras"
    single = len(architecture.inputs) == 1
    feed = "next(iter(batch.values()))" if single else "list(batch.values())"
    return (
        [f"import {module}"],
        [f"model = {module}.models.load_model({name!r})"],
        [f"results.append(model({feed}, training=False))"],
    )


def _tflite(name: str) -> tuple[list[str], list[str], list[str]]:
    return (
        ["from ai_edge_litert.interpreter import Interpreter"],
        [
            f"interpreter = Interpreter({name!r})",
            "details = {item['name']: item['index'] for item in interpreter.get_input_details()}",
        ],
        [
            "for name, values in batch.items():",
            "    interpreter.resize_tensor_input(details[name], values.shape)",
            "interpreter.allocate_tensors()",
            "for name, values in batch.items():",
            "    interpreter.set_tensor(details[name], values)",
            "interpreter.invoke()",
            "results.append([interpreter.get_tensor(item['index']) for item in interpreter.get_output_details()])",
        ],
    )


def _onnx(name: str) -> tuple[list[str], list[str], list[str]]:
    return (
        ["import onnxruntime"],
        [f"session = onnxruntime.InferenceSession({name!r}, providers=['CPUExecutionProvider'])"],
        ["results.append(session.run(None, batch))"],
    )


def _saved_model(name: str) -> tuple[list[str], list[str], list[str]]:
    folder = name.split(".", maxsplit=1)[0] or "model"
    return (
        ["import tensorflow as tf"],
        [
            f"model = tf.saved_model.load({folder!r})  # the unpacked folder",
            "serve = model.signatures['serving_default']",
        ],
        ["results.append(serve(**{name: tf.constant(values) for name, values in batch.items()}))"],
    )


def _frozen(name: str, architecture: Architecture) -> tuple[list[str], list[str], list[str]]:
    outputs = [_tensor(spec.name) for spec in architecture.outputs]
    return (
        ["import tensorflow as tf"],
        [
            f"graph_def = tf.compat.v1.GraphDef.FromString(open({name!r}, 'rb').read())",
            "graph = tf.Graph()",
            "with graph.as_default():",
            "    tf.import_graph_def(graph_def, name='')",
            "session = tf.compat.v1.Session(graph=graph)",
        ],
        [
            f"results.append(session.run({outputs!r}, {{name if ':' in name else name + ':0': values for name, values in batch.items()}}))"
        ],
    )


def _tensor(name: str) -> str:
    return name if ":" in name else f"{name}:0"
