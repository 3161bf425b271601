"""Does the same input always give the same output, and what becomes of inputs at the edge?

All consistency tests on one opened model, in an order that lets none of them disturb the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from stethoscope.compare.consistency import batch, edge_cases, input_dependence, mode_and_reload
from stethoscope.compare.consistency.edge_inputs import Edge, another
from stethoscope.compare.consistency.report import ConsistencyReport, ConsistencySettings, InputArray, TwoRuns
from stethoscope.compare.consistency.subject import Subject, Trial
from stethoscope.data.dummy import model_input
from stethoscope.task import TaskContext
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

    def run(self) -> ConsistencyReport:
        """Returns the answer: see `answer`."""
        subject = self.subject
        repeated, self.last = batch.repeated(subject, self.runs)
        other = another(subject, subject.feed)
        self.trials = [*repeated, batch.after_others(subject, other), *batch.trials(subject, other)]
        subject.context.report("input", 0.4, "does the output depend on the input")
        self.trials += input_dependence.trials(subject, other)
        subject.context.save_partial(self.answer())
        self.trials += mode_and_reload.trials(subject)
        for trial in edge_cases.trials(subject, self._brace):
            self.trials.append(trial)
        subject.context.save_partial(self.answer())
        # Last: training mode may change the weights in memory.
        self.trials.append(mode_and_reload.trial(subject))
        return self.answer()

    def answer(self) -> ConsistencyReport:
        """What is known so far."""
        trials = sorted(self.trials, key=lambda trial: _ORDER.index(trial.group))
        deciding = [trial for trial in trials if trial.decides and trial.passed is False]
        unsteady = [trial for trial in trials if trial.id == "same-input-bitwise" and trial.passed is False]
        first = next((trial.origin for trial in [*unsteady, *deciding] if trial.origin is not None), None)
        feed = self.subject.feed
        return ConsistencyReport(
            consistent=not deciding,
            runs=self.runs,
            first_difference=None if first is None else first.difference(),
            tests=tuple(trial.test() for trial in trials),
            settings=self._settings(),
            input={name: InputArray(array.shape, str(array.dtype)) for name, array in feed.items()},
            samples=_samples(self.subject.reference, self.last),
        )

    def _settings(self) -> ConsistencySettings:
        subject = self.subject
        return ConsistencySettings(
            runs=self.runs,
            seed=subject.seed,
            batch_size=subject.rows,
            atol=subject.atol,
            half_precision=subject.half,
            dynamic_size=subject.given.dynamic_size,
            input=subject.given.source,
        )

    def _brace(self, edge: Edge) -> None:
        """Before an input that may end the process: what is known so far, and that it was this one."""
        self.subject.context.report("edge cases", 0.8, edge.name.lower())
        detail = f"The process died where {edge.about}."
        died = Trial(edge.id, "robustness", edge.name, False, detail, values={"crashed": True})
        known = self.answer()
        self.subject.context.save_partial(replace(known, tests=(*known.tests, died.test())))


def _samples(reference: Feed, other: Feed) -> dict[str, TwoRuns]:
    """A few values of each output from the first and the most different run, for the picture."""
    picture = {}
    for name, array in reference.items():
        if array.dtype.kind in "fiub" and name in other and other[name].shape == array.shape:
            first, second = array.reshape(-1)[:_PICTURED], other[name].reshape(-1)[:_PICTURED]
            picture[name] = TwoRuns(tuple(first.astype(float).tolist()), tuple(second.astype(float).tolist()))
    return picture


class Consistency:
    """params: {"runs", "seed", "batch_size", "atol", "trusted"}; files: "model", optionally "data"."""

    kind = "consistency"
    answer = ConsistencyReport

    def run(self, context: TaskContext) -> ConsistencyReport:
        """Runs all tests on the same input."""
        runs = max(2, int(context.params.get("runs", 5)))
        seed = int(context.params.get("seed", 0))
        batch_size = max(1, int(context.params.get("batch_size", 8)))
        atol = float(context.params.get("atol", 1e-5))
        architecture, opened = context.open_model()
        with opened as runner:
            given = model_input(context, architecture, runner, 0, seed, batch_size)
            feed = given.batching.take(given.feed, given.batching.fixed or batch_size)
            context.memory.enforce()
            return Study(Subject(context, architecture, runner, given, feed, atol, seed), runs).run()


TASK = Consistency()
