"""`stethoscope sweep`: predicted and measured peak memory and time over batch sizes, one contained job per call style."""

from __future__ import annotations

from collections.abc import Mapping
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
from stethoscope.errors import BadSetting
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
    call: CallOption = "function",
    precision: PrecisionOption = "as saved",
    xla: XlaOption = False,
    device: DeviceOption = "auto",
    allocator: AllocatorOption = "system",
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
    changes: Annotated[str, typer.Option(help="With --advise, which changes to try.")] = ",".join(KINDS),
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
        kinds = known_kinds(changes)
        budget = cli_run.budget(memory_limit, timeout)
        chosen: list[RunSettings] = []
        results: dict[str, JobResult] = {}
        for style in dict.fromkeys(part.strip() for part in call.split(",") if part.strip()):
            settings = run_settings(
                batch_size=max(rows),
                call=style,
                precision=precision,
                xla=xla,
                device=device,
                memory_limit=memory_limit,
                allocator=allocator,
            )
            refused = refusal(model, settings)
            if refused is not None:
                raise BadSetting(refused["reason"])
            chosen.append(settings)
        if not chosen:
            raise BadSetting("--call: expected at least one call style, for example function.")
        if estimate_only:
            from stethoscope.cli import cost

            guesses = cost.estimated(
                model, data, cli_run.data_params(prepare, target), chosen, rows, lengths, budget, trust=trust
            )
            print_json(cost.answer(guesses)) if as_json else cost.show(guesses)
            exit_for(worst(guesses))
            return
        from stethoscope.studies.checked_sweep import as_checked

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
                results[settings.call] = as_checked(result)
                if result.status is Status.CANCELLED or stopped():
                    break
        advice = None
        if advise and worst(results).status in (Status.OK, Status.OUT_OF_MEMORY):
            advice = advised(
                model,
                chosen[0],
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
            print_json(answer(results) | ({} if advice is None else {"advice": advice.to_json()}))
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


def answer(results: Mapping[str, JobResult]) -> dict[str, Any]:
    """One object from the jobs of all call styles: `points` of all, and the `largest_batch` of the first."""
    from stethoscope.tasks.sweep import SweepUnderWay, Swept

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
