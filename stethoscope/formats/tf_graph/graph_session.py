"""Runs a TensorFlow 1 graph in a session. Imported only in a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from stethoscope.errors import BadInput, CannotRun
from stethoscope.formats import feed as feeds
from stethoscope.formats.tf_graph import tf_calls, tf_text
from stethoscope.types import Feed, ModelFile, TensorSpec

_FETCHES_AT_ONCE = 400


class SessionRunner:
    """A graph in a session, with the tensors behind its inputs and outputs, and its operators by layer path."""

    def __init__(
        self,
        file: ModelFile,
        session: Any,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
        feed_tensors: Mapping[str, str],
        fetch_tensors: Mapping[str, str],
        operators: Mapping[str, str],
    ) -> None:
        """`feed_tensors` and `fetch_tensors` give the graph tensor ("x:0") behind each input and output."""
        self._file = file
        self._session = session
        self.inputs, self.outputs = inputs, outputs
        self._feeds = dict(feed_tensors)
        self._fetches = dict(fetch_tensors)
        self._operators = dict(operators)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._session.close()

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        """Runs the graph once; see `Runner.predict`."""
        if training:
            raise CannotRun(
                f"{self._file.name}: a TensorFlow graph has no training mode. Test the model it was made from."
            )
        values = feeds.checked(feed, self.inputs, self._file.name)
        return self._run({spec.name: self._fetches[spec.name] for spec in self.outputs}, values)

    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed:
        """Returns each operator's first output by the paths of `describe`.

        Operators inside a loop or an untaken branch have no value at the end of a run and are left out.
        """
        values = feeds.checked(feed, self.inputs, self._file.name)
        tf_calls.check_layers(self._file, layers, self._operators)
        names = {path: name for path, name in self._operators.items() if layers is None or path in layers}
        graph = self._session.graph
        loops, branches = tf_calls.conditional(graph)
        readable = {
            path: f"{name}:0"
            for path, name in names.items()
            if name not in loops and tf_calls.holds_array(graph, f"{name}:0")
        }
        found = self._run({path: tensor for path, tensor in readable.items() if names[path] not in branches}, values)
        for path, tensor in readable.items():
            if names[path] in branches:
                found.update(self._run_if_taken(path, tensor, values))
        return {path: found[path] for path in readable if path in found}

    def _run_if_taken(self, path: str, tensor: str, values: Feed) -> Feed:
        try:
            return self._run({path: tensor}, values)
        except BadInput as error:
            if "Retval" in str(error):
                return {}
            raise

    def _run(self, wanted: Mapping[str, str], values: Feed) -> Feed:
        import numpy as np

        feed = {self._feeds[name]: value for name, value in values.items()}
        found: Feed = {}
        paths = list(wanted)
        for start in range(0, len(paths), _FETCHES_AT_ONCE):
            part = paths[start : start + _FETCHES_AT_ONCE]
            with tf_calls.explained(self._file, tf_calls.RUNNING):
                results = self._session.run([wanted[path] for path in part], feed)
            found.update({path: np.asarray(result) for path, result in zip(part, results, strict=True)})
        return found


def import_graph(
    file: ModelFile,
    inputs: tuple[TensorSpec, ...],
    outputs: tuple[TensorSpec, ...],
    feed_tensors: Mapping[str, str],
    fetch_tensors: Mapping[str, str],
    operators: Mapping[str, str],
) -> SessionRunner:
    """Imports a frozen graph's file into a session of its own; the rest as for `SessionRunner`.

    Raises:
        CannotRun: TensorFlow refuses the graph.
    """
    import tensorflow as tf
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    graph, definition = tf.Graph(), tf.compat.v1.GraphDef()
    try:
        if tf_text.first_field(file):
            text_format.Parse(file.path.read_text(), definition)
        else:
            definition.ParseFromString(file.path.read_bytes())
    except (DecodeError, text_format.ParseError, ValueError) as error:
        raise CannotRun(f"{file.name}: TensorFlow cannot read the graph ({error}). Freeze it again.") from error
    for node in definition.node:
        node.device = ""
    with tf_calls.explained(file, "loading it"):
        with graph.as_default():
            tf.import_graph_def(definition, name="")
        session = tf.compat.v1.Session(graph=graph)
        if tables := [op for op in graph.get_operations() if op.type.startswith("InitializeTable")]:
            session.run(tables)
    return SessionRunner(file, session, inputs, outputs, feed_tensors, fetch_tensors, operators)
