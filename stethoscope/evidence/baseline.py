"""What simple models reach on the same data, same split, same metric.

Can the model overfit a few samples? If it cannot, something blocks it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stethoscope.evidence.blocking import BlockedLayer, blocking_layer

SIMPLE_MODELS = ("majority class", "mean", "logistic regression", "linear regression", "gradient boosting")


@dataclass(frozen=True)
class Score:
    """One model's score on the held-out rows with a 95 % interval (bootstrap over rows)."""

    model: str
    """One of `SIMPLE_MODELS`, "this network", or the second model's name."""
    value: float
    low: float
    high: float
    fit_s: float = 0.0


@dataclass(frozen=True)
class BaselineEvidence:
    """Scores of the baselines. `metric` is "accuracy", "r2" or "mean label accuracy": higher is better."""

    metric: str
    scores: tuple[Score, ...]
    train_rows: int
    test_rows: int
    output: str = ""
    test_index: tuple[int, ...] = ()
    """The held-out rows (at most 5,000), so that another model can be scored on the same."""
    skipped: tuple[str, ...] = ()

    def score(self, model: str) -> Score | None:
        """The score of one model."""
        return next((score for score in self.scores if score.model == model), None)

    @property
    def simple(self) -> tuple[Score, ...]:
        """The baselines, without the networks beside them."""
        return tuple(score for score in self.scores if score.model in SIMPLE_MODELS)

    def scored_as(self, metric: str, output: str) -> bool:
        """Whether scores in this metric, of this output ("" where there is one only), can be compared with these."""
        return metric == self.metric and output in ("", self.output)

    @property
    def best(self) -> Score | None:
        """The best baseline."""
        return max(self.simple, key=lambda score: score.value, default=None)


@dataclass(frozen=True)
class NetworkScore:
    """The score and how it came about."""

    score: Score
    trained_here: bool
    """False: the file's weights were taken as they are."""
    complete: bool
    """Whether training here had all the epochs it was to have."""
    note: str = ""


def with_network(baseline: BaselineEvidence, *networks: NetworkScore) -> BaselineEvidence:
    """The baselines with networks beside them; one that ran out of time is only noted."""
    done = tuple(network.score for network in networks if network.complete)
    notes = tuple(network.note for network in networks if network.note)
    return replace(baseline, scores=(*baseline.scores, *done), skipped=(*baseline.skipped, *notes))


@dataclass(frozen=True)
class OverfitEvidence:
    """A few samples trained on again and again, regularisation switched off where that is possible."""

    samples: int
    steps: int
    loss: tuple[float, ...]
    """The loss at `loss_steps`."""
    loss_steps: tuple[int, ...]
    initial_loss: float
    final_loss: float
    floor: float
    """The lowest loss these targets allow (entropy of soft labels; else 0)."""
    fitted_fraction: float
    """Share of the samples it gets right at the end (within 5 % of the spread for regression)."""
    verdict: str
    """"fits", "partly", "cannot", "diverges", "crashes"."""
    blocked: tuple[BlockedLayer, ...] = ()
    """The one that blocks first."""
    reason: str = ""
    learning_rate: float = 0.0
    """The rate that was used in the end: the model's own, or one that was found to work better."""
    own_learning_rate: float | None = None
    regularisation_off: tuple[str, ...] = ()
    source: str = "data"
    """"data", or "random input and labels" when no data was given."""

    @property
    def blocking(self) -> BlockedLayer | None:
        """The layer that blocks; None when none was seen."""
        return blocking_layer(self.blocked)
