"""`stethoscope sweep`: predicted and measured peak memory and time over batch sizes, one contained job per call style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from stethoscope import cli_run
from stethoscope.cli_answers import exit_for, failing_well, print_answer, summary
from stethoscope.cli_options import (
    CallOption,
    DataOption,
    DeviceOption,
    JsonOption,
    MemoryOption,
    ModelArgument,
    PrecisionOption,
    TrustOption,
    XlaOption,
)
from stethoscope.cli_settings import refusal, run_settings
from stethoscope.errors import BadSetting
from stethoscope.types import JobResult, Status


def sweep(
    model: ModelArgument,
    data: DataOption = None,
    batch_sizes: Annotated[str, typer.Option(help="Batch sizes, for example 1,8,64.")] = "1,8,32,64",
    sizes: Annotated[
        str, typer.Option(help="Sizes of open dimensions (sequence length, image size), for example 64,128.")
    ] = "",
    call: CallOption = "function",
    precision: PrecisionOption = "as saved",
    xla: XlaOption = False,
    device: DeviceOption = "auto",
    check: Annotated[
        bool, typer.Option("--check", help="Run just below and just above the largest batch that is said to fit.")
    ] = False,
    memory_limit: MemoryOption = "",
    timeout: Annotated[float, typer.Option(help="Seconds before a call style is stopped.")] = 900.0,
    seed: Annotated[int, typer.Option(help="Seed of the random input.")] = 0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Predict and measure peak memory over batch sizes; several call styles, separated by commas, run one after another."""
    with failing_well():
        rows, lengths = numbers(batch_sizes, "--batch-sizes"), numbers(sizes, "--sizes")
        if not rows:
            raise BadSetting("--batch-sizes: expected at least one number, for example 1,8,64.")
        budget = cli_run.budget(memory_limit, timeout)
        results: dict[str, JobResult] = {}
        for style in dict.fromkeys(part.strip() for part in call.split(",") if part.strip()):
            settings = run_settings(
                batch_size=max(rows),
                call=style,
                precision=precision,
                xla=xla,
                device=device,
                intra_threads=None,
                inter_threads=None,
                memory_growth=False,
                gpu_memory_limit="",
                logical_devices="",
                memory_limit=memory_limit,
            )
            refused = refusal(model, settings)
            if refused is not None:
                raise BadSetting(refused["reason"])
            params = {
                "settings": settings.to_json(),
                "batch_sizes": rows,
                "sizes": lengths,
                "check": check,
                "seed": seed,
                "trusted": trust,
            }
            result, _ = cli_run.model_job("sweep", model, data, params, budget)
            results[settings.call] = _as_checked(result)
        value = answer(results)
        if as_json:
            print_answer(value, as_json, "sweep")
        else:
            from stethoscope import cli_text_sweep

            cli_text_sweep.sweep(value)
        exit_for(worst(results))


def numbers(text: str, option: str) -> list[int]:
    """Reads "1,8,64".

    Raises:
        BadSetting: not whole numbers above 0.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise BadSetting(f"{option} {text!r}: expected whole numbers above 0, separated by commas.")
    return sorted({int(part) for part in parts})


def answer(results: Mapping[str, JobResult]) -> dict[str, Any]:
    """One object from the jobs of all call styles: `points` of all, and the `largest_batch` of the first."""
    values = [dict(result.value) for result in results.values()]
    points = [point for value in values for point in value.get("points", [])]
    largest = next((value["largest_batch"] for value in values if value.get("largest_batch")), None)
    return {
        **summary(worst(results)),
        "points": points,
        "largest_batch": largest,
        "calls": [
            {
                "call": call,
                **summary(result),
                "wall_s": result.wall_s,
                "peak_rss_bytes": result.peak_rss_bytes,
                **{key: item for key, item in result.value.items() if key not in ("points", "call")},
            }
            for call, result in results.items()
        ],
    }


def _as_checked(result: JobResult) -> JobResult:
    """A process that ended while a batch too large was tried on purpose has answered the question."""
    if result.status is Status.OUT_OF_MEMORY and result.phase == "check" and result.value.get("checks"):
        return replace(result, status=Status.OK, reason="", error="")
    return result


def worst(results: Mapping[str, JobResult]) -> JobResult:
    """The job that says how the command ended: the first that did not end well, else the first."""
    ended = list(results.values())
    return next((result for result in ended if result.status is not Status.OK), ended[0])
