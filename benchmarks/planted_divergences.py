"""How often `compare` names the layer at which two models part, and why: planted faults, and clean pairs that must raise nothing.

Every plant of `planted_faults` is put at a layer drawn at random, and the faulty model is written as .keras, ONNX (tf2onnx), TFLite
(TensorFlow's converter) and SavedModel; those of `planted_ranges` are put into TFLite files in int8. The right model stays .keras.
Scored are the first layer named (the planted one) and the cause.

    python -m benchmarks.planted_divergences [--seed N] [--formats keras,onnx,tflite,saved_model,tflite-int8] [--only WORDS]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Benchmark
from benchmarks.planted_faults import Plant, plants
from benchmarks.planted_models import FAMILIES, pair, rows
from benchmarks.planted_ranges import RangePlant, edited, full_int8, range_plants
from stethoscope.cli import run as cli_run
from stethoscope.codec import answer_of, plain
from stethoscope.compare.parity.comparison import Comparison
from stethoscope.types import Job, ModelFile, Status

INT8 = "tflite-int8"
FORMATS = ("keras", "onnx", "tflite", "saved_model", INT8)
QUANTISED = ("vision", "encoder", "mobile")
"""Families that are written in int8 too."""
_ONE_ROW = ("series",)
"""Families that TensorFlow's TFLite converter takes with a fixed number of rows only."""


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
    if model.name in _ONE_ROW:
        from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

        specs = [tf.TensorSpec((1, *one.shape[1:]), one.dtype, name=one.name) for one in model.inputs]
        call = tf.function(lambda *x: model(x[0] if len(x) == 1 else list(x)), input_signature=specs)
        frozen = convert_variables_to_constants_v2(call.get_concrete_function(), lower_control_flow=False)
        converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen], model)
    else:
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
    target.write_bytes(converter.convert())
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
    return dict(plain(answer_of(result, Comparison)))


def named(plant: Plant) -> frozenset[str]:
    """The layers by which a plant may be named."""
    layers = {plant.layer}
    if plant.build.get("shift") or plant.build.get("symmetric"):
        layers.add(f"{plant.layer}_pad")
    if plant.build.get("channels_first"):
        layers.add(f"{plant.layer}_permute")
    if plant.build.get("off") or plant.layer == "scaling" or plant.kind == "BGR for RGB":
        layers |= {"stem", "image", "picture", "scaling"}
    return frozenset(layers)


def scored(layers: Collection[str], causes: Collection[str], value: Mapping[str, Any]) -> dict[str, Any]:
    """How a plant was told."""
    found = value.get("first_divergence") or {}
    return {
        "verdict": value.get("verdict"),
        "reason": value.get("reason", ""),
        "named": found.get("a"),
        "seen_at": (found.get("seen_at") or {}).get("a"),
        "cause": found.get("cause_id"),
        "confidence": found.get("confidence"),
        "sentence": found.get("sentence"),
        "layer_right": found.get("a") in layers,
        "cause_right": found.get("cause_id") in causes,
    }


@dataclass(frozen=True)
class Pair:
    """Two files of which the second has a fault, or none."""

    family: str
    form: str
    right: Path
    wrong: Path
    kind: str = ""
    """Of the plant; "" for a clean pair."""
    layers: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()


def measured(seed: int, formats: Sequence[str], only: str = "") -> dict[str, Any]:
    """{"seed", "summary", "rows", "not_written"} of every plant in every format, and of clean pairs."""
    random = np.random.default_rng(seed)
    told: list[dict[str, Any]] = []
    not_written: list[str] = []
    with tempfile.TemporaryDirectory() as folder, cli_run.short_engine() as engine:
        root = Path(folder)
        data = rows(random)
        for family, values in data.items():
            np.savez(root / f"{family}.npz", x=values)
        for one in _pairs(seed, random, formats, only, data, root, not_written):
            value = answers(engine, one.right, one.wrong, root / f"{one.family}.npz")
            said = {"family": one.family, "format": one.form, "plant": one.kind, "layer": ", ".join(one.layers)}
            if one.kind:
                said |= scored(one.layers, one.causes, value)
            else:
                alarm = value["first_divergence"] is not None or value["verdict"] == "different"
                said |= {"verdict": value["verdict"], "alarm": alarm}
            told.append(said)
            sys.stderr.write(f"{json.dumps(said)}\n")
    return {"seed": seed, "summary": _summary(told), "rows": told, "not_written": not_written}


def _pairs(
    seed: int,
    random: np.random.Generator,
    formats: Sequence[str],
    only: str,
    data: Mapping[str, np.ndarray],
    root: Path,
    not_written: list[str],
) -> Iterator[Pair]:
    """Writes pair after pair; what another tool's converter refuses is noted."""
    cases: list[tuple[str, Plant | RangePlant | None]] = [
        *((family, None) for family in FAMILIES),
        *plants(random),
        *range_plants(random),
    ]
    for number, (family, plant) in enumerate(cases):
        if only and (plant is None or only not in f"{family} {plant.kind}"):
            continue
        held = plant.formats if isinstance(plant, Plant) else (INT8,) if plant or family in QUANTISED else ()
        wanted = [form for form in formats if form in held or (plant is None and form != INT8)]
        if not wanted:
            continue
        right, wrong = pair(family, plant if isinstance(plant, Plant) else None, seed + number)
        first = write(right, "keras", root / f"right{number}")
        for form in wanted:
            made = Pair(family, form, first, root / f"wrong{number}_{form}", plant.kind if plant else "")
            try:
                if isinstance(plant, Plant):
                    wrote = write(wrong, form, made.wrong)
                    made = replace(made, wrong=wrote, layers=tuple(named(plant)), causes=plant.causes)
                elif form == INT8:
                    made = _quantised(made, right, data[family], plant, random)
                else:
                    made = replace(made, wrong=write(wrong, form, made.wrong))
            except Exception as error:  # noqa: BLE001 - the other tool's converter, not what is measured
                not_written.append(f"{family} {made.kind} {form}: {error!r}"[:300])
                sys.stderr.write(f"not written: {not_written[-1]}\n")
                continue
            yield made


def _quantised(
    made: Pair, right: Any, values: np.ndarray, plant: RangePlant | None, random: np.random.Generator
) -> Pair:
    content = full_int8(right, values * (plant.calibration if plant else 1))
    ends = tuple(one.name for one in right.inputs)
    layers = ends
    if plant is not None and plant.operators:
        content, layers = edited(content, plant, [layer.name for layer in right.layers], values, random)
    target = made.wrong.with_suffix(".tflite")
    target.write_bytes(content)
    return replace(made, wrong=target, layers=layers, causes=plant.causes if plant else ())


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
