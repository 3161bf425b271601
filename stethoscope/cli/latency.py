"""`stethoscope latency`: how long models take for the same input, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import (
    DataOption,
    DeviceOption,
    JsonOption,
    MemoryOption,
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
    exit_for,
    failing_well,
    known,
    print_json,
    summary,
)
from stethoscope.cli.sweep import numbers
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status, WorkerKind


def latency(
    models: Annotated[list[Path], typer.Argument(help="One model, or several that take the same input.")],
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    batch_sizes: Annotated[str, typer.Option(help="Rows in a call, separated by commas.")] = "1,8,32",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of every runtime; each runtime's own number if not given.")
    ] = None,
    device: DeviceOption = "auto",
    calls: Annotated[
        str,
        typer.Option(
            help="How Keras models are called, separated by commas: function, predict, predict_on_batch, call, compiled."
        ),
    ] = "function",
    seconds: Annotated[
        float, typer.Option(min=0.01, help="Seconds of counted calls for each row of the answer.")
    ] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the random input, without data.")] = 0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 900.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """How long do models take for the same input? p50, p90 and p99 per runtime and batch size, with size and memory."""
    with failing_well():
        params: dict[str, Any] = {
            "batch_sizes": numbers(batch_sizes, "--batch-sizes"),
            "threads": threads,
            "device": device,
            "calls": [one.strip() for one in calls.split(",") if one.strip()],
            "seconds": seconds,
            "seed": seed,
        } | cli_run.data_params(prepare, target)
        result = _run(models, data, params, trust, cli_run.budget(memory_limit, timeout))
        if as_json:
            from stethoscope.tasks.latency import Latencies

            empty: dict[str, Any] = {"rows": [], "models": [], "notes": []}
            print_json(
                summary(result)
                | {"peak_rss_bytes": result.peak_rss_bytes, "wall_s": result.wall_s}
                | empty
                | known(result, Latencies)
            )
        else:
            from stethoscope.cli.cost import latencies

            latencies(result)
        exit_for(result)


def _run(models: Sequence[Path], data: Path | None, params: dict[str, Any], trust: bool, limits: Budget) -> JobResult:
    """Runs the job in the kind of worker that all models can do with; one that cannot be read has its reason in the answer."""
    files: dict[str, ModelFile] = {}
    with cli_run.short_engine() as engine:
        workers: set[WorkerKind] = set()
        for place, model in enumerate(models):
            role = f"other-{place}" if place else "model"
            own = cli_run.input_files(model, data if place == 0 else None)
            beside = cli_run.beside_files(own)
            described, worker = cli_run.describe_kind(engine, own)
            if described.status is Status.OK:
                workers.add(worker)
            elif len(models) == 1:
                return described
            files |= {role: own["model"], **{f"{role}-{name}": file for name, file in beside.items()}}
            files |= {"data": own["data"]} if "data" in own else {}
            params[f"trusted_{role}" if place else "trusted"] = trust
        return cli_run.run_job(
            engine, Job("latency", files, params, limits, "tensorflow" if "tensorflow" in workers else "light")
        )
