"""Runs a SavedModel with TensorFlow. Imported only in a worker.

TensorFlow 2 models are called through their loaded function. TensorFlow 1 models run in a session, as they were made to:
the loader for functions refuses reference variables and repeated feeds that sessions allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

from stethoscope.errors import CannotRun
from stethoscope.models.capabilities import Inlined, Reduce, Reducible, Reduction
from stethoscope.models.formats import feed as feeds
from stethoscope.models.formats.tf_graph import graph_layers, saved_model_files, saved_model_serving, tf_calls
from stethoscope.models.formats.tf_graph.flat_graph import flatten, flatten_function
from stethoscope.models.formats.tf_graph.graph_session import SessionRunner
from stethoscope.models.formats.tf_graph.tf_flat import FlatFunction
from stethoscope.types import Architecture, Feed, ModelFile, Runner


def load(file: ModelFile, folder: Path, saved: Any, described: Architecture) -> Runner:
    """Loads the model in `folder`; this runs its initializers.

    Args:
        file: what the user brought, for error texts.
        folder: the unpacked SavedModel.
        saved: its messages, as `saved_model_graph.load` reads them.
        described: what `describe` says about it.

    Raises:
        CannotRun: TensorFlow refuses it, or it has nothing to call.
    """
    meta = saved_model_serving.serving(saved)
    if meta.object_graph_def.nodes:
        return FunctionRunner(file, folder, meta, described)
    known = saved_model_files.read(meta)
    if not known:
        raise CannotRun(f"{file.name}: has no signature to call. Export it with signatures={{'serving_default': …}}.")
    return _session(file, folder, meta, known[0], described)


def _session(
    file: ModelFile, folder: Path, meta: Any, signature: saved_model_files.Signature, described: Architecture
) -> SessionRunner:
    import tensorflow as tf

    functions = {function.signature.name: function for function in meta.graph_def.library.function}
    shown = graph_layers.paths(flatten(meta.graph_def.node, functions, signature.fetches, signature.fed))
    graph = tf.Graph()
    with tf_calls.explained(file, "loading it"):
        session = tf.compat.v1.Session(graph=graph)
        tf.compat.v1.saved_model.load(session, list(meta.meta_info_def.tags), str(folder))
    tensors = {
        kind: {spec.name: signature.tensors[f"{kind}:{spec.name}"] for spec in specs}
        for kind, specs in (("in", described.inputs), ("out", described.outputs))
    }
    return SessionRunner(
        file,
        session,
        described.inputs,
        described.outputs,
        tensors["in"],
        tensors["out"],
        {path: name for name, path in shown.items()},
    )


class FunctionRunner(Inlined, Reducible):
    """One loaded TensorFlow 2 model, called through the signature (or function) that `describe` shows."""

    def __init__(self, file: ModelFile, folder: Path, meta: Any, described: Architecture) -> None:
        """See `load`."""
        import tensorflow as tf

        self._file = file
        self.inputs, self.outputs = described.inputs, described.outputs
        known = saved_model_files.read(meta) or saved_model_files.callable_functions(meta)
        if not known:
            raise CannotRun(
                f"{file.name}: has no signature or function to call. Export it with signatures={{'serving_default': …}}."
            )
        self._signature = known[0]
        with tf_calls.explained(file, "loading it"):
            self._model: Any = tf.saved_model.load(str(folder), tags=list(meta.meta_info_def.tags))
            if self._signature.function:
                self._call: Any = getattr(self._model, self._signature.name).concrete_functions[0]
            else:
                self._call = self._model.signatures[self._signature.name]
        self._meta = meta
        self._flat: FlatFunction | None = None
        self._begun = [(one, one.numpy()) for one in self._call.variables] if _assigns(self._call) else []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        del self._call, self._model, self._flat, self._begun

    def forget(self) -> None:
        """See `Runner.forget`: variables that a call may write have the values of the file."""
        for variable, value in self._begun:
            variable.assign(value)

    @property
    def function(self) -> Any:
        """The concrete function that `predict` calls."""
        return self._call

    @property
    def trackable(self) -> Any:
        """What holds the variables that `live_outputs` reads."""
        return self._model

    def live_outputs(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """The model's outputs by name as tensors, for a tensor per input in their order; also inside a traced function."""
        if self._signature.function:
            names = [spec.name for spec in self.outputs]
            return dict(zip(names, _flattened(self._call(*tensors)), strict=False))
        found = self._call(**{spec.name: one for spec, one in zip(self.inputs, tensors, strict=True)})
        return {spec.name: found[spec.name] for spec in self.outputs if spec.name in found}

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        """Runs the signature once; see `Runner.predict`."""
        if training:
            raise CannotRun(
                f"{self._file.name}: a SavedModel's signature has no training mode. Test the Keras model it came from."
            )
        values = feeds.checked(feed, self.inputs, self._file.name)
        if self._signature.function:
            return self._flattened().outputs(values)
        with tf_calls.explained(self._file, tf_calls.RUNNING):
            found = self._call(**tf_calls.tensors(self._call, values))
        return {spec.name: tf_calls.array(found[spec.name]) for spec in self.outputs if spec.name in found}

    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed:
        """Returns each operator's first output by the paths of `describe`; handles of lists and tables hold no array."""
        values = feeds.checked(feed, self.inputs, self._file.name)
        fed, inside = self._names()
        tf_calls.check_layers(self._file, layers, [*fed, *inside])
        found = {
            path: values[name] for path, name in fed.items() if name in values and (layers is None or path in layers)
        }
        wanted = {path: name for path, name in inside.items() if layers is None or path in layers}
        return found | self._flattened().fetch(wanted, values)

    def flat_function(self) -> FlatFunction:
        """The called function with its calls inlined."""
        return self._flattened()

    def output_tensor(self, name: str) -> str:
        """The tensor behind an output inside `flat_function`."""
        if self._signature.function:
            names = [spec.name for spec in self.outputs]
        else:
            names = sorted(self._call.structured_outputs)
        return self._flattened().output_tensor(names.index(name) if name in names else 0)

    def operators(self) -> dict[str, str]:
        """Layer paths of `describe` → operators inside `flat_function`."""
        return self._names()[1]

    def explained(self, doing: str) -> AbstractContextManager[None]:
        """See `tf_calls.explained`."""
        return tf_calls.explained(self._file, doing)

    def reducing(self, reduce: Reduce, layers: Sequence[str] | None = None) -> Reduction:
        """See `Reducible.reducing`."""
        fed, inside = self._names()
        tf_calls.check_layers(self._file, layers, [*fed, *inside])
        wanted = {path: name for path, name in inside.items() if layers is None or path in layers}
        made = self._flattened().reducing(reduce, wanted)
        return Reduction(lambda feed: made(feeds.checked(feed, self.inputs, self._file.name)))

    def _flattened(self) -> FlatFunction:
        if self._flat is None:
            names = [spec.name for spec in self.inputs]
            self._flat = FlatFunction(self._file, self._call, names, by_name=not self._signature.function)
        return self._flat

    def _names(self) -> tuple[dict[str, str], dict[str, str]]:
        """Layer paths → input names, and layer paths → operators inside the called function."""
        functions = {function.signature.name: function for function in self._meta.graph_def.library.function}
        signature = self._signature
        if signature.function:
            shown = graph_layers.paths(flatten_function(signature.function, functions))
            return {}, {path: name for name, path in shown.items()}
        shown = graph_layers.paths(flatten(self._meta.graph_def.node, functions, signature.fetches, signature.fed))
        fed = {path: signature.fed[name] for name, path in shown.items() if name in signature.fed}
        # The main graph only calls the signature's function, so every other name starts with that call.
        return fed, {
            path: name.partition("/")[2] for name, path in shown.items() if name not in signature.fed and "/" in name
        }


def _assigns(function: Any) -> bool:
    """Whether a concrete function, or one that it calls, writes to a variable."""
    graph = function.graph.as_graph_def()
    nodes = [*graph.node, *(node for called in graph.library.function for node in called.node_def)]
    return any(node.op.startswith("Assign") and node.op.endswith("VariableOp") for node in nodes)


def _flattened(found: Any) -> list[Any]:
    import tensorflow as tf

    flat: list[Any] = tf.nest.flatten(found)
    return flat
