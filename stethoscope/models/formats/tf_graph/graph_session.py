"""Runs a TensorFlow 1 graph in a session. Imported only in a worker."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from stethoscope.errors import BadInput, CannotRun
from stethoscope.models.capabilities import InSession, Reduce, Reducible, Reduction
from stethoscope.models.formats import feed as feeds
from stethoscope.models.formats.tf_graph import graph_ops, tf_calls, tf_proto
from stethoscope.types import Feed, ModelFile, TensorSpec

_FETCHES_AT_ONCE = 400


class SessionRunner(InSession, Reducible):
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

    def session_graph(self) -> tuple[Any, Any]:
        """The graph and its session."""
        return self._session.graph, self._session

    @property
    def trackable(self) -> None:
        """Nothing: `live_outputs` has variables as constants."""

    def live_outputs(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """The graph's outputs by name as tensors inside a traced function, for a tensor per input; variables as constants."""
        import tensorflow as tf

        graph = self._session.graph
        wanted = {spec.name: self._fetches[spec.name] for spec in self.outputs}
        definition = graph.as_graph_def()
        if any(operation.type in graph_ops.VARIABLES for operation in graph.get_operations()):
            ends = sorted({tensor.partition(":")[0] for tensor in wanted.values()})
            definition = tf.compat.v1.graph_util.convert_variables_to_constants(self._session, definition, ends)
        fed = {self._feeds[spec.name]: one for spec, one in zip(self.inputs, tensors, strict=True)}
        definition, read = _between(definition, fed, list(wanted.values()))
        fed = {tensor: one for tensor, one in fed.items() if tensor in read}
        found = tf.import_graph_def(definition, input_map=fed, return_elements=list(wanted.values()), name="")
        return dict(zip(wanted, found, strict=True))

    def session_feed(self, feed: Feed) -> dict[Any, Any]:
        """A feed by graph tensor name.

        Raises:
            BadInput: names, shapes or dtypes do not fit.
        """
        values = feeds.checked(feed, self.inputs, self._file.name)
        graph = self._session.graph
        return {graph.get_tensor_by_name(self._feeds[name]): value for name, value in values.items()}

    def output_tensor(self, name: str) -> str:
        """The tensor behind an output."""
        return self._fetches[name]

    def tensor_name(self, name: str, *, is_input: bool) -> str | None:
        """The tensor behind an input, or behind the first output of the operator at a path; None for an unknown name."""
        if is_input:
            return self._feeds.get(name)
        return f"{self._operators[name]}:0" if name in self._operators else None

    def explained(self, doing: str) -> AbstractContextManager[None]:
        """See `tf_calls.explained`."""
        return tf_calls.explained(self._file, doing)

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

    def reducing(self, reduce: Reduce, layers: Sequence[str] | None = None) -> Reduction:
        """See `Reducible.reducing`. Operators inside a loop or a branch are left out."""
        tf_calls.check_layers(self._file, layers, self._operators)
        graph = self._session.graph
        loops, branches = tf_calls.conditional(graph)
        wanted: dict[str, dict[str, Any]] = {}
        with tf_calls.explained(self._file, "reading its operators"), graph.as_default():
            named = {name: graph.get_tensor_by_name(tensor) for name, tensor in self._feeds.items()}
            for path, name in self._operators.items():
                hidden = name in loops or name in branches or not tf_calls.holds_array(graph, f"{name}:0")
                if hidden or (layers is not None and path not in layers):
                    continue
                reduced = reduce(path, graph.get_tensor_by_name(f"{name}:0"), named)
                if reduced is not None:
                    wanted[path] = dict(reduced)

        def call(feed: Feed) -> dict[str, Feed]:
            values = feeds.checked(feed, self.inputs, self._file.name)
            with tf_calls.explained(self._file, tf_calls.RUNNING):
                found: dict[str, Feed] = self._session.run(
                    wanted, {self._feeds[name]: value for name, value in values.items()}
                )
            return found

        return Reduction(call)

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


def _between(definition: Any, fed: Collection[str], wanted: Sequence[str]) -> tuple[Any, set[str]]:
    """The part of a graph between tensors that are fed and tensors that are wanted, and the fed ones that it reads."""
    nodes = {node.name: node for node in definition.node}
    waiting, needed, read = list(wanted), set[str](), set[str]()
    while waiting:
        reference = waiting.pop()
        name, _, index = reference.lstrip("^").partition(":")
        tensor = f"{name}:{index or 0}"
        if tensor in fed and not reference.startswith("^"):
            read.add(tensor)
            if reference not in wanted:
                continue
        if name not in needed and name in nodes:
            needed.add(name)
            waiting.extend(nodes[name].input)
    part = type(definition)()
    part.CopyFrom(definition)
    del part.node[:]
    part.node.extend(node for node in definition.node if node.name in needed)
    return part, read


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
        if tf_proto.first_field(file):
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
