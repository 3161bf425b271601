"""`compare` on networks that its rules were not made with: clean pairs of all formats, and faults at layers drawn at random.

    python -m benchmarks.unmet_divergences clean|planted [--seed N] [--networks a,b] [--each N]

A row of JSON to stderr for each pair, the whole to stdout.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.divergence_scores import scored, summary
from benchmarks.planted_divergences import _erfc
from benchmarks.unmet_faults import drawn
from benchmarks.unmet_models import HELD_BACK, NETWORKS, built
from stethoscope.cli import run as cli_run
from stethoscope.codec import plain
from stethoscope.errors import StethoscopeError
from stethoscope.jobs.worker.child import open_model
from stethoscope.jobs.worker.memory import Meter
from stethoscope.task import TaskContext
from stethoscope.tasks.compare import Compare
from stethoscope.types import Job, ModelFile

FORMS = ("keras", "h5", "onnx", "onnx_nchw", "tflite", "fp16", "dynamic", "int8", "saved_model", "frozen")
AMONG = (
    ("onnx", "tflite"),
    ("tflite", "saved_model"),
    ("saved_model", "onnx"),
    ("frozen", "tflite"),
    ("onnx", "frozen"),
    ("h5", "onnx"),
    ("saved_model", "frozen"),
    ("tflite", "int8"),
    ("saved_model", "int8"),
    ("onnx", "int8"),
    ("frozen", "keras"),
    ("onnx", "onnx_nchw"),
    ("tflite", "fp16"),
    ("saved_model", "keras"),
)
"""Pairings without the .keras file first."""
PLANTED = (
    ("keras", "onnx"),
    ("keras", "tflite"),
    ("keras", "saved_model"),
    ("keras", "frozen"),
    ("saved_model", "saved_model"),
    ("onnx", "onnx"),
    ("onnx", "tflite"),
    ("saved_model", "tflite"),
    ("tflite", "tflite"),
    ("frozen", "frozen"),
    ("saved_model", "onnx"),
    ("frozen", "onnx"),
    ("keras", "keras"),
    ("tflite", "saved_model"),
    ("h5", "tflite"),
)


def write(model: Any, form: str, path: Path, rows: Mapping[str, np.ndarray]) -> Path:
    """Writes a model of Keras 3 or 2 in one of `FORMS`, with the tools of others."""
    import tensorflow as tf

    if form in ("keras", "h5"):
        target = path.with_suffix(f".{form}")
        model.save(target)
        return target
    if form == "saved_model":
        model.export(path, verbose=False) if hasattr(model, "export_archive") or _is_new(model) else model.save(path)
        return path
    call, specs = _call(model)
    if form.startswith("onnx"):
        import tf2onnx

        target = path.with_suffix(".onnx")
        turned = [spec.name for spec in specs if len(spec.shape) == 4] if form.endswith("nchw") else None
        if form.endswith("nchw") and not turned:
            raise ValueError("no pictures go in")
        if model.name == "table":  # tf2onnx makes inputs of constants that a function captures
            return _from_frozen(call, target)
        tf2onnx.convert.from_function(
            call,
            specs,
            opset=17,
            output_path=str(target),
            custom_op_handlers={"Erfc": (_erfc, [])},
            inputs_as_nchw=turned,
        )
        return target
    if form == "frozen":
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

        target = path.with_suffix(".pb")
        target.write_bytes(
            convert_variables_to_constants_v2(call.get_concrete_function()).graph.as_graph_def().SerializeToString()
        )
        return target
    target = path.with_suffix(".tflite")
    if _is_new(model):
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
    else:
        converter = tf.lite.TFLiteConverter.from_concrete_functions([call.get_concrete_function()], model)
    if form != "tflite":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form == "fp16":
        converter.target_spec.supported_types = [tf.float16]
    if form == "int8":
        count = len(next(iter(rows.values())))
        named = _is_new(model)
        converter.representative_dataset = lambda: (
            {name: values[i : i + 1] for name, values in rows.items()}
            if named and len(rows) > 1
            else [values[i : i + 1] for values in rows.values()]
            for i in range(count)
        )
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    target.write_bytes(converter.convert())
    return target


def _from_frozen(call: Any, target: Path) -> Path:
    import tf2onnx
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    frozen = convert_variables_to_constants_v2(call.get_concrete_function())
    names = [one.name for one in frozen.inputs], [one.name for one in frozen.outputs]
    tf2onnx.convert.from_graph_def(frozen.graph.as_graph_def(), None, *names, opset=17, output_path=str(target))
    return target


def _is_new(model: Any) -> bool:
    return type(model).__module__.startswith("keras.")


def _call(model: Any) -> tuple[Any, list[Any]]:
    import tensorflow as tf

    def name(one: Any) -> str:
        return str(one.name).partition(":")[0]

    specs = [tf.TensorSpec((None, *one.shape[1:]), one.dtype, name=name(one)) for one in model.inputs]
    call = tf.function(lambda *x: model(x[0] if len(x) == 1 else list(x), training=False), input_signature=specs)
    return call, specs


def answers(right: Path, wrong: Path, data: Path | None) -> Mapping[str, Any]:
    """What `compare` says of a pair; in this process, which is quicker than one for each."""
    files = {"model": ModelFile.at(right), "other": ModelFile.at(wrong)}
    if data is not None:
        files["data"] = ModelFile.at(data)
    params = {"rows": 16, "edges": False, "trusted": True, "trusted_other": True}
    job = Job("compare", files, params, cli_run.budget("4GB", 300), "tensorflow")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "tmp").mkdir()

        def report(*_: Any, **__: Any) -> None:
            return None

        meter = Meter(job.budget.memory_bytes)
        made: list[TaskContext] = []  # `opens` needs the context that it is a part of

        def opens(role: str = "model") -> Any:
            return open_model(job, made[0], role, may_run_programs=True)

        made.append(TaskContext(files, params, place, job.budget, report, meter, opens))
        try:
            answer = Compare().run(made[0])
            return dict(plain(answer))
        except StethoscopeError as error:
            return {"verdict": None, "reason": str(error), "first_divergence": None, "outputs": []}


class _Folder:
    """Files of one model, each written once; what a converter refuses is None."""

    def __init__(self, model: Any, rows: Mapping[str, np.ndarray], root: Path) -> None:
        self._model, self._rows, self._root = model, rows, root
        self._made: dict[str, Path | None] = {}

    def of(self, form: str) -> Path | None:
        if form not in self._made:
            try:
                self._made[form] = write(self._model, form, self._root / form, self._rows)
            except Exception as error:  # noqa: BLE001 - the other tool's converter, not what is measured
                sys.stderr.write(f"not written: {self._root.name} {form}: {error!r}"[:300] + "\n")
                self._made[form] = None
        return self._made[form]


def _keras(generation: int) -> Any:
    import keras
    import tf_keras

    return keras if generation == 3 else tf_keras


def _networks(
    seed: int, names: Sequence[str], generations: Sequence[int], root: Path
) -> Iterator[tuple[str, int, Any, Any, Path, Path]]:
    for name in names:
        for generation in generations:
            random = np.random.default_rng([seed, list(NETWORKS).index(name), generation])
            model, fed = built(name, random, _keras(generation))
            folder = root / f"{name}{generation}"
            folder.mkdir()
            data = folder / "rows.npz"
            np.savez(data, **fed)
            yield name, generation, model, fed, folder, data


def clean(seed: int, names: Sequence[str], generations: Sequence[int], among: int) -> Iterator[dict[str, Any]]:
    """A row for each clean pair; "alarm" where it is called different or a layer is blamed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, generation, model, fed, place, data in _networks(seed, names, generations, Path(folder)):
            files = _Folder(model, fed, place)
            first = "keras" if generation == 3 else "h5"
            picked = np.random.default_rng([seed, len(name)]).permutation(len(AMONG))[:among]
            pairs = [*((first, other) for other in FORMS if other != first), *(AMONG[int(one)] for one in picked)]
            for at, (a, b) in enumerate(pairs):
                right, wrong = files.of(a), files.of(b)
                if right is None or wrong is None:
                    continue
                for rows in (data, None) if b != "int8" and at % 5 == 1 else (data,):
                    start = time.perf_counter()
                    value = answers(right, wrong, rows)
                    found = value["first_divergence"]
                    told = {
                        "network": name,
                        "keras": generation,
                        "first": a,
                        "other": b,
                        "data": rows is not None,
                        "verdict": value["verdict"],
                        "reason": value.get("reason", ""),
                        "alarm": found is not None or value["verdict"] == "different",
                        "nrmse": max((one["nrmse"] or 9.0 for one in value["outputs"]), default=None),
                        "top1": value.get("top1_agreement"),
                        "named": (found or {}).get("a"),
                        "cause": (found or {}).get("cause_id"),
                        "seconds": round(time.perf_counter() - start, 1),
                        "notes": value.get("notes"),
                    }
                    sys.stderr.write(f"{json.dumps(told)}\n")
                    yield told


def planted(seed: int, names: Sequence[str], generations: Sequence[int], each: int) -> Iterator[dict[str, Any]]:
    """A row for each plant in two pairings of formats, each in both orders."""
    with tempfile.TemporaryDirectory() as folder:
        for name, generation, model, fed, place, data in _networks(seed, names, generations, Path(folder)):
            random = np.random.default_rng([seed, 7, list(NETWORKS).index(name), generation])
            right = _Folder(model, fed, place)
            for number, (fault, layer, wrong) in enumerate(drawn(model, fed, random, _keras(generation), each)):
                (place / str(number)).mkdir()
                other = _Folder(wrong, fed, place / str(number))
                fitting = [
                    (a, b)
                    for a, b in PLANTED
                    if not (b in ("keras", "h5") and fault.call is not None)
                    and not (fault.random and b in ("tflite", "onnx"))
                ]
                for at in random.permutation(len(fitting))[:2]:
                    a, b = fitting[int(at)]
                    if generation == 2:
                        a, b = a.replace("keras", "h5"), b.replace("keras", "h5")
                    one, two = right.of(a), other.of(b)
                    if one is None or two is None:
                        continue
                    told = {
                        "network": name,
                        "keras": generation,
                        "first": a,
                        "other": b,
                        "plant": fault.kind,
                        "layer": layer,
                    }
                    told |= scored(layer, fault.causes, answers(one, two, data))
                    told["exchanged"] = scored(layer, fault.causes, answers(two, one, data))
                    sys.stderr.write(f"{json.dumps(told)}\n")
                    yield told


def main() -> None:
    """Prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("clean", "planted"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--networks", default=",".join(name for name in NETWORKS if name not in HELD_BACK))
    parser.add_argument("--keras", default="3")
    parser.add_argument("--each", type=int, default=6, help="plants in each network")
    parser.add_argument("--among", type=int, default=len(AMONG), help="pairings without the .keras file first, clean")
    asked = parser.parse_args()
    names, generations = asked.networks.split(","), [int(one) for one in asked.keras.split(",")]
    run: Callable[[], Iterator[dict[str, Any]]] = (
        (lambda: clean(asked.seed, names, generations, asked.among))
        if asked.what == "clean"
        else (lambda: planted(asked.seed, names, generations, asked.each))
    )
    rows = list(run())
    json.dump({"seed": asked.seed, "summary": summary(rows), "rows": rows}, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
