"""`stethoscope check`: what is wrong, why, and what fixes it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from stethoscope.cli.answers import (
    DataOption,
    JsonOption,
    MemoryOption,
    PrepareOption,
    TargetOption,
    TrustOption,
    failing_well,
    severity,
)
from stethoscope.cli.printed import print_json
from stethoscope.errors import BadSetting


def check(
    model: Annotated[
        Path,
        typer.Argument(
            help="A model (.keras, .h5, SavedModel, .tflite, .onnx, .pb), or a training script or notebook (.py, .ipynb; - reads it "
            "from standard input)."
        ),
    ],
    second_file: Annotated[
        Path | None, typer.Argument(metavar="[SCRIPT]", help="The script that trains the model: .py or .ipynb.")
    ] = None,
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    logs: Annotated[
        Path | None, typer.Option(help="Training logs: a folder of event files, or a .csv or .json.")
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(
            help="How it was trained: epochs=50,batch_size=32,validation_split=0.2,shuffle=false; also loss, from_logits, "
            "optimizer, learning_rate, metrics. With it (and data) a copy is trained for a few seconds."
        ),
    ] = None,
    second: Annotated[Path | None, typer.Option(help="Another model to score on the same rows.")] = None,
    script: Annotated[Path | None, typer.Option(help="The script that trains the model: read, never run.")] = None,
    patch: Annotated[
        Path | None, typer.Option(help="Write the script with every patch in it to this new file.")
    ] = None,
    only: Annotated[str, typer.Option(help="Ids of the checks to run, separated by commas.")] = "",
    prove: Annotated[bool, typer.Option("--prove", help="Try each fix side by side with the original.")] = False,
    fail_on: Annotated[
        str, typer.Option(help="Exit with 1 from this severity: info, low, medium, high, critical.")
    ] = "high",
    train_time: Annotated[float, typer.Option(help="Seconds for the short training run.")] = 10.0,
    memory_limit: MemoryOption = "",
    trust: TrustOption = False,
    html: Annotated[Path | None, typer.Option(help="Write the report as one HTML file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write the findings as SARIF 2.1.0.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Find out what is wrong, why, and what fixes it."""
    with failing_well():
        from stethoscope.cli import check as cli_check
        from stethoscope.cli import run as cli_run
        from stethoscope.cli import script as cli_script

        level = severity(fail_on)
        with cli_script.given(model, second_file, script) as given:
            if patch is not None and given.script is None:
                raise BadSetting("--patch: expected a script beside it. Give train.py, or --script train.py.")
            if given.model is None:
                assert given.script is not None
                report = cli_script.alone(given.script)
            else:
                request = cli_check.request(
                    given.model,
                    data,
                    logs,
                    second,
                    fit,
                    only,
                    prove=prove,
                    trusted=trust,
                    memory_limit=memory_limit,
                    train_s=train_time,
                    data_params=cli_run.data_params(prepare, target),
                )
                report = cli_check.run(request, given.script)
            cli_check.write_files(report, html, sarif)
            if patch is not None and given.script is not None:
                sys.stderr.write(cli_script.write_patched(given.script, report.findings, patch) + "\n")
        if as_json:
            print_json(cli_check.to_json(report))
        else:
            from stethoscope.cli.check import diagnosis

            diagnosis(report)
        cli_check.exit_for(report, level)
