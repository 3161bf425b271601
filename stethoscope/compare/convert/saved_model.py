"""SavedModel with a signature whose inputs and outputs have the model's own names."""

from __future__ import annotations

from pathlib import Path

from stethoscope.compare.convert.converter import Made, Options, Source
from stethoscope.compare.convert.traced import save_traced, trace
from stethoscope.compare.convert.ways_round import is_keras_3, loading, not_traceable
from stethoscope.models.formats import format_of
from stethoscope.task import Reporter
from stethoscope.types import Architecture


class ToSavedModel:
    """See the module's docstring."""

    id = "saved_model"
    title = "SavedModel"
    suffix = ""
    about = "For TensorFlow Serving and for TensorFlow without the model's Python."
    place = 20
    calibrated = False
    options = ("batch_size",)

    def refusal(self, architecture: Architecture) -> str:
        """TFLite and ONNX files are refused."""
        return not_traceable(architecture, self.title)

    def convert(self, source: Source, options: Options, folder: Path, report: Reporter) -> Made:
        """Writes a folder with one signature, "serving_default"."""
        report("trace", 0.1, "tracing the model")
        traced = trace(source, options.batch_size)
        path = folder / "saved_model"
        report("write", 0.5, "writing the folder")
        save_traced(traced, path, source.file.name)
        return Made(path, inputs={name: spec.name for name, spec in traced.inputs}, outputs=dict(traced.outputs))

    def code(self, architecture: Architecture, options: Options) -> str:
        """Keras' own export where there is one, else TensorFlow's."""
        if is_keras_3(architecture) and options.batch_size is None:
            file = f"model{format_of(architecture).extensions[0]}"
            return f'import keras\n\nmodel = keras.models.load_model("{file}")\nmodel.export("saved_model")\n'
        return (
            loading(architecture, options.batch_size)
            + '\n\ntf.saved_model.save(model, "saved_model", signatures=call)\n'
        )


CONVERTER = ToSavedModel()
