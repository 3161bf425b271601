"""Look into a loaded model: statistics of its weights, then of every layer's output."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from stethoscope import out_of_memory
from stethoscope.codec import plain
from stethoscope.errors import StethoscopeError
from stethoscope.framework_errors import gist
from stethoscope.gathering.activations import gather_activations
from stethoscope.gathering.weights import gather_weights
from stethoscope.task import TaskContext


class Examine:
    """params: {"trusted", "time_s"}; files: "model", optionally "data". Loads the model once."""

    kind = "examine"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"weights", "activations", "problems"}: each evidence as JSON or null, and why one is null.

        What is known after the first half is kept, should the second end the process.
        """
        time_s = float(context.params.get("time_s", 4.0))
        architecture, opened = context.open_model()
        problems: dict[str, str] = {}
        with opened as runner:
            context.report("weights", 0.0, "reading the weights")
            file = context.files["model"]
            weights = _tried(problems, "weights", lambda: gather_weights(file, architecture, runner))
            answer = {"weights": weights, "activations": None, "problems": problems}
            died = "The process ended while the layers' outputs were being computed."
            context.save_partial(plain({**answer, "problems": {**problems, "activations": died}}))
            answer["activations"] = _tried(
                problems, "activations", lambda: gather_activations(context, architecture, runner, time_s=time_s)
            )
        return plain(answer)  # type: ignore[no-any-return]


def _tried(problems: dict[str, str], kind: str, gather: Callable[[], Any]) -> dict[str, Any] | None:
    """The evidence as plain values; None, with the reason noted, where it cannot be had."""
    try:
        return dataclasses.asdict(gather())
    except StethoscopeError as error:
        problems[kind] = str(error)
    except Exception as error:  # noqa: BLE001 - whatever a framework says to one half must not cost the other
        cause = out_of_memory.explain(error)
        problems[kind] = f"Not gathered: {cause.sentence if cause else gist(error)}"
    return None


TASK = Examine()
