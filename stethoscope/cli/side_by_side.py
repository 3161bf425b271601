"""`stethoscope compare` and `stethoscope latency`: models beside each other, whether they say the same, and how long they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import (
    DataOption,
    DeviceOption,
    JsonOption,
    MemoryOption,
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
    exit_for,
    exit_for_status,
    failing_well,
    known,
)
from stethoscope.cli.peak_memory import numbers
from stethoscope.cli.printed import print_json, summary
from stethoscope.cli.settings import refuse, run_settings
from stethoscope.codec import answer_of, partial_of
from stethoscope.errors import BadSetting
from stethoscope.memory.run_settings import RunSettings
from stethoscope.tasks.describe import FormatNamed
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status, WorkerKind

if TYPE_CHECKING:
    from stethoscope.compare.parity.comparison import Comparison
    from stethoscope.tasks.compare_weights import WeightsDifference

_EMPTY: dict[str, Any] = {"verdict": None, "outputs": [], "top1_agreement": None, "first_divergence": None}
_LIGHT = (".onnx", ".tflite")
_FROM_BAD = (None, "different", "within_tolerance", "equal")


def compare(
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL_A MODEL_B…", help="The model that is right, then the ones that should say the same."
        ),
    ],
    way: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare the first model also with itself, run in another way: call=predict, precision=mixed_bfloat16, "
            "device=gpu, threads=1, xla=true, several joined by commas. May be given several times."
        ),
    ] = None,
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    rows: Annotated[int, typer.Option(min=1, help="Rows on which outputs are compared.")] = 32,
    layers: Annotated[bool, typer.Option("--layers/--no-layers", help="Look for the first layer that parts.")] = True,
    edges: Annotated[
        bool, typer.Option("--edges/--no-edges", help="Also give both zeros, very large values, NaN and infinities.")
    ] = True,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Rows in a call; all at once if not given.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random input, without data.")] = 0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 600.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Do models say the same, and if not, where do they part and why? Exits with 1 where they differ."""
    with failing_well():
        from stethoscope.compare.parity.precision import parse_way, said

        ways = [parse_way(one) for one in way or ()]
        others = [_Other(path, path.name) for path in models[1:]]
        others += [_Other(models[0], f"{models[0].name}, {said(one)}", one) for one in ways]
        if not others:
            raise BadSetting("Expected two models or more, got one. To compare it with itself, give a --way.")
        params: dict[str, Any] = {
            "rows": rows,
            "layers": layers,
            "edges": edges,
            "seed": seed,
            "trusted": trust,
            "trusted_other": trust,
        }
        if batch_size is not None:
            params["batch_size"] = batch_size
        params |= cli_run.data_params(prepare, target)
        results, kinds = _compared(models[0], others, data, params, cli_run.budget(memory_limit, timeout))
        from stethoscope.cli import text_comparisons, weights_text
        from stethoscope.compare.parity.comparison import Comparison
        from stethoscope.tasks.compare_weights import WeightsDifference

        compared = [partial_of(result, kind) for result, kind in zip(results, kinds, strict=True)]
        verdicts = [None if one is None else one.verdict for one in compared]
        worst = min(range(len(results)), key=lambda place: _FROM_BAD.index(verdicts[place]))
        if as_json:
            answers = [_comparison_answer(*each) for each in zip(results, others, kinds, strict=True)]
            print_json(answers[worst] | ({"comparisons": answers} if len(answers) > 1 else {}))
        else:
            titles, ends, answers_of_models = list[str](), list[JobResult](), list[Comparison | None]()
            for other, result, one in zip(others, results, compared, strict=True):
                if isinstance(one, WeightsDifference):
                    weights_text.difference(models[0].name, other.title, one)
                else:
                    titles, ends = [*titles, other.title], [*ends, result]
                    answers_of_models.append(one)
            if titles:
                text_comparisons.comparisons(titles, ends, answers_of_models)
        bad = next((one for one in results if one.status is not Status.OK), results[0])
        exit_for_status(bad.status, bad.reason)
        if verdicts[worst] == "different":
            raise typer.Exit(1)


@dataclass(frozen=True)
class _Other:
    """What the first model is compared with."""

    path: Path
    title: str
    settings: RunSettings | None = None


def _compared(
    first: Path, others: Sequence[_Other], data: Path | None, params: Mapping[str, Any], limits: Budget
) -> tuple[list[JobResult], list[type[Comparison | WeightsDifference]]]:
    """The comparisons, in order, and what each answers; one whose model cannot be described ends as that did."""
    from stethoscope.compare.parity.comparison import Comparison
    from stethoscope.models.formats import all_formats
    from stethoscope.tasks.compare_weights import WeightsDifference
    from stethoscope.tasks.record import Compared, comparison_job

    files = cli_run.input_files(first, data)
    rows = files.pop("data", None)
    given = [cli_run.input_files(one.path, None) for one in others]
    with cli_run.short_engine() as engine:
        if not all(one.suffix.lower() in _LIGHT for one in (first, *(other.path for other in others))):
            engine.warm(["tensorflow"])  # takes seconds, which are those of reading what the files are
        described, worker = cli_run.describe_kind(engine, files)
        if described.status is not Status.OK:
            return [described] * len(others), [Comparison] * len(others)
        left, ends = Compared(files, worker), dict[int, JobResult]()
        right, jobs = dict[int, Compared](), dict[int, Job]()
        kinds: list[type[Comparison | WeightsDifference]] = [Comparison] * len(others)
        held = all_formats()[answer_of(described, FormatNamed).format_id].only_weights
        for place, (one, own) in enumerate(zip(others, given, strict=True)):
            described, worker = cli_run.describe_kind(engine, own)
            if described.status is not Status.OK:
                ends[place] = described
                continue
            named = answer_of(described, FormatNamed).format_id
            if one.settings is None and (held or all_formats()[named].only_weights):
                kinds[place] = WeightsDifference
                theirs = {"other" if role == "model" else f"other-{role}": file for role, file in own.items()}
                jobs[place] = Job("compare_weights", files | theirs, {}, limits)
                continue
            right[place] = Compared(own, worker, one.settings, named)
        jobs |= {
            place: comparison_job(left, one, rows, params, limits, list(right.values())) for place, one in right.items()
        }
        ends |= dict(zip(jobs, cli_run.run_jobs(engine, list(jobs.values())), strict=True))
    return [ends[place] for place in range(len(others))], kinds


def _comparison_answer(result: JobResult, other: _Other, kind: type[Comparison | WeightsDifference]) -> dict[str, Any]:
    return {
        **summary(result),
        "with": other.title,
        "peak_rss_bytes": result.peak_rss_bytes,
        "wall_s": result.wall_s,
        **_EMPTY,
        **known(result, kind),
    }


def latency(
    models: Annotated[list[Path], typer.Argument(help="One model, or several that take the same input.")],
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    batch_sizes: Annotated[str, typer.Option(help="Rows in a call, separated by commas.")] = "1,8,32",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of every runtime; each runtime's own number if not given.")
    ] = None,
    device: DeviceOption = "auto",
    calls: Annotated[
        str,
        typer.Option(
            help="How Keras models are called, separated by commas: function, predict, predict_on_batch, call, compiled."
        ),
    ] = "function",
    seconds: Annotated[
        float, typer.Option(min=0.01, help="Seconds of counted calls for each row of the answer.")
    ] = 2.0,
    seed: Annotated[int, typer.Option(help="Seed of the random input, without data.")] = 0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 900.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """How long do models take for the same input? p50, p90 and p99 per runtime and batch size, with size and memory."""
    with failing_well():
        params: dict[str, Any] = {
            "batch_sizes": numbers(batch_sizes, "--batch-sizes"),
            "threads": threads,
            "device": device,
            "calls": [one.strip() for one in calls.split(",") if one.strip()],
            "seconds": seconds,
            "seed": seed,
        } | cli_run.data_params(prepare, target)
        on = run_settings(batch_size=1, device=device)
        if on.device == "gpu":
            refuse(models[0], on, as_json, {"rows": [], "models": [], "notes": []})
        result = _timed(models, data, params, trust, cli_run.budget(memory_limit, timeout))
        if as_json:
            from stethoscope.tasks.latency import Latencies

            empty: dict[str, Any] = {"rows": [], "models": [], "notes": []}
            print_json(
                summary(result)
                | {"peak_rss_bytes": result.peak_rss_bytes, "wall_s": result.wall_s}
                | empty
                | known(result, Latencies)
            )
        else:
            from stethoscope.cli.cost import latencies

            latencies(result)
        exit_for(result)


def _timed(models: Sequence[Path], data: Path | None, params: dict[str, Any], trust: bool, limits: Budget) -> JobResult:
    """Runs the job in the kind of worker that all models can do with; one that cannot be read has its reason in the answer."""
    files: dict[str, ModelFile] = {}
    with cli_run.short_engine() as engine:
        workers: set[WorkerKind] = set()
        for place, model in enumerate(models):
            role = f"other-{place}" if place else "model"
            own = cli_run.input_files(model, data if place == 0 else None)
            beside = cli_run.beside_files(own)
            described, worker = cli_run.describe_kind(engine, own)
            if described.status is Status.OK:
                workers.add(worker)
            elif len(models) == 1:
                return described
            files |= {role: own["model"], **{f"{role}-{name}": file for name, file in beside.items()}}
            files |= {"data": own["data"]} if "data" in own else {}
            params[f"trusted_{role}" if place else "trusted"] = trust
        return cli_run.run_job(
            engine, Job("latency", files, params, limits, "tensorflow" if "tensorflow" in workers else "light")
        )
