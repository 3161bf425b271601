"""How often `compare` names the layer at which two models part, and why: planted faults, and clean pairs that must raise nothing.

Every plant of `planted_models` is put at a layer drawn at random, and the faulty model is written as .keras, ONNX (tf2onnx), TFLite
(TensorFlow's converter) and SavedModel; the right one stays .keras. Scored are the first layer named (the planted one) and the cause.

    python -m benchmarks.planted_divergences [--seed N] [--formats keras,onnx,tflite,saved_model] [--only WORDS]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark
from benchmarks.planted_models import Plant, pair, plants
from stethoscope import cli_run
from stethoscope.types import Job, ModelFile, Status

FORMATS = ("keras", "onnx", "tflite", "saved_model")


def write(model: Any, form: str, path: Path) -> Path:
    """Writes a Keras model in one of `FORMATS`; not with the converters that are measured elsewhere."""
    import tensorflow as tf

    if form == "keras":
        target = path.with_suffix(".keras")
        model.save(target)
        return target
    specs = [tf.TensorSpec((None, *one.shape[1:]), one.dtype, name=one.name) for one in model.inputs]
    if form == "onnx":
        import tf2onnx

        target = path.with_suffix(".onnx")
        call = tf.function(lambda *x: model(x[0] if len(x) == 1 else list(x)), input_signature=specs)
        handlers = {"Erfc": (_erfc, [])}
        tf2onnx.convert.from_function(call, specs, opset=18, output_path=str(target), custom_op_handlers=handlers)
        return target
    if form == "saved_model":
        model.export(path, verbose=False)
        return path
    target = path.with_suffix(".tflite")
    target.write_bytes(tf.lite.TFLiteConverter.from_keras_model(model).convert())
    return target


def _erfc(graph: Any, node: Any, name: str, _args: Any) -> None:
    """tf2onnx leaves Erfc as it is, and onnxruntime has none."""
    shape, dtype, outputs = graph.get_shape(node.output[0]), graph.get_dtype(node.output[0]), list(node.output)
    one = graph.make_const(f"{name}_one", np.array(1, np.float32))
    erf = graph.make_node("Erf", [node.input[0]])
    graph.remove_node(node.name)
    graph.make_node("Sub", [one.output[0], erf.output[0]], outputs=outputs, name=name, shapes=[shape], dtypes=[dtype])


def answers(engine: Any, right: Path, wrong: Path, data: Path) -> Mapping[str, Any]:
    """What `compare` says of a pair."""
    files = {"model": ModelFile.at(right), "other": ModelFile.at(wrong), "data": ModelFile.at(data)}
    params = {"rows": 16, "trusted": True, "trusted_other": True}
    job = Job("compare", files, params, cli_run.budget("4GB", 300), "tensorflow")
    result = cli_run.run_job(engine, job)
    if result.status is not Status.OK:
        return {"verdict": None, "reason": result.reason, "first_divergence": None}
    return result.value


def scored(plant: Plant, value: Mapping[str, Any]) -> dict[str, Any]:
    """How a plant was told."""
    found = value.get("first_divergence") or {}
    layers = {plant.layer}
    if plant.build.get("shift"):
        layers.add(f"{plant.layer}_pad")
    if plant.build.get("channels_first"):
        layers.add(f"{plant.layer}_permute")
    if plant.build.get("off"):
        layers |= {"stem", "image"}
    return {
        "verdict": value.get("verdict"),
        "reason": value.get("reason", ""),
        "named": found.get("a"),
        "seen_at": (found.get("seen_at") or {}).get("a"),
        "cause": found.get("cause_id"),
        "confidence": found.get("confidence"),
        "sentence": found.get("sentence"),
        "layer_right": found.get("a") in layers,
        "cause_right": found.get("cause_id") in plant.causes,
    }


def measured(seed: int, formats: Sequence[str], only: str = "") -> dict[str, Any]:
    """{"seed", "summary", "rows"} of every plant in every format, and of clean pairs."""
    random = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, cli_run.short_engine() as engine:
        root = Path(folder)
        data = {"vision": 255 * random.random((16, 32, 32, 3)), "encoder": random.standard_normal((16, 12, 32))}
        for family, values in data.items():
            np.savez(root / f"{family}.npz", x=values.astype(np.float32))
        clean: list[tuple[str, Plant | None]] = [("vision", None), ("encoder", None)]
        cases = [*clean, *plants(random)]
        for number, (family, plant) in enumerate(cases):
            if only and (plant is None or only not in plant.kind):
                continue
            right, wrong = pair(family, plant, seed + number)
            first = write(right, "keras", root / f"right{number}")
            for form in formats:
                if plant is not None and form not in plant.formats:
                    continue
                try:
                    second = write(wrong, form, root / f"wrong{number}_{form}")
                except Exception as error:  # noqa: BLE001 - the other tool's converter, not what is measured
                    sys.stderr.write(f"{family} {plant and plant.kind} {form}: not written: {error!r}\n"[:300])
                    continue
                value = answers(engine, first, second, root / f"{family}.npz")
                told = {
                    "family": family,
                    "format": form,
                    "plant": plant.kind if plant else "",
                    "layer": plant.layer if plant else "",
                }
                if plant is None:
                    alarm = value["first_divergence"] is not None or value["verdict"] == "different"
                    told |= {"verdict": value["verdict"], "alarm": alarm}
                else:
                    told |= scored(plant, value)
                rows.append(told)
                sys.stderr.write(f"{json.dumps(told)}\n")
    return {"seed": seed, "summary": _summary(rows), "rows": rows}


def run(_folder: Path) -> dict[str, Any]:
    """For `make bench`."""
    found = measured(0, FORMATS)
    told = found["summary"]
    holds = told["all"]["layer_right"] >= 0.9 and told["all"]["cause_right"] >= 0.7 and told["clean"]["alarms"] == 0
    return found | {"holds": holds}


def main() -> None:
    """Prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    json.dump(measured(asked.seed, asked.formats.split(","), asked.only), sys.stdout, indent=1)
    sys.stdout.write("\n")


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    by_format: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in rows:
        if one["plant"]:
            by_format[one["format"]].append(one)
            by_format["all"].append(one)
    found: dict[str, Any] = {
        form: {
            "planted": len(some),
            "layer_right": sum(one["layer_right"] for one in some) / len(some),
            "cause_right": sum(one["cause_right"] for one in some) / len(some),
            "not_seen": sum(one["verdict"] != "different" for one in some),
        }
        for form, some in by_format.items()
    }
    clean = [one for one in rows if not one["plant"]]
    return found | {"clean": {"pairs": len(clean), "alarms": sum(one["alarm"] for one in clean)}}


BENCHMARK = Benchmark(
    "planted_divergences",
    "of planted faults, the first layer named is right in at least 90 %, the cause in at least 70 %, and clean pairs raise nothing",
    run,
)

if __name__ == "__main__":
    main()
