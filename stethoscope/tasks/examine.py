"""Look into a loaded model: statistics of its weights, then of every layer's output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from stethoscope import out_of_memory
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.model import ActivationEvidence, WeightEvidence
from stethoscope.framework_errors import gist
from stethoscope.task import TaskContext
from stethoscope.training.gathering.activations import gather_activations
from stethoscope.training.gathering.weights import gather_weights

E = TypeVar("E")


@dataclass(frozen=True)
class Examination:
    """What is known of a model's weights and of its layers' outputs; where one is None, `problems` says why."""

    weights: WeightEvidence | None = None
    activations: ActivationEvidence | None = None
    problems: dict[str, str] = field(default_factory=dict)
    """By "weights" and "activations"."""


class Examine:
    """params: {"trusted", "time_s"}; files: "model", optionally "data". Loads the model once."""

    kind = "examine"
    answer = Examination

    def run(self, context: TaskContext) -> Examination:
        """Examines the weights, then the outputs; what is known after the first is kept, should the second end the process."""
        time_s = float(context.params.get("time_s", 4.0))
        architecture, opened = context.open_model()
        problems: dict[str, str] = {}
        with opened as runner:
            context.report("weights", 0.0, "reading the weights")
            file = context.files["model"]
            weights = _tried(problems, "weights", lambda: gather_weights(file, architecture, runner))
            half = Examination(weights, problems=problems)
            died = "The process ended while the layers' outputs were being computed."
            context.save_partial(replace(half, problems={**problems, "activations": died}))
            seen = _tried(
                problems, "activations", lambda: gather_activations(context, architecture, runner, time_s=time_s)
            )
        return replace(half, activations=seen)


def _tried(problems: dict[str, str], kind: str, gather: Callable[[], E]) -> E | None:
    """The evidence; None, with the reason noted, where it cannot be had."""
    try:
        return gather()
    except StethoscopeError as error:
        problems[kind] = str(error)
    except Exception as error:  # noqa: BLE001 - whatever a framework says to one half must not cost the other
        cause = out_of_memory.explain(error)
        problems[kind] = f"Not gathered: {cause.sentence if cause else gist(error)}"
    return None


TASK = Examine()
