"""`stethoscope describe`: models, or weights without a graph, read without loading them; several at once, and from standard input."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stethoscope.cli.answers import JsonOption


def describe(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="A model: .keras, .h5, SavedModel (folder, zip, tar), .tflite, .onnx, .pb; or weights without one: .weights.h5, "
            "a checkpoint, .safetensors. Several, a pattern or a folder of them: one line each. - reads standard input.",
        ),
    ],
    weights: Annotated[
        Path | None, typer.Option(help="Weights to hold beside the model: do they fit it? Exits with 1 if not.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read a model's architecture without loading it."""
    from stethoscope.cli.describing import ended

    raise typer.Exit(ended(models, weights, as_json))
