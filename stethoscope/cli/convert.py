"""`stethoscope convert`: a model in another form, loaded and run by the runtime it is for before it counts."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

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
from stethoscope.codec import partial_of
from stethoscope.compare.convert.converter import DEFAULT_OPSET, Options, what_to_do
from stethoscope.errors import BadSetting
from stethoscope.types import JobResult

if TYPE_CHECKING:
    from stethoscope.tasks.convert import Conversion


class ConvertCommand(TyperCommand):
    """Its help names the targets; they are looked for when it is asked for, as that is half of a command's start."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """See `TyperCommand.format_help`."""
        from stethoscope.compare.convert import all_converters

        for option in self.params:
            if isinstance(option, TyperOption) and option.name == "to":
                option.help = f"{', '.join(all_converters())}."
        super().format_help(ctx, formatter)


def convert(
    model: ModelArgument,
    to: Annotated[str, typer.Option(help="The target.")],
    out: Annotated[Path, typer.Option(help="Where to write it; a folder for a SavedModel, or its .zip.")],
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    opset: Annotated[int, typer.Option(help="ONNX: the operator set.")] = DEFAULT_OPSET,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Rows in every call; any number if not given.")] = None,
    integer_ends: Annotated[
        bool, typer.Option("--integer-ends", help="Full int8: integer inputs and outputs too.")
    ] = False,
    allow_float: Annotated[
        bool,
        typer.Option(
            "--allow-float",
            help="Full int8: tells the converter that float operators are welcome; it seldom changes the file.",
        ),
    ] = False,
    calibration_rows: Annotated[int, typer.Option(min=1, help="Rows by which ranges are found.")] = 100,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Rows on which both are compared; 8, or fewer where they take long.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random input, without data.")] = 0,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 900.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Convert a model; it counts when the target's own runtime has run it."""
    from stethoscope.compare.convert import all_converters

    with failing_well():
        kind = to.replace("savedmodel", "saved_model")
        if kind not in (targets := all_converters()):
            raise BadSetting(f"--to {to!r}: expected one of {', '.join(targets)}.")
        options = Options.from_json(
            {
                "opset": opset,
                "batch_size": batch_size,
                "integer_ends": integer_ends,
                "allow_float": allow_float,
                "calibration_rows": calibration_rows,
            }
        )
        params = {"target": kind, "options": options.to_json(), "rows": rows, "seed": seed, "trusted": trust}
        params |= cli_run.data_params(prepare, target)
        with tempfile.TemporaryDirectory(prefix="stethoscope-convert-") as folder:
            result, left = cli_run.model_job(
                "convert", model, data, params, cli_run.budget(memory_limit, timeout), Path(folder), "tensorflow"
            )
            from stethoscope.cli import text_comparisons
            from stethoscope.tasks.convert import Conversion

            conversion = partial_of(result, Conversion)
            path = None if conversion is None else _placed(conversion, left, out)
        result = replace(result, reason=f"{result.reason} {what_to_do(result.status)}".strip())
        if as_json:
            print_json(_answer(result, path))
        elif conversion is not None and path is not None:
            text_comparisons.conversion(conversion, path)
        else:
            text_comparisons.refusal(result)
        exit_for(result)


def _placed(conversion: Conversion, left: Path, out: Path) -> Path:
    """Moves the files of the job to where the user wants them."""
    made = left / Path(conversion.file).name
    out.parent.mkdir(parents=True, exist_ok=True)
    if made.suffix == ".zip" and out.suffix.lower() != ".zip":
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise BadSetting(
                f"{out}: expected a folder that is empty or not there yet. Give another --out, or one that ends in .zip."
            )
        with zipfile.ZipFile(made) as archive:  # our own, of what our own worker wrote; names are checked by extract
            archive.extractall(out)
        return out.resolve()
    for name in conversion.beside:
        beside = out.with_name(Path(name).name)
        if beside.exists() and not out.exists():  # of another model: that one would find the wrong weights
            raise BadSetting(f"{beside}: there are weights of another model. Give an --out in a folder of its own.")
        shutil.move(left / beside.name, beside)
    shutil.move(made, out)
    return out.resolve()


def _answer(result: JobResult, path: Path | None) -> dict[str, Any]:
    from stethoscope.compare.convert.converter import NotConverted
    from stethoscope.tasks.convert import Conversion

    empty: dict[str, Any] = {
        "path": None if path is None else str(path),
        "size_bytes": None,
        "runs_in_target": False,
        "max_abs_diff": None,
        "unsupported": [],
    }
    found = known(result, NotConverted) | known(result, Conversion)
    found = {key: value for key, value in found.items() if key not in ("file", "beside")}
    return {**summary(result), "peak_rss_bytes": result.peak_rss_bytes, "wall_s": result.wall_s, **empty, **found}


COMMAND = ConvertCommand
"""Its class in the table of commands."""
