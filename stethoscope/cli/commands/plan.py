"""`stethoscope plan`: which ways of using devices fit a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stethoscope.cli.answers import JsonOption, TimeoutOption, TrustOption, answer_or_exit, failing_well
from stethoscope.codec import plain
from stethoscope.tasks.describe import Description
from stethoscope.types import JobResult


def plan(
    models: Annotated[list[Path], typer.Argument(help="One model, or several that are to share a device.")],
    device: Annotated[
        str,
        typer.Option(
            help="Memory of one device (16GB), its name (t4, a100-80, h100-80, tpu-v5e …), or gpu for the card here."
        ),
    ],
    devices: Annotated[int, typer.Option(min=1, help="How many of them there are.")] = 1,
    train: Annotated[bool, typer.Option("--train/--inference", help="What the devices are for.")] = True,
    optimizer: Annotated[
        str, typer.Option(help="adam, sgd, momentum, adafactor …; auto for the model's own.")
    ] = "auto",
    precision: Annotated[
        str, typer.Option(help="float32, mixed_float16, mixed_bfloat16, bfloat16, float16; auto for the model's own.")
    ] = "auto",
    batch_size: Annotated[int, typer.Option(min=1, help="Samples in one step, over all devices together.")] = 32,
    sequence_length: Annotated[
        int | None, typer.Option(min=1, help="Positions per sample, where the model leaves it open.")
    ] = None,
    image_size: Annotated[str, typer.Option(help="224 or 480x640, where the model leaves it open.")] = "",
    cached_tokens: Annotated[
        int, typer.Option(min=0, help="For text generation: positions whose keys and values are kept.")
    ] = 0,
    recompute: Annotated[
        bool, typer.Option("--recompute/--no-recompute", help="Show what computing activations twice would need.")
    ] = True,
    kind: Annotated[
        str,
        typer.Option(
            "--plan",
            help="Print the program of this plan and nothing else: single, data, tensor, tensor+data; for several models "
            "on one card: processes, logical-devices.",
        ),
    ] = "",
    really_run: Annotated[
        bool,
        typer.Option(
            "--run", help="Also predict with all models at once, each within its share of one device's memory."
        ),
    ] = False,
    exceed: Annotated[
        str, typer.Option(help="With --run, the model (file name) that is given more work than its share holds.")
    ] = "",
    run_time: Annotated[float, typer.Option(min=0.1, help="With --run, seconds they run beside each other.")] = 3.0,
    timeout: TimeoutOption = 300.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say which ways of using the devices fit the model, fastest first, with the code."""
    with failing_well():
        from stethoscope.cli import plan as cli_plan

        asked = cli_plan.settings(
            device, devices, train, optimizer, precision, batch_size, cached_tokens, recompute=recompute
        )
        value = cli_plan.run(models, asked, sequence_length, cli_plan.image_size(image_size), kind)
        if isinstance(value, JobResult):
            answer_or_exit(value, Description, as_json)
            return
        if not really_run:
            cli_plan.write(value, as_json)
            return
        card = asked.device.usable_bytes
        report = cli_plan.run_together(
            models, card, batch_size, exceed=exceed, seconds=run_time, trusted=trust, timeout_s=timeout
        )
        cli_plan.write({**value, **cli_plan.ending(report), "run": plain(report)}, as_json)
        cli_plan.exit_for(report)
