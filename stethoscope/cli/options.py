"""Options that several commands of the command line have, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelArgument = Annotated[
    Path, typer.Argument(help="A model: .keras, .h5, SavedModel (folder, zip, tar), .tflite, .onnx, .pb.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DataOption = Annotated[
    Path | None,
    typer.Option(
        help="Samples: .npz, .npy, .csv, .parquet, .tfrecord, .jsonl, .txt, .wav, images in folders or archives, COCO, YOLO, VOC …"
    ),
]
PrepareOption = Annotated[
    str, typer.Option(help='Steps that prepare the data, as JSON: [{"step": "scale", "of": "x", "factor": 0.00392}].')
]
TargetOption = Annotated[
    str, typer.Option(help="The column or array of the data that is to be foretold; none for no target.")
]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Run the code this file holds (Lambda, custom class), contained.")
]
MemoryOption = Annotated[str, typer.Option(help="Memory the job may add, for example 512MB or 2GB.")]
CallOption = Annotated[str, typer.Option(help="predict, predict_on_batch, call (model(x)), function or compiled.")]
PrecisionOption = Annotated[
    str, typer.Option(help="as-saved, float32, mixed_float16, mixed_bfloat16, float16 or bfloat16.")
]
XlaOption = Annotated[bool, typer.Option("--xla", help="Compile with XLA.")]
AllocatorOption = Annotated[
    str, typer.Option(help="On the CPU: system (gives freed memory back) or pool (TensorFlow's own, as it comes).")
]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu, gpu, or gpu:1 for the second card.")]
TimeoutOption = Annotated[float, typer.Option(help="Seconds before the job is stopped.")]
