"""All consistency tests on one opened model, in an order that lets none of them disturb the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stethoscope.codec import plain
from stethoscope.consistency import batch, determinism, edge_cases, input_dependence, mode, save_reload
from stethoscope.consistency.edge_inputs import Edge, another
from stethoscope.consistency.subject import Subject
from stethoscope.consistency.trial import Trial
from stethoscope.types import Feed

_ORDER = ("determinism", "batch", "mode", "save-reload", "robustness")
_PICTURED = 256


@dataclass
class Study:
    """Runs the tests on a subject and keeps what is known, should the process not survive one of them."""

    subject: Subject
    runs: int
    trials: list[Trial] = field(default_factory=list)
    last: Feed = field(default_factory=dict)

    def run(self) -> dict[str, Any]:
        """Returns the answer: see `answer`."""
        subject = self.subject
        repeated, self.last = determinism.repeated(subject, self.runs)
        other = another(subject, subject.feed)
        self.trials = [*repeated, determinism.after_others(subject, other), *batch.trials(subject, other)]
        subject.context.report("input", 0.4, "does the output depend on the input")
        self.trials += input_dependence.trials(subject, other)
        subject.context.save_partial(plain(self.answer()))
        self.trials += save_reload.trials(subject)
        for trial in edge_cases.trials(subject, self._brace):
            self.trials.append(trial)
        subject.context.save_partial(plain(self.answer()))
        # Last: training mode may change the weights in memory.
        self.trials.append(mode.trial(subject))
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The `consistency` shape of the command line, as far as it is known."""
        trials = sorted(self.trials, key=lambda trial: _ORDER.index(trial.group))
        deciding = [trial for trial in trials if trial.decides and trial.passed is False]
        unsteady = [trial for trial in trials if trial.id == "same-input-bitwise" and trial.passed is False]
        first = next((trial.origin for trial in [*unsteady, *deciding] if trial.origin is not None), None)
        feed = self.subject.feed
        return {
            "consistent": not deciding,
            "runs": self.runs,
            "first_difference": None if first is None else first.to_json(),
            "tests": [trial.to_json() for trial in trials],
            "settings": self._settings(),
            "input": {name: {"shape": list(array.shape), "dtype": str(array.dtype)} for name, array in feed.items()},
            "samples": _samples(self.subject.reference, self.last),
        }

    def _settings(self) -> Mapping[str, Any]:
        subject = self.subject
        return {
            "runs": self.runs,
            "seed": subject.seed,
            "batch_size": subject.rows,
            "atol": subject.atol,
            "half_precision": subject.half,
            "dynamic_size": subject.given.dynamic_size,
            "input": subject.given.source,
        }

    def _brace(self, edge: Edge) -> None:
        """Before an input that may end the process: what is known so far, and that it was this one."""
        self.subject.context.report("edge cases", 0.8, edge.name.lower())
        detail = f"The process died where {edge.about}."
        died = Trial(edge.id, "robustness", edge.name, False, detail, values={"crashed": True})
        value = self.answer()
        self.subject.context.save_partial(plain({**value, "tests": [*value["tests"], died.to_json()]}))


def _samples(reference: Feed, other: Feed) -> dict[str, Any]:
    """A few values of each output from the first and the most different run, for the picture."""
    picture = {}
    for name, array in reference.items():
        if array.dtype.kind in "fiub" and name in other and other[name].shape == array.shape:
            first, second = array.reshape(-1)[:_PICTURED], other[name].reshape(-1)[:_PICTURED]
            picture[name] = {"first": first.astype(float).tolist(), "other": second.astype(float).tolist()}
    return picture
