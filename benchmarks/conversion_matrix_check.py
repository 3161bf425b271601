"""Loads converted models with nothing of Stethoscope's: `python -m benchmarks.conversion_matrix_check CELLS.json`.

Each cell is {"kind", "target", "path", "rows": npz, "expected": npz}. Prints one JSON line before and one after each, so that a runtime
that ends the process is known by its cell.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

COMPARED = 16
Arrays = dict[str, Any]


def _onnx(path: str, rows: Arrays) -> tuple[Arrays, list[str]]:
    import onnx
    import onnxruntime

    onnx.checker.check_model(path, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    outputs = [one.name for one in session.get_outputs()]
    fed = rows if set(names) == set(rows) else dict(zip(names, rows.values(), strict=True))
    return dict(zip(outputs, session.run(outputs, fed), strict=True)), names


def _tflite(path: str, rows: Arrays) -> tuple[Arrays, list[str]]:
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=path)
    call = interpreter.get_signature_runner()
    about = call.get_input_details()
    names = list(about)
    fed = rows if set(names) == set(rows) else dict(zip(names, rows.values(), strict=True))
    if all(tuple(detail["shape_signature"])[:1] == (-1,) for detail in about.values()):
        return dict(call(**fed)), names
    batch = next(iter(about.values()))["shape"][0]
    parts = [call(**{name: value[at : at + batch] for name, value in fed.items()}) for at in range(0, COMPARED, batch)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, names


def _saved_model(path: str, rows: Arrays) -> tuple[Arrays, list[str]]:
    import tensorflow as tf

    model = tf.saved_model.load(path)
    call = model.signatures["serving_default"]
    names = list(call.structured_input_signature[1])
    fed = rows if set(names) == set(rows) else dict(zip(names, rows.values(), strict=True))
    found = call(**{name: tf.constant(value) for name, value in fed.items()})
    return {name: value.numpy() for name, value in found.items()}, names


def _frozen_graph(path: str, rows: Arrays) -> tuple[Arrays, list[str]]:
    """Its inputs are its placeholders, its outputs what no other operator reads."""
    import tensorflow as tf

    definition = tf.compat.v1.GraphDef.FromString(Path(path).read_bytes())
    read = {source.lstrip("^").partition(":")[0] for node in definition.node for source in node.input}
    names = [node.name for node in definition.node if node.op == "Placeholder"]
    outputs = [
        node.name for node in definition.node if node.name not in read and node.op not in ("Placeholder", "NoOp")
    ]
    wrapped = tf.compat.v1.wrap_function(lambda: tf.compat.v1.import_graph_def(definition, name=""), [])
    call = wrapped.prune([f"{name}:0" for name in names], [f"{name}:0" for name in outputs])
    fed = rows if set(names) == set(rows) else dict(zip(names, rows.values(), strict=True))
    found = call(*(tf.constant(fed[name]) for name in names))
    return {name: value.numpy() for name, value in zip(outputs, found, strict=True)}, names


_RUNTIMES = {".onnx": _onnx, ".tflite": _tflite, ".pb": _frozen_graph, "": _saved_model}
"""By the suffix of what was made; a folder has none."""


def _checked(cell: dict[str, Any]) -> dict[str, Any]:
    """{"max_abs", "max_rel" (of the largest expected value), "cosine", "inputs_kept", "outputs_kept"}."""
    with np.load(cell["rows"]) as stored:
        rows = {name: stored[name][:COMPARED] for name in stored.files}
    with np.load(cell["expected"]) as stored:
        expected = {name: stored[name] for name in stored.files}
    found, names = _RUNTIMES[Path(cell["path"]).suffix](cell["path"], rows)
    outputs_kept = set(found) == set(expected)
    if len(found) != len(expected):
        raise ValueError(f"{len(found)} outputs instead of {len(expected)}")
    if not outputs_kept and len(expected) > 1:
        raise ValueError(f"outputs called {sorted(found)} instead of {sorted(expected)}")
    pairs = (
        [(expected[name], found[name]) for name in expected]
        if outputs_kept
        else [(next(iter(expected.values())), next(iter(found.values())))]
    )
    figures = [_difference(a, b) for a, b in pairs]
    return {
        "max_abs": max(one[0] for one in figures),
        "max_rel": max(one[1] for one in figures),
        "cosine": min(one[2] for one in figures),
        "inputs_kept": set(names) == set(rows),
        "outputs_kept": outputs_kept,
    }


def _difference(a: Any, b: Any) -> tuple[float, float, float]:
    if a.shape != b.shape:
        raise ValueError(f"shape {b.shape} instead of {a.shape}")
    if not np.isfinite(b).all():
        raise ValueError("values that are no numbers")
    x, y = a.astype(np.float64).reshape(-1), b.astype(np.float64).reshape(-1)
    gap = float(np.abs(x - y).max())
    return gap, gap / float(np.abs(x).max()), float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))


def main() -> None:
    """See the module's docstring."""
    for cell in json.loads(Path(sys.argv[1]).read_text()):
        key = {"kind": cell["kind"], "target": cell["target"]}
        print(json.dumps(key | {"begun": True}), flush=True)
        try:
            answer: dict[str, Any] = {"ran": True, **_checked(cell)}
        except Exception as error:  # noqa: BLE001 - whatever a runtime raises is what is asked for
            answer = {"ran": False, "why": " ".join(f"{type(error).__name__}: {error}".split())[:300]}
        print(json.dumps(key | answer), flush=True)


if __name__ == "__main__":
    main()
