"""`stethoscope activations`: statistics of every layer over the data, and the layers' outputs for its first rows."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from stethoscope import cli_run
from stethoscope.cli_answers import exit_for, failing_well, print_answer, summary
from stethoscope.cli_options import (
    DataOption,
    JsonOption,
    MemoryOption,
    ModelArgument,
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
)
from stethoscope.codec import plain
from stethoscope.types import JobResult, Status

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 80


def activations(
    model: ModelArgument,
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    layers: Annotated[
        str, typer.Option(help="Only these layers, by their paths of `describe`, separated by commas.")
    ] = "",
    rows: Annotated[int, typer.Option(min=0, help="Rows the statistics are over, evenly spread; 0 for all.")] = 0,
    keep: Annotated[int, typer.Option(min=0, help="First rows whose outputs are written, one .npy a layer.")] = 32,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in one call.")] = 32,
    seed: Annotated[int, typer.Option(help="Seed of the random input, without --data.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for statistics.json and the arrays; nothing is written without one.")
    ] = None,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 600.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what every layer puts out: statistics over all rows, dead and saturated units, outputs of the first rows."""
    with failing_well():
        params: dict[str, Any] = {
            "layers": [name.strip() for name in layers.split(",") if name.strip()] or None,
            "rows": rows or None,
            "batch_size": batch_size,
            "seed": seed,
            "keep_rows": keep if out is not None else 0,
            "trusted": trust,
        }
        params |= cli_run.data_params(prepare, target)
        budget = cli_run.budget(memory_limit, timeout)
        with tempfile.TemporaryDirectory(prefix="stethoscope-") as folder:
            result, written = cli_run.model_job("activations", model, data, params, budget, Path(folder))
            answer = _answer(result)
            for layer in answer["layers"]:
                # Outputs that cannot level off never do; scripts get a number.
                layer["saturated_fraction"] = layer["saturated_fraction"] or 0.0
            if out is not None and result.status is Status.OK:
                _write(answer, written, out)
        if as_json:
            print_answer(answer, as_json, "layer_activations")
        else:
            from stethoscope.cli_text_activations import layer_activations

            layer_activations(answer)
        exit_for(result)


def _answer(result: JobResult) -> dict[str, Any]:
    empty: dict[str, Any] = {"layers": [], "unreachable": []}
    answer = {**summary(result), "peak_rss_bytes": result.peak_rss_bytes, **empty, **dict(result.value)}
    return answer | {"layers": [dict(layer) for layer in answer["layers"]]}


def _write(answer: dict[str, Any], folder: Path, out: Path) -> None:
    """Moves the job's files to `out` under the layers' names, and writes the answer beside them."""
    out.mkdir(parents=True, exist_ok=True)
    digits = len(str(len(answer["layers"])))
    answer["layers"] = [
        _placed(layer, folder, out, f"{number:0{digits}}-{file_name(layer['path'])}")
        for number, layer in enumerate(answer["layers"])
    ]
    answer["out"] = str(out.resolve())
    (out / "statistics.json").write_text(json.dumps(plain(answer), indent=1) + "\n")


def _placed(layer: dict[str, Any], folder: Path, out: Path, name: str) -> dict[str, Any]:
    for key, ending in (("outputs_file", ""), ("units_file", ".units"), ("top_file", ".top")):
        source = layer.get(key)
        if source:
            target = out / f"{name}{ending}.npy"
            target.write_bytes((folder / Path(str(source)).name).read_bytes())
            layer[key] = str(target.resolve())
    return layer


def file_name(path: str) -> str:
    """A layer's path as part of a file's name: letters, digits, dots, dashes; two paths may give the same."""
    return _UNSAFE.sub("_", path).strip("._")[:_LONGEST] or "layer"
