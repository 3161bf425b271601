"""The command line: every page's job as a command. `--json` prints one object and nothing else."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from stethoscope.cli import convert as cli_convert
from stethoscope.cli import curves as cli_curves
from stethoscope.cli import data_changes, data_study, outputs, peak_memory, side_by_side
from stethoscope.cli import explain as cli_explain
from stethoscope.cli import placement as cli_placement
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
    answer_or_exit,
    exit_for,
    failing_well,
    known,
    print_json,
    severity,
    summary,
)
from stethoscope.cli.own_code import takes_code
from stethoscope.codec import plain
from stethoscope.errors import BadSetting
from stethoscope.tasks.describe import Description
from stethoscope.types import JobResult

app = typer.Typer(
    name="stethoscope",
    help="Find out what is wrong with a TensorFlow model, why, and what fixes it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def serve(
    address: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for the whole network.")] = "localhost",
    port: Annotated[int, typer.Option(help="Port.")] = 8501,
    base_path: Annotated[str, typer.Option(help="URL path to serve under, for example /team/models.")] = "",
    workspace: Annotated[Path | None, typer.Option(help="Folder for files and results.")] = None,
) -> None:
    """Start the dashboard, ready for a team."""
    root = Path(__file__).resolve().parents[2]
    home = root / "dashboard" / "Home.py"
    if workspace is not None:
        os.environ["STETHOSCOPE_WORKSPACE"] = str(workspace.resolve())
    prefix = base_path.strip("/")
    os.environ["STETHOSCOPE_BASE_PATH"] = prefix
    options = {"server.address": address, "server.port": port, "server.baseUrlPath": prefix, "server.headless": "true"}
    if address not in ("localhost", "127.0.0.1", "::1"):
        os.environ.setdefault("STETHOSCOPE_REQUIRE_CONTAINMENT", "true")
    shown = "localhost" if address in ("0.0.0.0", "::", "localhost") else address
    options["browser.serverAddress"] = shown
    command = [sys.executable, "-m", "streamlit", "run", str(home)]
    command += [f"--{name}={value}" for name, value in options.items()]
    sys.stderr.write(f"Stethoscope on http://{shown}:{port}/{prefix}\n")
    sys.stderr.flush()
    os.chdir(root)
    os.execv(sys.executable, command)


@app.command()
@takes_code
def describe(model: ModelArgument, as_json: JsonOption = False) -> None:
    """Read a model's architecture without loading it."""
    with failing_well():
        result = cli_run.describe(model)
        description = answer_or_exit(result, Description, as_json)
        if as_json:
            print_json(plain(description))
        else:
            from stethoscope.cli import text as cli_text

            cli_text.description(description)


app.command()(takes_code(outputs.predict))
app.command()(takes_code(outputs.activations))
app.command()(takes_code(peak_memory.sweep))
app.command()(takes_code(peak_memory.endurance))
app.command()(takes_code(cli_placement.placement))
app.command()(cli_curves.curves)
app.command()(takes_code(data_study.data))
app.command()(data_changes.versions)
app.command(cls=cli_convert.ConvertCommand)(takes_code(cli_convert.convert))
app.command()(takes_code(side_by_side.compare))
app.command()(takes_code(side_by_side.latency))
app.command()(takes_code(data_changes.drift))
app.command()(cli_explain.explain)


@app.command()
@takes_code
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


@app.command()
@takes_code
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
            sys.stdout.write(json.dumps(cli_check.to_json(report), allow_nan=False) + "\n")
        else:
            from stethoscope.cli.check import diagnosis

            diagnosis(report)
        cli_check.exit_for(report, level)


@app.command()
@takes_code
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


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Say what is installed and which containment layers hold: tried, not guessed."""
    with failing_well():
        from stethoscope.studies.doctor import examine

        examined = examine()
        if as_json:
            print_json(plain(examined))
        else:
            from stethoscope.cli import text as cli_text

            cli_text.examination(examined)


def main() -> NoReturn:
    """Entry point of the `stethoscope` command."""
    app()
    raise SystemExit(0)


if __name__ == "__main__":
    main()
