"""What an opened model can do besides predicting. A runner names its capabilities: it derives from them.

Whoever needs one asks `runner.can(LiveModel)` and gets the same runner as that, or a `Refusal` with the reason.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from stethoscope.types import Feed, Runner

if TYPE_CHECKING:
    import numpy.typing as npt  # not at run time: numpy is half of a command's start

IN_BODY = "It is inside a loop, a branch or a function that the runtime runs as one operator."
Reduce = Callable[[str, Any, Mapping[str, Any]], Mapping[str, Any] | None]
"""(layer path, its output tensor, the model's input tensors by name) → small tensors by name, or None to leave it out."""


@dataclass(frozen=True)
class Reduction:
    """Runs the model on a feed and answers with what was made of each layer's output, by its path, in execution order."""

    call: Callable[[Feed], dict[str, Feed]]
    hidden: Mapping[str, str] = field(default_factory=dict)
    """Why a layer that was called could not be reduced, by path; filled by calls."""


class Traceable(Runner):
    """TensorFlow can trace it, and take gradients through it."""

    lacking = "The file holds a finished computation that TensorFlow cannot trace."

    @property
    @abstractmethod
    def trackable(self) -> Any:
        """What holds the variables that `live_outputs` reads; None where it reads constants."""

    @abstractmethod
    def live_outputs(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """The model's outputs by name as tensors, for a tensor per input in their order; also inside a traced function."""

    @abstractmethod
    def explained(self, doing: str) -> AbstractContextManager[None]:
        """Turns what TensorFlow raises while `doing` something with the model into sentences."""


class LiveModel(Traceable):
    """It is a live Keras model: a Python object with layers."""

    lacking = "The file holds a finished graph, not a Keras model."
    model: Any

    @property
    @abstractmethod
    def keras(self) -> Any:
        """The package the model is of: keras or tf_keras."""

    @property
    @abstractmethod
    def traces(self) -> int:
        """How often the function behind `predict` (in inference mode) was traced."""

    @abstractmethod
    def called_with(self, feed: Feed, call: Callable[[Any], Any], *, as_arrays: bool = False) -> Feed:
        """Hands `feed` to `call` in the structure the model takes, and names what comes back.

        Args:
            feed: one array per input name.
            call: gets one tensor, or the list or dict of them that `model(…)` takes.
            as_arrays: numpy arrays instead of tensors (text is a tensor all the same).

        Raises:
            BadInput: names, shapes or dtypes do not fit.
            CannotRun: TensorFlow cannot do what `call` asks of it.
        """

    @abstractmethod
    def tensors(self, feed: Feed) -> list[Any]:
        """A feed as the list of tensors that `live_outputs` takes.

        Raises:
            BadInput: names, shapes or dtypes do not fit.
        """

    @abstractmethod
    def concrete_function(self, shapes: Sequence[Sequence[int]] | None = None) -> Any:
        """The function behind `predict`, traced but not run: for inputs of these shapes, else with every open dimension open.

        Raises:
            CannotRun: the model cannot be traced so.
        """

    @abstractmethod
    def layer_paths(self) -> dict[int, str]:
        """The path, as in the layer table, of each live layer by its identity."""

    @abstractmethod
    def weights(self) -> dict[str, npt.NDArray[Any]]:
        """Every weight of the model by its path, in the model's order."""

    @abstractmethod
    def replaced(self, model: Any) -> Self:
        """A runner of the same file with another live model in it, of the same structure."""

    @abstractmethod
    def reloaded(self, folder: Path, *, trusted: bool) -> Self:
        """Saves the model into `folder` as a file of the kind it came from, and opens what was saved."""


class Inlined(Traceable):
    """It is a function of TensorFlow 2 that can be written out as one graph."""

    @property
    @abstractmethod
    def function(self) -> Any:
        """The concrete function that `predict` calls."""

    @abstractmethod
    def flat_function(self) -> Any:
        """The called function with its calls inlined: a `FlatFunction`."""

    @abstractmethod
    def output_tensor(self, name: str) -> str:
        """The tensor behind an output inside `flat_function`."""

    @abstractmethod
    def operators(self) -> dict[str, str]:
        """Layer paths of `describe` → operators inside `flat_function`."""


class InSession(Traceable):
    """It is a graph of TensorFlow 1 in a session."""

    @abstractmethod
    def session_graph(self) -> tuple[Any, Any]:
        """The graph and its session."""

    @abstractmethod
    def session_feed(self, feed: Feed) -> dict[Any, Any]:
        """A feed by graph tensor.

        Raises:
            BadInput: names, shapes or dtypes do not fit.
        """

    @abstractmethod
    def output_tensor(self, name: str) -> str:
        """The tensor behind an output."""

    @abstractmethod
    def tensor_name(self, name: str, *, is_input: bool) -> str | None:
        """The tensor behind an input, or behind the first output of the operator at a path; None for an unknown name."""


class Observable(Runner):
    """Each layer's output can be shown as it is computed, without being kept."""

    lacking = "Its runtime keeps the outputs of layers to itself until the call is over."

    @abstractmethod
    def observe(self, feed: Feed, visit: Callable[[str, npt.NDArray[Any]], None]) -> Feed:
        """Shows `visit` each layer's output of one call; returns the model's outputs."""


class Reducible(Runner):
    """Each layer's output can be reduced inside the runtime: nothing of it is kept."""

    lacking = "Its runtime computes nothing besides the model."

    @abstractmethod
    def reducing(self, reduce: Reduce, layers: Sequence[str] | None = None) -> Reduction:
        """The model with what `reduce` makes of each layer's output (all, or those named) as its answer."""


class Attentive(Runner):
    """The scores inside attention layers can be read."""

    lacking = "Its attention layers are operators of a graph; the scores are outputs of their own."

    @abstractmethod
    def attention(self, feed: Feed, layers: Sequence[str]) -> Mapping[str, list[npt.NDArray[Any]]]:
        """The attention scores inside each of `layers`: (rows, heads, queries, keys) or without heads, in the order they ran."""


class LayersTimed(Runner):
    """It can tell how long each layer takes."""

    lacking = "Its runtime does not tell how long each layer takes."

    @abstractmethod
    def layer_times(self, feed: Feed) -> dict[str, float]:
        """Seconds each layer takes in one call, without the layers inside it."""


class MainGraphOnly(Runner):
    """Of several graphs in the file, the runtime shows what is inside the main one."""

    lacking = "Its runtime shows every layer that is called."
    outside = IN_BODY
    """Why the others cannot be seen."""

    @abstractmethod
    def main_paths(self) -> frozenset[str]:
        """Paths of the operators whose outputs can be read."""
