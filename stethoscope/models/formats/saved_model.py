"""TensorFlow SavedModel: a folder with a graph, its variables and assets; here as a zip, a tar or a folder.

`describe` reads the graph (weights left out) and the list of variables; it never loads the model, because loading one runs it.
Layers are the operators of one signature with its function calls inlined.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from stethoscope.errors import CannotRun, NeedsTrust
from stethoscope.models.formats.tf_graph import (
    graph_drawing,
    saved_model_files,
    saved_model_graph,
    saved_model_serving,
)
from stethoscope.models.formats.tf_graph.saved_model_architecture import architecture
from stethoscope.models.model_format import Format, Program, WeightsByLayer
from stethoscope.types import Architecture, ModelFile, Runner, WorkerKind


class SavedModelFormat(Format):
    """See the module's docstring."""

    id = "saved_model"
    title = "TensorFlow SavedModel (zip, tar.gz or folder)"
    extensions = (".zip", ".tar", ".tgz", ".gz", ".pb", ".pbtxt")
    hint = "a SavedModel as zip, tar or folder"
    worker: WorkerKind = "tensorflow"
    is_program = True
    trainable = opens_inside = True

    def sniff(self, file: ModelFile) -> bool:
        """Whether it is an archive or folder with a saved_model.pb inside, or such a file alone."""
        return saved_model_files.looks_like_one(file) or saved_model_graph.is_saved_model(file)

    def describe(self, file: ModelFile) -> Architecture:
        """Reads the default signature, the variables, and everything that reaches outside the graph."""
        return architecture(saved_model_files.locate(file))

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """The served operators with their weights' shapes, as Netron draws them best; the whole graph where nothing is served."""
        located = saved_model_files.locate(file)
        served = saved_model_serving.serve(located)
        if served.graph.operators:
            return "graph.pb", graph_drawing.draw(served.graph, served.functions, served.behind)
        return saved_model_files.GRAPHS[0], served.saved.SerializeToString()

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """Unpacks the model into `scratch` and loads it with TensorFlow.

        Raises:
            NeedsTrust: it holds operators that reach outside the graph, and nobody said yes to that.
            CannotRun: variables are missing, an operator is unknown, or it has nothing to call.
        """
        located = saved_model_files.locate(file)
        described = architecture(located)
        if described.runnable:
            raise CannotRun(described.runnable)
        if described.hazards and not trusted:
            first = described.hazards[0]
            raise NeedsTrust(
                f"{file.name}: {first.message.rstrip('.')} ({first.where}). It runs only after you allow it for this file."
            )
        from stethoscope.models.formats.tf_graph import saved_model_runner

        return saved_model_runner.load(file, located.unpack(scratch), saved_model_graph.load(located), described)

    def program(self, name: str, architecture: Architecture) -> Program:
        """See `Format.program`."""
        folder = name.split(".", maxsplit=1)[0] or "model"
        return Program(
            ("import tensorflow as tf",),
            (
                f"model = tf.saved_model.load({folder!r})  # the unpacked folder",
                "serve = model.signatures['serving_default']",
            ),
            ("results.append(serve(**{name: tf.constant(values) for name, values in batch.items()}))",),
        )

    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """See `Format.weights`."""
        from stethoscope.models.weights.saved_model_weights import of_model

        return of_model(file)


FORMAT: Any = SavedModelFormat()
