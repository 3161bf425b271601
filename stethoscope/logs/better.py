"""Which way a metric is better, and whether it is a share of what is right, as far as its name says: the one place that decides it.

A run without its points: its tags in a line each (how many points, where it ends, where it was best), how whole its files are.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stethoscope.logs.series import Health, RunLog, Series

_SEPARATOR = r"/_\-. :@"
_START, _END = rf"(?:^|(?<=[{_SEPARATOR}]))", rf"(?=\d*(?:[{_SEPARATOR}]|$))"
_LOW = re.compile(
    rf"loss|error|perplexity|divergence|entropy|negative_log_likelihood|false_(?:positive|negative)s?|"
    rf"{_START}(?:mae|mse|rmse|msle|rmsle|mape|smape|medae|nll|ppl|bpc|bits_per_\w+|wer|cer|ter|eer|err|fid|kid|lpips|kl|kld|"
    rf"cost|objective|xent|brier(?:_score)?|hinge|huber|log_?cosh|distance|hamming|regret|fpr|fnr|residual){_END}"
)
_EXPENSE = re.compile(
    rf"{_START}(?:lr|learning_?rate|time|duration|seconds|secs?|ms|latency|memory|rss|bytes|norm){_END}"
)
"""What is no score of a model; of two equal ones the one that took less is better."""
_HIGH = re.compile(
    rf"accuracy|precision|recall|reward|similarity|specificity|sensitivity|likelihood|per_sec(?:ond)?|"
    rf"{_START}(?:acc|auc|auroc|auprc|roc|prc|f\d|f_?score|f_?beta|r2|r_squared|m?iou|dice|jaccard|m?_?ap|bleu|rouge\w*|meteor|chrf|"
    rf"ndcg|mrr|psnr|ssim|score|returns?|top|hits?|hit_rate|kappa|mcc|tpr|tnr|elbo|exact_match|fps|throughput|skill){_END}"
)
_NEGATED = re.compile(rf"{_START}neg_(?!log)")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
_SHARES = frozenset(
    [
        "accuracy",
        "acc",
        "auc",
        "auroc",
        "auprc",
        "roc",
        "prc",
        "precision",
        "recall",
        "specificity",
        "sensitivity",
        "f1",
        "f2",
        "fscore",
        "fbeta",
        "iou",
        "miou",
        "dice",
        "jaccard",
        "r2",
    ]
)


@functools.lru_cache(20_000)
def best_is_low(tag: str) -> bool:
    """Whether a metric of this name is best when it is low; a name that says neither is taken for a score.

    Where a name speaks of both, its last word decides: "loss/accuracy" is an accuracy, "accuracy_loss" a loss. A score
    that was negated so that more of it is better begins with "neg_" (scikit-learn: "neg_mean_squared_error").
    """
    for name in (tag.lower(), _CAMEL.sub("_", tag).lower()):
        low, high = max(_last(_LOW, name), _last(_EXPENSE, name)), _last(_HIGH, name)
        if low[0] or high[0]:
            return (low > high) is not bool(_NEGATED.search(name))
    return False


@functools.lru_cache(20_000)
def is_score(tag: str) -> bool:
    """Whether a name says how good a model is, so that one can speak of a best value."""
    return any(words.search(name) for words in (_LOW, _HIGH) for name in (tag.lower(), _CAMEL.sub("_", tag).lower()))


@functools.lru_cache(20_000)
def words_of(tag: str) -> frozenset[str]:
    """The words of a name in lower case, with and without a number at their end: "val/top5Acc1" has "top5", "top", "acc" …"""
    name = _CAMEL.sub("_", tag).lower().replace("io_u", "iou")  # as Keras writes MeanIoU
    words = [word for word in re.split(f"[{_SEPARATOR}]+", name) if word]
    return frozenset((*words, *(word.rstrip("0123456789") for word in words)))


def is_share(tag: str) -> bool:
    """Whether a metric of this name is a score that is 1 at best, and 0 or near it at worst: accuracy, AUC, F1, IoU, R² …

    Told by whole words: "val_acc" is one; "vacc" and "accumulated_loss" are none, and "accuracy_loss" is a loss.
    """
    return bool(words_of(tag) & _SHARES) and not best_is_low(tag)


def _last(words: re.Pattern[str], name: str) -> tuple[int, int]:
    """(where the last of the words ends, how long it is); nothing where there is none."""
    found = [(one.end(), one.end() - one.start()) for one in words.finditer(name)]
    return max(found, default=(0, 0))


@dataclass(frozen=True)
class TagSummary:
    """One tag of one run, without what a restart overwrote."""

    tag: str
    points: int
    written: int
    """Points in the file: more than `points` where a restarted run overwrote some."""
    first_step: int
    last_step: int
    last_value: float
    best_value: float | None
    """None where no value is finite."""
    best_step: int | None
    best: Literal["min", "max"]
    nonfinite: int


@dataclass(frozen=True)
class MediaSummary:
    """One tag of what is no scalar."""

    tag: str
    kind: str
    """As `Media.kind`."""
    points: int


@dataclass(frozen=True)
class HealthSummary:
    """How whole the files of a run are; see `Health`."""

    bad_records: int
    truncated: bool
    truncated_bytes: int
    restarts: int
    restart_steps: tuple[int, ...]
    left_out: tuple[str, ...]
    problem: str
    """What is wrong, in a few words; empty when nothing is."""


@dataclass(frozen=True)
class RunSummary:
    """One run as its tracker kept it. All text is hostile."""

    run: str
    group: str
    tracker: str
    unit: str
    tags: tuple[TagSummary, ...]
    """Those that have points, by name."""
    media: tuple[MediaSummary, ...]
    parameters: Mapping[str, Any]
    notes: Mapping[str, str]
    files: tuple[str, ...]
    health: HealthSummary


def run_summary(run: RunLog, tags: re.Pattern[str] | None = None) -> RunSummary:
    """The summary of a run; with `tags`, only of tags in which that is found."""

    def listed(tag: str) -> bool:
        return tags is None or tags.search(tag) is not None

    return RunSummary(
        run.run,
        run.group,
        run.tracker,
        run.unit,
        tuple(summary_of(one) for _, one in sorted(run.series.items()) if len(one.step) and listed(one.tag)),
        tuple(MediaSummary(one.tag, one.kind, len(one.step)) for one in run.media.values() if listed(one.tag)),
        run.parameters,
        run.notes,
        run.files,
        _health(run.health),
    )


def _health(health: Health) -> HealthSummary:
    return HealthSummary(
        health.bad_records,
        health.truncated_bytes > 0,
        health.truncated_bytes,
        len(health.restarts),
        health.restarts,
        health.left_out,
        health.problem,
    )


def summary_of(series: Series) -> TagSummary:
    """The summary of a tag with at least one point."""
    latest = series.latest()
    finite = np.flatnonzero(np.isfinite(latest.value))
    higher = not best_is_low(series.tag)
    at = None
    if len(finite):
        known = latest.value[finite]
        at = int(finite[int(known.argmax() if higher else known.argmin())])
    return TagSummary(
        tag=series.tag,
        points=len(latest.step),
        written=len(series.step),
        first_step=int(latest.step[0]),
        last_step=int(latest.step[-1]),
        last_value=float(latest.value[-1]),
        best_value=None if at is None else float(latest.value[at]),
        best_step=None if at is None else int(latest.step[at]),
        best="max" if higher else "min",
        nonfinite=int(len(latest.value) - len(finite)),
    )
