"""Models called as a program of one's own calls them: the runtime's default settings, nothing checked per call.

Our runners check and name what goes in and out, and have ONNX Runtime give memory back at once: 50 to 120 microseconds a call,
more than a small model takes. Used in a worker, on files that a runner has opened before: that is what refuses the unsafe ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from stethoscope import runtime_threads
from stethoscope.models.capabilities import LiveModel
from stethoscope.models.formats.tf_graph import tf_calls
from stethoscope.models.formats.tflite import load
from stethoscope.models.formats.tflite_model import tflite_layers
from stethoscope.models.model_format import Format
from stethoscope.types import Feed, ModelFile, TensorSpec

_QUIET = 3


class Plain(Protocol):
    """A model that its runtime has loaded."""

    def ready(self, feed: Feed) -> Callable[[], object]:
        """The call on a feed; the first one may set up what these shapes need."""
        ...

    def close(self) -> None:
        """Lets go of the model."""
        ...


def loader(format_: Format, file: ModelFile, inputs: Sequence[TensorSpec]) -> Callable[[], Plain] | None:
    """What loads the model plainly; None where only its runner can call it."""
    known: dict[str, Callable[[ModelFile], Plain]] = {"onnxruntime": _Session, "litert": _Interpreter}
    plain = known.get(format_.runtime)
    if plain is None or not _of_numbers(inputs) or not format_.loads_plainly(file):
        return None
    return lambda: plain(file)


def traced(runner: LiveModel) -> Callable[[Feed], Callable[[], object]] | None:
    """What makes calls of a `tf.function` around a live Keras model, for arrays and to arrays; None where it takes text.

    Args:
        runner: it stays the owner of its model.
    """
    if not _of_numbers(runner.inputs):
        return None
    import tensorflow as tf  # noqa: TID251 - runs in a worker

    names = [spec.name for spec in runner.inputs]
    function = tf.function(runner.live_outputs, reduce_retracing=True)

    def ready(feed: Feed) -> Callable[[], object]:
        arrays = [feed[name] for name in names]
        return lambda: [tf_calls.array(one) for one in function([tf.constant(array) for array in arrays]).values()]

    return ready


def _of_numbers(inputs: Sequence[TensorSpec]) -> bool:
    return not any(spec.dtype in ("", "string", "bfloat16") or "(" in spec.dtype for spec in inputs)


class _Session:
    def __init__(self, file: ModelFile) -> None:
        import onnxruntime as ort  # noqa: TID251 - runs in a worker

        options = ort.SessionOptions()
        options.intra_op_num_threads = runtime_threads.chosen()
        options.inter_op_num_threads = 1
        options.log_severity_level = _QUIET
        self._session: Any = ort.InferenceSession(str(file.path), options, providers=["CPUExecutionProvider"])

    def ready(self, feed: Feed) -> Callable[[], object]:
        session = self._session
        values = {name: np.asarray(array, order="C") for name, array in feed.items()}
        return lambda: session.run(None, values)

    def close(self) -> None:
        self._session = None


class _Interpreter:
    def __init__(self, file: ModelFile) -> None:
        model = load(file)
        self._file = file
        self._inputs, self._outputs = tflite_layers.argument_indices(model)
        self._interpreter = self._load(delegates=True)

    def _load(self, *, delegates: bool) -> Any:
        from ai_edge_litert import interpreter as litert  # noqa: TID251 - runs in a worker

        kinds = litert.OpResolverType
        return litert.Interpreter(
            model_path=str(self._file.path),
            num_threads=runtime_threads.chosen(),
            experimental_op_resolver_type=kinds.AUTO if delegates else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )

    def ready(self, feed: Feed) -> Callable[[], object]:
        values = [(self._inputs[name], np.asarray(array, order="C")) for name, array in feed.items()]
        outputs = list(self._outputs.values())
        prepared = False

        def call() -> list[Any]:
            nonlocal prepared
            if not prepared:
                self._prepare(values)
                prepared = True
            interpreter = self._interpreter
            for index, array in values:
                interpreter.set_tensor(index, array)
            interpreter.invoke()
            return [interpreter.get_tensor(index) for index in outputs]

        return call

    def _prepare(self, values: Sequence[tuple[int, Any]]) -> None:
        try:
            self._shape(values)
            for index, array in values:
                self._interpreter.set_tensor(index, array)
            self._interpreter.invoke()
        except RuntimeError as error:
            # XNNPACK gives up on some dynamic shapes that LiteRT's own kernels handle.
            if "XNNPack" not in str(error):
                raise
            self._interpreter = self._load(delegates=False)
            self._shape(values)

    def _shape(self, values: Sequence[tuple[int, Any]]) -> None:
        interpreter = self._interpreter
        current = {detail["index"]: tuple(detail["shape"]) for detail in interpreter.get_input_details()}
        for index, array in values:
            if current.get(index) != array.shape:
                interpreter.resize_tensor_input(index, array.shape)
        interpreter.allocate_tensors()

    def close(self) -> None:
        del self._interpreter
