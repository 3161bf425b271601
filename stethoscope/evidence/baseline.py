"""What simple models reach on the same data, same split, same metric."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Score:
    """One model's score on the held-out rows with a 95 % interval (bootstrap over rows)."""

    model: str
    """"majority class", "mean", "logistic regression", "gradient boosting", "this network", or the second model's name."""
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
    def best(self) -> Score | None:
        """The best baseline."""
        return max(self.scores, key=lambda score: score.value, default=None)


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
