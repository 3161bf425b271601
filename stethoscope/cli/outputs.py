"""`stethoscope predict` and `stethoscope activations`: what a model answers, and what every layer of it puts out on the way."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import (
    AllocatorOption,
    CallOption,
    DataOption,
    DeviceOption,
    JsonOption,
    MemoryOption,
    ModelArgument,
    PrecisionOption,
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
    XlaOption,
    exit_for,
    failing_well,
    known,
)
from stethoscope.cli.printed import print_json, summary
from stethoscope.cli.settings import call_styles, refuse, run_settings
from stethoscope.codec import partial_of, plain
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import JobResult, Status

if TYPE_CHECKING:
    from stethoscope.activations.study import LayerActivations


def predict(
    model: ModelArgument,
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in one call.")] = 32,
    samples: Annotated[int, typer.Option(min=0, help="Rows of random input; 0 for one batch.")] = 0,
    size: Annotated[
        int,
        typer.Option(
            min=0, help="Size of open dimensions of random input (sequence length, image size); 0 for the file's own."
        ),
    ] = 0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 300.0,
    seed: Annotated[int, typer.Option(help="Seed of the random input.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the outputs (.npy); a temporary one if not given.")
    ] = None,
    call: CallOption = "auto",
    precision: PrecisionOption = "as saved",
    xla: XlaOption = False,
    device: DeviceOption = "auto",
    allocator: AllocatorOption = "pool",
    intra_threads: Annotated[int | None, typer.Option(min=1, help="Threads within one operation.")] = None,
    inter_threads: Annotated[int | None, typer.Option(min=1, help="Operations at a time.")] = None,
    memory_growth: Annotated[bool, typer.Option("--memory-growth", help="GPU: take memory as needed.")] = False,
    gpu_memory_limit: Annotated[str, typer.Option(help="GPU: hard limit on the card, for example 4GiB.")] = "",
    logical_devices: Annotated[
        str, typer.Option(help="Cut the device up: 2GiB,2GiB on a GPU, or a number of logical CPU devices.")
    ] = "",
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a prediction in a contained process under a memory limit."""
    with failing_well():
        settings = run_settings(
            batch_size=batch_size,
            call=call_styles(model, call)[0],
            precision=precision,
            xla=xla,
            device=device,
            intra_threads=intra_threads,
            inter_threads=inter_threads,
            memory_growth=memory_growth,
            gpu_memory_limit=gpu_memory_limit,
            logical_devices=logical_devices,
            memory_limit=memory_limit,
            allocator=allocator,
        )
        refuse(model, settings, as_json, _nothing_predicted(settings))
        params: dict[str, Any] = {"settings": settings.to_json(), "samples": samples, "seed": seed, "trusted": trust}
        params |= {"size": size} if size else {}
        params |= cli_run.data_params(prepare, target)
        budget = cli_run.budget(memory_limit, timeout)
        result, folder = cli_run.model_job("predict", model, data, params, budget, out)
        if as_json:
            print_json(_prediction_answer(result, folder, {"seed": seed, **settings.to_json()}))
        else:
            from stethoscope.cli.text import prediction

            prediction(result, folder)
        exit_for(result)


def _nothing_predicted(settings: RunSettings) -> dict[str, Any]:
    return {
        "peak_rss_bytes": 0,
        "predicted_peak_bytes": None,
        "wall_s": 0.0,
        "settings": settings.to_json(),
        "outputs": {},
    }


def _prediction_answer(result: JobResult, folder: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    from stethoscope.memory.prediction import Prediction

    value: dict[str, Any] = {
        **summary(result),
        "peak_rss_bytes": result.peak_rss_bytes,
        "predicted_peak_bytes": None,
        "wall_s": result.wall_s,
        "settings": dict(asked),
        "outputs": {},
        **known(result, Prediction),
    }
    for output in value["outputs"].values():
        output["path"] = str(folder / Path(output["path"]).name)
    return value


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
    batch_size: Annotated[
        int, typer.Option(min=1, help="Rows in one call, at most; fewer where a row's outputs are large.")
    ] = 32,
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
            from stethoscope.activations.study import LayerActivations

            answer = partial_of(result, LayerActivations)
            value = _activations_answer(result, LayerActivations)
            if answer is not None and out is not None and result.status is Status.OK:
                answer = _placed(answer, written, out)
                value = _activations_answer(replace(result, value=plain(answer)), LayerActivations) | {
                    "out": str(out.resolve())
                }
                (out / "statistics.json").write_text(json.dumps(value, indent=1) + "\n")
        if as_json:
            print_json(value)
        elif answer is not None:
            from stethoscope.cli.text import layer_activations

            layer_activations(answer, out)
        exit_for(result)


def _activations_answer(result: JobResult, kind: type[LayerActivations]) -> dict[str, Any]:
    """The answer as JSON. Outputs that cannot level off never do; scripts get a number."""
    value: dict[str, Any] = {"layers": [], "unreachable": []} | known(result, kind)
    layers = [layer | {"saturated_fraction": layer["saturated_fraction"] or 0.0} for layer in value["layers"]]
    return {**summary(result), "peak_rss_bytes": result.peak_rss_bytes, **value, "layers": layers}


def _placed(answer: LayerActivations, folder: Path, out: Path) -> LayerActivations:
    """Moves the job's files to `out` under the layers' names; the answer says where they are."""
    out.mkdir(parents=True, exist_ok=True)
    digits = len(str(len(answer.layers)))

    def moved(source: str | None, name: str) -> str | None:
        if not source:
            return None
        target = out / f"{name}.npy"
        target.write_bytes((folder / Path(source).name).read_bytes())
        return str(target.resolve())

    layers = []
    for number, layer in enumerate(answer.layers):
        name = f"{number:0{digits}}-{file_name(layer.path)}"
        placed = replace(
            layer,
            outputs_file=moved(layer.outputs_file, name),
            units_file=moved(layer.units_file, f"{name}.units"),
            top_file=moved(layer.top_file, f"{name}.top"),
        )
        layers.append(placed)
    return replace(answer, layers=tuple(layers))


def file_name(path: str) -> str:
    """A layer's path as part of a file's name: letters, digits, dots, dashes; two paths may give the same."""
    return _UNSAFE.sub("_", path).strip("._")[:_LONGEST] or "layer"
