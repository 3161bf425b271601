"""`stethoscope endurance`: leaks, retracing and cold calls, one contained job per call style; and what would lower the peak."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import (
    CallOption,
    DataOption,
    DeviceOption,
    JsonOption,
    MemoryOption,
    ModelArgument,
    PrecisionOption,
    TimeoutOption,
    TrustOption,
    XlaOption,
    exit_for,
    exit_for_status,
    failing_well,
    known,
    print_json,
    summary,
    worst,
)
from stethoscope.cli.settings import advised, known_kinds, refusal, run_settings
from stethoscope.codec import partial_of
from stethoscope.errors import BadSetting
from stethoscope.memory.alternatives import KINDS
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import JobResult, Status

LEAKS = 1
"""Exit code when a call style leaks."""


def endurance(
    model: ModelArgument,
    data: DataOption = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in one call.")] = 32,
    call: CallOption = "function",
    calls: Annotated[int, typer.Option(min=12, help="Equal calls of the leak test, after warming up.")] = 100,
    tests: Annotated[str, typer.Option(help="Some of latency,leak,retracing.")] = "latency,leak,retracing",
    advise: Annotated[
        bool,
        typer.Option("--advise", help="Instead: try other settings and rank them by the peak memory they measure."),
    ] = False,
    changes: Annotated[str, typer.Option(help="With --advise, which changes to try.")] = ",".join(KINDS),
    precision: PrecisionOption = "as saved",
    xla: XlaOption = False,
    device: DeviceOption = "auto",
    test_time: Annotated[float, typer.Option(help="Seconds for each test; fewer calls where it is short.")] = 30.0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 600.0,
    seed: Annotated[int, typer.Option(help="Seed of the random input.")] = 0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Call a model again and again: does memory leak, is it traced anew, how slow is the first call. Exits with 1 for a leak."""
    with failing_well():
        styles = list(dict.fromkeys(part.strip() for part in call.split(",") if part.strip()))
        chosen = [_settings(model, batch_size, style, precision, xla, device, memory_limit) for style in styles]
        if not chosen:
            raise BadSetting("--call: expected at least one call style, for example function.")
        if advise:
            found = advised(
                model,
                chosen[0],
                data=data,
                kinds=known_kinds(changes),
                seed=seed,
                trusted=trust,
                memory_limit=memory_limit,
                timeout_s=timeout,
            )
            if as_json:
                print_json(found.to_json())
            else:
                from stethoscope.cli import cost

                cost.lowering(found)
            exit_for_status(found.status, found.reason)
            return
        budget = cli_run.budget(memory_limit, timeout)
        results: dict[str, JobResult] = {}
        for settings in chosen:
            params = {
                "settings": settings.to_json(),
                "tests": [part.strip() for part in tests.split(",") if part.strip()],
                "calls": calls,
                "test_s": test_time,
                "seed": seed,
                "trusted": trust,
            }
            results[settings.call], _ = cli_run.model_job("endurance", model, data, params, budget)
            if results[settings.call].status is Status.CANCELLED:
                break
        from stethoscope.tasks.endurance import EnduranceReport

        reports = {style: partial_of(result, EnduranceReport) for style, result in results.items()}
        if as_json:
            print_json(answer(results))
        else:
            from stethoscope.cli import cost

            cost.endurance(results, reports)
        exit_for(worst(results))
        if any(report and report.leak and report.leak.verdict == "leak" for report in reports.values()):
            raise typer.Exit(LEAKS)


def answer(results: Mapping[str, JobResult]) -> dict[str, Any]:
    """One object from the jobs of all call styles; how it ended is how the first that failed ended, else the first."""
    from stethoscope.tasks.endurance import EnduranceReport

    return {
        **summary(worst(results)),
        "calls": [
            {
                "call": call,
                **summary(result),
                "wall_s": result.wall_s,
                "peak_rss_bytes": result.peak_rss_bytes,
                **known(result, EnduranceReport),
            }
            for call, result in results.items()
        ],
    }


def _settings(
    model: Path, batch_size: int, call: str, precision: str, xla: bool, device: str, memory_limit: str
) -> RunSettings:
    settings = run_settings(
        batch_size=batch_size, call=call, precision=precision, xla=xla, device=device, memory_limit=memory_limit
    )
    refused = refusal(model, settings)
    if refused is not None:
        raise BadSetting(refused["reason"])
    return settings
