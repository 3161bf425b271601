"""The command line: every page's job as a command. `--json` prints one object and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from stethoscope import cli_run
from stethoscope.codec import SCHEMA_VERSION
from stethoscope.errors import BadSetting, StethoscopeError, UnsafeFile
from stethoscope.types import JobResult, Status

app = typer.Typer(
    name="stethoscope",
    help="Find out what is wrong with a TensorFlow model, why, and what fixes it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ModelArgument = Annotated[
    Path, typer.Argument(help="A model: .keras, .h5, SavedModel (folder, zip, tar), .tflite, .onnx, .pb.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DataOption = Annotated[Path | None, typer.Option(help=".npz with one array per input by name, or x.")]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Run the code this file holds (Lambda, custom class), contained.")
]
MemoryOption = Annotated[str, typer.Option(help="Memory the job may add, for example 512MB or 2GB.")]
CallOption = Annotated[str, typer.Option(help="predict, predict_on_batch, call (model(x)), function or compiled.")]
PrecisionOption = Annotated[
    str, typer.Option(help="as-saved, float32, mixed_float16, mixed_bfloat16, float16 or bfloat16.")
]
XlaOption = Annotated[bool, typer.Option("--xla", help="Compile with XLA.")]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu, gpu, or gpu:1 for the second card.")]
TimeoutOption = Annotated[float, typer.Option(help="Seconds before the job is stopped.")]


@app.command()
def serve(
    address: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for the whole network.")] = "localhost",
    port: Annotated[int, typer.Option(help="Port.")] = 8501,
    base_path: Annotated[str, typer.Option(help="URL path to serve under, for example /team/models.")] = "",
    workspace: Annotated[Path | None, typer.Option(help="Folder for files and results.")] = None,
) -> None:
    """Start the dashboard, ready for a team."""
    root = Path(__file__).resolve().parents[1]
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
def describe(model: ModelArgument, as_json: JsonOption = False) -> None:
    """Read a model's architecture without loading it."""
    with _failing_well():
        result = cli_run.describe(model)
        value = _value_or_exit(result, as_json)
        _print(value, as_json, "description")


@app.command()
def predict(
    model: ModelArgument,
    data: DataOption = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows in one call.")] = 32,
    samples: Annotated[int, typer.Option(min=0, help="Rows of random input; 0 for one batch.")] = 0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 300.0,
    seed: Annotated[int, typer.Option(help="Seed of the random input.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the outputs (.npy); a temporary one if not given.")
    ] = None,
    call: CallOption = "function",
    precision: PrecisionOption = "as saved",
    xla: XlaOption = False,
    device: DeviceOption = "auto",
    intra_threads: Annotated[int | None, typer.Option(min=1, help="Threads within one operation.")] = None,
    inter_threads: Annotated[int | None, typer.Option(min=1, help="Operations at a time.")] = None,
    memory_growth: Annotated[bool, typer.Option("--memory-growth", help="GPU: take memory as needed.")] = False,
    gpu_memory_limit: Annotated[str, typer.Option(help="GPU: hard limit on the card, for example 4GiB.")] = "",
    logical_devices: Annotated[
        str, typer.Option(help="Cut the device up: 2GiB,2GiB on a GPU, or a number of logical CPU devices.")
    ] = "",
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run a prediction in a contained process under a memory limit."""
    with _failing_well():
        from stethoscope import cli_predict

        chosen = cli_predict.run_settings(
            batch_size=batch_size,
            call=call,
            precision=precision,
            xla=xla,
            device=device,
            intra_threads=intra_threads,
            inter_threads=inter_threads,
            memory_growth=memory_growth,
            gpu_memory_limit=gpu_memory_limit,
            logical_devices=logical_devices,
            memory_limit=memory_limit,
        )
        refused = cli_predict.refusal(model, chosen)
        if refused is not None:
            if as_json:
                _print(refused, as_json, "prediction")
            raise BadSetting(refused["reason"])
        result, folder = cli_predict.run(
            model, data, chosen, samples=samples, seed=seed, trusted=trust, memory_limit=memory_limit,
            timeout_s=timeout, out=out,
        )  # fmt: skip
        asked = {"seed": seed, **chosen.to_json()}
        _print(cli_predict.answer(_summary(result), result, folder, asked), as_json, "prediction")
        _exit_for(result)


@app.command()
def consistency(
    model: ModelArgument,
    data: DataOption = None,
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
    with _failing_well():
        params = {"runs": runs, "batch_size": batch_size, "seed": seed, "atol": atol, "trusted": trust}
        result, _ = cli_run.model_job("consistency", model, data, params, cli_run.budget(memory_limit, timeout))
        empty: dict[str, Any] = {"consistent": None, "runs": runs, "first_difference": None, "tests": []}
        _print({**_summary(result), **empty, **result.value}, as_json, "consistency")
        _exit_for(result)


@app.command()
def check(
    model: ModelArgument,
    data: DataOption = None,
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
    with _failing_well():
        from stethoscope import cli_check

        level = cli_check.severity(fail_on)
        request = cli_check.request(
            model,
            data,
            logs,
            second,
            fit,
            only,
            prove=prove,
            trusted=trust,
            memory_limit=memory_limit,
            train_s=train_time,
        )
        report = cli_check.run(request)
        cli_check.write_files(report, html, sarif)
        if as_json:
            sys.stdout.write(json.dumps(cli_check.to_json(report), allow_nan=False) + "\n")
        else:
            from stethoscope.cli_text_check import diagnosis

            diagnosis(report)
        cli_check.exit_for(report, level)


@app.command()
def plan(
    models: Annotated[list[Path], typer.Argument(help="One model, or several that are to share a device.")],
    device: Annotated[
        str, typer.Option(help="Memory of one device (16GB), or its name: t4, a100-80, h100-80, tpu-v5e …")
    ],
    devices: Annotated[int, typer.Option(min=1, help="How many of them there are.")] = 1,
    train: Annotated[bool, typer.Option("--train/--inference", help="What the devices are for.")] = True,
    optimizer: Annotated[
        str, typer.Option(help="adam, sgd, momentum, adafactor …; auto for the model's own.")
    ] = "auto",
    precision: Annotated[
        str,
        typer.Option(
            help="float32, mixed_float16, mixed_bfloat16, bfloat16, megatron_mixed …; auto for the model's own."
        ),
    ] = "auto",
    batch_size: Annotated[int, typer.Option(min=1, help="Samples in one step, over all devices together.")] = 32,
    sequence_length: Annotated[
        int | None, typer.Option(min=1, help="Positions per sample, where the model leaves it open.")
    ] = None,
    image_size: Annotated[str, typer.Option(help="224 or 480x640, where the model leaves it open.")] = "",
    zero: Annotated[str, typer.Option(help="ZeRO stage over data-parallel devices: auto, 0, 1, 2 or 3.")] = "auto",
    cached_tokens: Annotated[
        int, typer.Option(min=0, help="For text generation: positions whose keys and values are kept.")
    ] = 0,
    recompute: Annotated[
        bool, typer.Option("--recompute/--no-recompute", help="Allow plans that compute activations twice.")
    ] = True,
    sequence_parallel: Annotated[
        bool, typer.Option("--sequence-parallel", help="With tensor parallelism, split by position as Megatron does.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say which ways of using the devices fit the model, cheapest first, with the code."""
    with _failing_well():
        from stethoscope import cli_plan

        asked = cli_plan.settings(
            device,
            devices,
            train,
            optimizer,
            precision,
            batch_size,
            zero,
            cached_tokens,
            recompute=recompute,
            sequence_parallel=sequence_parallel,
        )
        value = cli_plan.run(models, asked, sequence_length, cli_plan.image_size(image_size))
        if isinstance(value, JobResult):
            _value_or_exit(value, as_json)
        elif as_json:
            sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")
        else:
            from stethoscope.cli_text_plan import plans

            plans(value)


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Say what is installed and which containment layers hold: tried, not guessed."""
    with _failing_well():
        from stethoscope.doctor import examine

        _print(examine(), as_json, "examination")


def main() -> NoReturn:
    """Entry point of the `stethoscope` command."""
    app()
    raise SystemExit(0)


def _summary(result: JobResult) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "status": result.status.value,
        "phase": result.phase,
        "reason": result.reason,
        "error": result.error,
    }


def _print(value: Mapping[str, Any], as_json: bool, what: str) -> None:
    if as_json:
        sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")
    else:
        from stethoscope import cli_text

        getattr(cli_text, what)(value)


def _value_or_exit(result: JobResult, as_json: bool) -> Mapping[str, Any]:
    if result.status is not Status.OK:
        if as_json:
            sys.stdout.write(json.dumps(_summary(result)) + "\n")
        _exit_for(result)
    return result.value


def _exit_for(result: JobResult) -> None:
    """Ends with 0 for an answer, 3 for a refusal, 2 for anything that could not run (the reason on standard error)."""
    if result.status is Status.OK:
        return
    sys.stderr.write(f"{result.reason}\n")
    raise typer.Exit(UnsafeFile.exit_code if result.status is Status.REFUSED else StethoscopeError.exit_code)


@contextlib.contextmanager
def _failing_well() -> Iterator[None]:
    try:
        yield
    except StethoscopeError as error:
        sys.stderr.write(f"{error}\n")
        raise typer.Exit(error.exit_code) from error


if __name__ == "__main__":
    main()
