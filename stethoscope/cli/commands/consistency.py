"""`stethoscope consistency`: whether the same input gives the same output."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import (
    DataOption,
    JsonOption,
    MemoryOption,
    ModelArgument,
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
    exit_for,
    failing_well,
    known,
)
from stethoscope.cli.printed import print_json, summary


def consistency(
    model: ModelArgument,
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    runs: Annotated[int, typer.Option(min=2, help="How often the same input is run.")] = 5,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in the input.")] = 8,
    seed: Annotated[int, typer.Option(help="Seed of the random input.")] = 0,
    atol: Annotated[float, typer.Option(help="Absolute tolerance.")] = 1e-5,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 300.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Does the same input always give the same output?"""
    with failing_well():
        params = {"runs": runs, "batch_size": batch_size, "seed": seed, "atol": atol, "trusted": trust}
        params |= cli_run.data_params(prepare, target)
        result, _ = cli_run.model_job("consistency", model, data, params, cli_run.budget(memory_limit, timeout))
        from stethoscope.cli import text as cli_text
        from stethoscope.compare.consistency.report import ConsistencyReport

        if as_json:
            empty: dict[str, Any] = {"consistent": None, "runs": runs, "first_difference": None, "tests": []}
            print_json({**summary(result), **empty, **known(result, ConsistencyReport)})
        else:
            cli_text.consistency(result)
        exit_for(result)
