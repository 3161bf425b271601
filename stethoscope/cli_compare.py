"""`stethoscope compare`: whether two models say the same, and where they part."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from stethoscope import cli_run
from stethoscope.cli_answers import exit_for, failing_well, print_answer, summary
from stethoscope.cli_options import (
    DataOption,
    JsonOption,
    MemoryOption,
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
)


def compare(
    model_a: Annotated[Path, typer.Argument(help="The model that is right.")],
    model_b: Annotated[Path, typer.Argument(help="The model that should say the same.")],
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    rows: Annotated[int, typer.Option(min=1, help="Rows on which outputs are compared.")] = 32,
    layers: Annotated[bool, typer.Option("--layers/--no-layers", help="Look for the first layer that parts.")] = True,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Rows in a call; all at once if not given.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random input, without data.")] = 0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 600.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Do two models say the same, and if not, where do they part and why? Exits with 1 where they differ."""
    with failing_well():
        params: dict[str, Any] = {
            "rows": rows,
            "layers": layers,
            "seed": seed,
            "trusted": trust,
            "trusted_other": trust,
        }
        if batch_size is not None:
            params["batch_size"] = batch_size
        params |= cli_run.data_params(prepare, target)
        result = cli_run.pair_job("compare", model_a, model_b, data, params, cli_run.budget(memory_limit, timeout))
        empty: dict[str, Any] = {"verdict": None, "outputs": [], "top1_agreement": None, "first_divergence": None}
        value = {
            **summary(result),
            "peak_rss_bytes": result.peak_rss_bytes,
            "wall_s": result.wall_s,
            **empty,
            **result.value,
        }
        print_answer(value, as_json, "comparison")
        exit_for(result)
        if value["verdict"] == "different":
            raise typer.Exit(1)
