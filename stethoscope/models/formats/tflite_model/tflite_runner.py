"""Runs a TFLite model with LiteRT. Imported only in a worker."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stethoscope import devices, framework_errors
from stethoscope.errors import BadInput, CannotRun
from stethoscope.models.capabilities import MainGraphOnly
from stethoscope.models.formats import feed as feeds
from stethoscope.models.formats.tflite_model import tflite_layers
from stethoscope.models.formats.tflite_model.tflite_reader import Model
from stethoscope.types import Feed, ModelFile


class LiteRTRunner(MainGraphOnly):
    """One opened TFLite model. Dynamic dimensions are resized to each feed."""

    outside = "It is in a subgraph that another signature runs or another operator calls, which LiteRT does not show."

    def __init__(self, file: ModelFile, model: Model) -> None:
        """Builds the interpreter and allocates its tensors.

        Raises:
            CannotRun: LiteRT lacks an operator, or refuses the model.
        """
        self._file = file
        self._model = model
        self.inputs, self.outputs = tflite_layers.interface(model)
        self._input_indices, self._output_indices = tflite_layers.argument_indices(model)
        self._subgraph, self._signature = tflite_layers.entry_point(model)
        reason = tflite_layers.why_not(model)
        if reason:
            raise CannotRun(f"{file.name}: {reason}")
        self._plain = self._interpreter()
        if self._subgraph == 0 and not any(None in (spec.shape or ()) for spec in self.inputs):
            self._guard("loading it", self._plain.allocate_tensors)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        del self._plain

    def forget(self) -> None:
        """See `Runner.forget`: in a fresh interpreter, as variables that CALL_ONCE fills are put back by nothing else."""
        if tflite_layers.keeping_state(self._model):
            self._plain = self._interpreter()

    def predict(self, feed: Feed, *, training: bool = False) -> Feed:
        """Runs the model once; see `Runner.predict`. Quantised inputs and outputs keep their own dtype."""
        if training:
            raise CannotRun(
                f"{self._file.name}: a TFLite model has no training mode. Test the Keras model it came from."
            )
        values = feeds.checked(feed, self.inputs, self._file.name)
        try:
            return self._run(self._plain, values)
        except CannotRun as error:
            # XNNPACK gives up on some dynamic shapes that LiteRT's own kernels handle.
            if "XNNPack" not in str(error):
                raise
            self._plain = self._interpreter(delegates=False)
            return self._run(self._plain, values)

    def activations(self, feed: Feed, layers: Sequence[str] | None = None) -> Feed:
        """Returns each operator's outputs ("path", "path#1", …); those of called subgraphs cannot be seen.

        Delegates are off for this run, so values may differ from `predict` in the last bits.
        """
        paths = self._main_operators()
        unknown = [name for name in layers or () if name not in paths]
        if unknown:
            raise BadInput(
                f"Layer {unknown[0]!r} of {self._file.name}: expected an operator of its main graph. See the layer table."
            )
        values = feeds.checked(feed, self.inputs, self._file.name)
        interpreter = self._interpreter(delegates=False, preserve_all=True)
        self._run(interpreter, values)
        found: Feed = {}
        operators = self._model.subgraphs[self._subgraph].operators
        for path, position in paths.items():
            if layers is not None and path not in layers:
                continue
            outputs = [index for index in operators[position].outputs if index != -1]
            for number, index in enumerate(outputs):
                try:
                    found[f"{path}#{number}" if number else path] = interpreter.get_tensor(index, self._subgraph)
                except (ValueError, RuntimeError):
                    continue  # Resources, variants and optional outputs hold no array.
        return found

    def main_paths(self) -> frozenset[str]:
        """Paths of the operators whose outputs can be read: those of the main graph."""
        return frozenset(self._main_operators())

    def _main_operators(self) -> dict[str, int]:
        paths = tflite_layers.layer_paths(self._model)
        return {path: position for (index, position), path in paths.items() if index == self._subgraph}

    def _interpreter(self, *, delegates: bool = True, preserve_all: bool = False) -> Any:
        from ai_edge_litert import interpreter as litert

        kinds = litert.OpResolverType
        return self._guard(
            "loading it",
            lambda: litert.Interpreter(
                model_path=str(self._file.path),
                num_threads=devices.chosen(),
                experimental_preserve_all_tensors=preserve_all,
                experimental_op_resolver_type=kinds.AUTO if delegates else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            ),
        )

    def _run(self, interpreter: Any, feed: Feed) -> Feed:
        values = {name: _as_fed(array) for name, array in feed.items()}
        if self._subgraph != 0 and self._signature is not None:
            runner = self._guard(
                "loading it", lambda: interpreter.get_signature_runner(self._signature.key if self._signature else None)
            )
            result: Feed = self._guard("running it", lambda: runner(**values))
            return {spec.name: np.asarray(result[spec.name]) for spec in self.outputs}
        current = {detail["index"]: tuple(detail["shape"]) for detail in interpreter.get_input_details()}
        for name, array in values.items():
            index = self._input_indices[name]
            if current.get(index) != array.shape:
                interpreter.resize_tensor_input(index, array.shape)
        self._guard("preparing it for these shapes", interpreter.allocate_tensors)
        for name, array in values.items():
            self._guard(
                "feeding it", lambda index=self._input_indices[name], array=array: interpreter.set_tensor(index, array)
            )
        self._guard("running it", interpreter.invoke)
        return {
            name: self._guard("reading its outputs", lambda index=index: interpreter.get_tensor(index))
            for name, index in self._output_indices.items()
        }

    def _guard(self, doing: str, action: Any) -> Any:
        try:
            return action()
        except (RuntimeError, ValueError, TypeError) as error:
            if framework_errors.mentions(str(error)):
                raise
            raise CannotRun(f"{self._file.name}: LiteRT failed while {doing}: {_sentence(str(error))}") from error


def _as_fed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind not in "OSU":
        return np.asarray(array, order="C")
    encoded = [text.encode() if isinstance(text, str) else bytes(text) for text in array.reshape(-1).tolist()]
    out = np.empty(len(encoded), dtype=object)
    out[:] = encoded
    return out.reshape(array.shape)


def _sentence(text: str) -> str:
    missing = re.search(r"Didn't find op for builtin opcode '(\w+)' version '(\d+)'", text)
    if missing:
        return f"it needs operator {missing[1]} version {missing[2]}, newer than the installed runtime. Update ai-edge-litert."
    custom = re.search(r"unresolved custom op: (\S+?)\.?\s", text + " ")
    if custom:
        return f"it needs the custom operator {custom[1]}, which is not installed."
    lines = [re.sub(r"^\S+\.(?:cc|h):\d+ ", "", line.strip()) for line in text.splitlines() if line.strip()]
    return once(" ".join(lines))[:400].rstrip(".") + "."


_CLAUSE = re.compile(r"(?<!\d)\.(?:\s+|(?=(?!cc |h |tflite )[A-Za-z_]+ ))|(?<=\d)\.(?=\s*[A-Za-z])")


def once(text: str) -> str:
    """Each clause of an error once: LiteRT says the same of one tensor after another, without as much as a space between.

    Of clauses that differ in numbers alone, the first stands, and how many more there are.
    """
    kept: dict[str, tuple[str, set[str]]] = {}
    for clause in filter(None, (part.strip() for part in _CLAUSE.split(text.rstrip(". ")))):
        kept.setdefault(re.sub(r"\d+", "#", clause), (clause, set()))[1].add(clause)
    return ". ".join(
        f"{first} (and {len(all_) - 1:,} more)" if len(all_) > 1 else first for first, all_ in kept.values()
    )
