"""`stethoscope sweep` and `stethoscope endurance`: peak memory over batch sizes and over many calls, one contained job per call style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
    XlaOption,
    exit_for,
    exit_for_status,
    failing_well,
    known,
    worst,
)
from stethoscope.cli.printed import print_json, summary
from stethoscope.cli.settings import advised, call_styles, known_kinds, refuse, run_settings
from stethoscope.codec import partial_of, plain
from stethoscope.errors import BadSetting
from stethoscope.framework_errors import shortage_of
from stethoscope.memory.alternatives import KINDS
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import JobResult, Status


def sweep(
    model: ModelArgument,
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    batch_sizes: Annotated[str, typer.Option(help="Batch sizes, for example 1,8,64.")] = "1,8,32,64",
    sizes: Annotated[
        str, typer.Option(help="Sizes of open dimensions (sequence length, image size), for example 64,128.")
    ] = "",
    call: CallOption = "auto",
    precision: PrecisionOption = "as saved",
    xla: XlaOption = False,
    device: DeviceOption = "auto",
    allocator: Annotated[
        str,
        typer.Option(
            help="On the CPU: pool (TensorFlow's own, each batch in a fresh process, as in yours) or system (gives freed "
            "memory back; all batches in one process)."
        ),
    ] = "pool",
    check: Annotated[
        bool, typer.Option("--check", help="Run just below and just above the largest batch that is said to fit.")
    ] = False,
    estimate_only: Annotated[
        bool, typer.Option("--estimate-only", help="Run nothing: what the graph says about the peak, and where it is.")
    ] = False,
    advise: Annotated[
        bool,
        typer.Option(
            "--advise", help="Then try what would lower the peak of the largest batch, ranked by measurement."
        ),
    ] = False,
    changes: Annotated[
        str,
        typer.Option(
            help="With --advise, which changes to try; with --train: checkpointing,precision,optimizer,accumulation."
        ),
    ] = ",".join(KINDS),
    train: Annotated[
        bool,
        typer.Option("--train", help="Of training instead: model.fit, each batch and each change in a fresh process."),
    ] = False,
    fit: Annotated[
        str | None, typer.Option("--fit", help="With --train: loss=…,optimizer=…; else as the file was compiled.")
    ] = None,
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
        if train:
            from stethoscope.cli import training_memory

            training_memory.refuse(estimate_only=estimate_only, precision=precision, xla=xla)
            trained = training_memory.swept(
                model,
                data,
                cli_run.data_params(prepare, target),
                training_memory.settings(device, memory_limit),
                rows,
                lengths,
                fit,
                training_memory.change_kinds(changes, ",".join(KINDS)) if advise else (),
                budget,
                check=check,
                seed=seed,
                trusted=trust,
            )
            print_json(training_memory.answer(trained)) if as_json else training_memory.show(trained)
            exit_for(trained)
            return
        kinds = known_kinds(changes)
        chosen: list[RunSettings] = []
        results: dict[str, JobResult] = {}
        for style in call_styles(model, call):
            settings = run_settings(
                batch_size=max(rows),
                call=style,
                precision=precision,
                xla=xla,
                device=device,
                memory_limit=memory_limit,
                allocator=allocator,
            )
            refuse(model, settings, as_json)
            chosen.append(settings)
        if estimate_only:
            from stethoscope.cli import cost

            guesses = cost.estimated(
                model, data, cli_run.data_params(prepare, target), chosen, rows, lengths, budget, trust=trust
            )
            print_json(cost.answer(guesses)) if as_json else cost.show(guesses)
            exit_for(worst(guesses))
            return
        from stethoscope.studies.checked_sweep import as_checked, as_ended

        with cli_run.interruptible() as stopped:
            for settings in chosen:
                params = {
                    "settings": settings.to_json(),
                    "batch_sizes": rows,
                    "sizes": lengths,
                    "check": check,
                    "seed": seed,
                    "trusted": trust,
                    **cli_run.data_params(prepare, target),
                }
                result, _ = cli_run.model_job("sweep", model, data, params, budget)
                results[settings.call] = as_ended(as_checked(result))
                if result.status is Status.CANCELLED or stopped():
                    break
        advice = None
        if advise and worst(results).status in (Status.OK, Status.OUT_OF_MEMORY):
            advice = advised(
                model,
                replace(chosen[0], allocator="system"),
                data=data,
                data_params=cli_run.data_params(prepare, target),
                kinds=kinds,
                open_size=lengths[0] if lengths else None,
                seed=seed,
                trusted=trust,
                memory_limit=memory_limit,
                timeout_s=timeout,
            )
        if as_json:
            print_json(sweep_answer(results) | ({} if advice is None else {"advice": advice.to_json()}))
        else:
            from stethoscope.cli import cost

            cost.sweep(results, advice)
        exit_for(worst(results))
        if advice is not None:
            exit_for_status(advice.status, advice.reason)


def numbers(text: str, option: str) -> list[int]:
    """Reads "1,8,64".

    Raises:
        BadSetting: not whole numbers above 0.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise BadSetting(f"{option} {text!r}: expected whole numbers above 0, separated by commas.")
    return sorted({int(part) for part in parts})


def sweep_answer(results: Mapping[str, JobResult]) -> dict[str, Any]:
    """One object from the jobs of all call styles: `points` of all, and the `largest_batch` of the first."""
    from stethoscope.memory.points import SweepUnderWay, Swept

    calls = {
        call: known(result, Swept if result.status is Status.OK else SweepUnderWay) for call, result in results.items()
    }
    return {
        **summary(worst(results)),
        "points": [point for value in calls.values() for point in value.pop("points", ())],
        "largest_batch": next((value["largest_batch"] for value in calls.values() if value.get("largest_batch")), None),
        "calls": [
            {
                **summary(results[call]),
                "wall_s": results[call].wall_s,
                "peak_rss_bytes": results[call].peak_rss_bytes,
                **value,
                "call": call,
            }
            for call, value in calls.items()
        ],
    }


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
        styles = call_styles(model, call)
        chosen = [
            _settings(model, batch_size, style, precision, xla, device, memory_limit, as_json) for style in styles
        ]
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
            print_json(endurance_answer(results))
        else:
            from stethoscope.cli import cost

            cost.endurance(results, reports)
        exit_for(worst(results))
        if any(report and report.leak and report.leak.verdict == "leak" for report in reports.values()):
            raise typer.Exit(LEAKS)


def endurance_answer(results: Mapping[str, JobResult]) -> dict[str, Any]:
    """One object from the jobs of all call styles; how it ended is how the first that failed ended, else the first."""
    from stethoscope.tasks.endurance import EnduranceReport

    ended = worst(results)
    shortage = shortage_of(ended)
    return {
        **summary(ended),
        **({} if shortage is None else {"oom": plain(shortage)}),
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
    model: Path, batch_size: int, call: str, precision: str, xla: bool, device: str, memory_limit: str, as_json: bool
) -> RunSettings:
    settings = run_settings(
        batch_size=batch_size, call=call, precision=precision, xla=xla, device=device, memory_limit=memory_limit
    )
    refuse(model, settings, as_json)
    return settings
