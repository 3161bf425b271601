"""The subject that fits an opened model: with gradients where its runtime has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import Point, Slope, Subject
from stethoscope.activations.attributions.target import Target
from stethoscope.activations.watching import real_values
from stethoscope.errors import CannotRun
from stethoscope.models.capabilities import Inlined, InSession, LiveModel
from stethoscope.types import Architecture, Feed, Runner


def subject_of(name: str, runner: Runner, architecture: Architecture) -> Subject:
    """The subject for an opened model. Only ever called in a worker."""
    if isinstance(live := runner.can(LiveModel), LiveModel):
        from stethoscope.activations.attributions.keras_subject import KerasSubject

        return KerasSubject(name, live)
    if isinstance(inlined := runner.can(Inlined), Inlined):
        from stethoscope.activations.attributions.graph_subject import FunctionSubject

        return FunctionSubject(name, inlined, architecture)
    if isinstance(session := runner.can(InSession), InSession):
        from stethoscope.activations.attributions.graph_subject import SessionSubject

        return SessionSubject(name, session, architecture)
    return PlainSubject(name, runner, architecture)


class PlainSubject:
    """A model that only predicts."""

    def __init__(self, name: str, runner: Runner, architecture: Architecture) -> None:
        """Wraps `runner`."""
        self.name, self._runner, self._architecture = name, runner, architecture
        self.inputs = runner.inputs
        kind = architecture.display_format or "These"
        self.no_gradients = f"{kind} files hold a finished computation without its gradients."

    def scores(self, feed: Feed, target: Target) -> npt.NDArray[Any]:
        """See `Subject.scores`."""
        return target.of_arrays(real_outputs(self._runner.predict(feed), self._architecture))

    def slope(self, feed: Feed, target: Target, points: Sequence[Point], given: Mapping[Point, Any]) -> Slope:
        """See `Subject.slope`: never possible here."""
        raise CannotRun(f"{self.name}: {self.no_gradients} Occlusion works for any model.")

    def points(self, feed: Feed, name: str) -> list[Point]:
        """See `Subject.points`: never possible here."""
        raise CannotRun(f"{self.name}: {self.no_gradients} Occlusion works for any model.")

    def is_raw(self, target: Target) -> bool:
        """See `Subject.is_raw`."""
        return False


def real_outputs(outputs: Feed, architecture: Architecture) -> Feed:
    """Outputs as the numbers they stand for: those of a quantised model are whole numbers otherwise."""
    if len(outputs) != 1 or not architecture.layers:
        return outputs
    known = {layer.path: layer for layer in architecture.layers}
    last = next((known[path] for path in architecture.output_layers if path in known), architecture.layers[-1])
    return {name: real_values(array, last) for name, array in outputs.items()}


def arrays(values: Sequence[Any]) -> list[npt.NDArray[Any]]:
    """Tensors as arrays; half precision becomes float32."""
    found = [np.asarray(value) for value in values]
    return [one.astype(np.float32) if one.dtype.name in ("bfloat16", "float16") else one for one in found]
