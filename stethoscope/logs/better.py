"""Which way a metric is better, as far as its name says: the one place that decides it."""

from __future__ import annotations

import functools
import re

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
    rf"ndcg|mrr|psnr|ssim|score|returns?|top|hits?|hit_rate|kappa|mcc|tpr|tnr|elbo|exact_match|fps|throughput|skill){_END}|acc$"
)
_NEGATED = re.compile(rf"{_START}neg_(?!log)")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")


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


def _last(words: re.Pattern[str], name: str) -> tuple[int, int]:
    """(where the last of the words ends, how long it is); nothing where there is none."""
    found = [(one.end(), one.end() - one.start()) for one in words.finditer(name)]
    return max(found, default=(0, 0))
