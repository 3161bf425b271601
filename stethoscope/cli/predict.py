"""`stethoscope predict`: one prediction under chosen settings, in a contained process under a memory limit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

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
    print_json,
    summary,
)
from stethoscope.cli.settings import refusal, run_settings
from stethoscope.codec import SCHEMA_VERSION
from stethoscope.errors import BadSetting
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import JobResult, Status


def predict(
    model: ModelArgument,
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in one call.")] = 32,
    samples: Annotated[int, typer.Option(min=0, help="Rows of random input; 0 for one batch.")] = 0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 300.0,
    seed: Annotated[int, typer.Option(help="Seed of the random input.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the outputs (.npy); a temporary one if not given.")
    ] = None,
    call: CallOption = "function",
    precision: PrecisionOption = "as saved",
    xla: XlaOption = False,
    device: DeviceOption = "auto",
    allocator: AllocatorOption = "system",
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
            call=call,
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
        refused = refusal(model, settings)
        if refused is not None:
            if as_json:
                print_json(_refused(refused, settings))
            raise BadSetting(refused["reason"])
        params = {"settings": settings.to_json(), "samples": samples, "seed": seed, "trusted": trust}
        params |= cli_run.data_params(prepare, target)
        budget = cli_run.budget(memory_limit, timeout)
        result, folder = cli_run.model_job("predict", model, data, params, budget, out)
        if as_json:
            print_json(_answer(result, folder, {"seed": seed, **settings.to_json()}))
        else:
            from stethoscope.cli.text import prediction

            prediction(result, folder)
        exit_for(result)


def _refused(refused: Mapping[str, Any], settings: RunSettings) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "status": Status.REFUSED.value,
        "phase": "settings",
        "error": BadSetting.__name__,
        "peak_rss_bytes": 0,
        "predicted_peak_bytes": None,
        "wall_s": 0.0,
        "settings": settings.to_json(),
        "outputs": {},
        **refused,
    }


def _answer(result: JobResult, folder: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    from stethoscope.tasks.predict import Prediction

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
