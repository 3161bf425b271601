"""What the names of logged columns mean: which is the loss, which the metric, which belong to validation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from stethoscope.logs.evidence.tags import is_instrument

_VALIDATION = re.compile(r"(^|[/_\-. ])(val|valid|validation|test|eval|evaluation|dev)([/_\-. ]|$)")
_TEST = re.compile(r"(^|[/_\-. ])test([/_\-. ]|$)")
"""Where a run has validation and test data, the first is what the training looks at."""
_RATE = re.compile(r"(^|[/_\-. ])(lr|learning_rate|learningrate)([/_\-. ]|$)")
_NOT_METRICS = re.compile(
    r"(^|[/_\-. ])(time|timestamp|epoch|step|steps|iteration|duration|seconds|memory|norm|momentum|weight_decay)([/_\-. ]|$)"
)
_SIGNAL = re.compile(r"(^|[/_\-. ])(gradients?|grads?|update_ratio|weight_norm)([/_\-. ]|$)|gradient_?norm|grad_?norm")
_LOSS = re.compile(r"loss|(^|[/_\-. ])(cost|cross_entropy|crossentropy|xent|nll|objective)([/_\-. ]|$)")
_BETTER_KNOWN = ("accuracy", "acc", "auc", "f1", "precision", "recall", "r2", "mae", "mse", "error")


class Roles(NamedTuple):
    """Which names play which part; "" where none does."""

    loss: str
    metric: str
    val_loss: str
    val_metric: str
    rate: str


def roles(names: Iterable[str]) -> Roles:
    """Chooses among the names as Keras, TensorBoard and people write them ("val_loss", "epoch_loss", "train/Accuracy").

    What a recording measured of layers, memory and time is none of them, whatever the layers are called.
    """
    known = sorted((name for name in names if not is_instrument(name)), key=lambda name: (_rank(name), len(name), name))
    train = [name for name in known if not _VALIDATION.search(name.lower())]
    held = [name for name in known if _VALIDATION.search(name.lower())]
    held.sort(key=lambda name: bool(_TEST.search(name.lower())))
    rate = next((name for name in train if _RATE.search(name.lower())), "")
    metric = next((name for name in train if _is_metric(name) and name != rate), "")
    twin = next((name for name in held if bare(name) == bare(metric)), "") if metric else ""
    return Roles(
        next((name for name in train if _LOSS.search(name.lower())), ""),
        metric,
        next((name for name in held if _LOSS.search(name.lower())), ""),
        twin,
        rate,
    )


def _rank(name: str) -> tuple[int, int]:
    """Whole epochs before single batches, the total before the loss of one output, well-known metrics before others."""
    lower = bare(name)
    batch = "batch" in name.lower() or "iteration" in name.lower()
    known = next((at for at, word in enumerate(_BETTER_KNOWN) if word in lower), len(_BETTER_KNOWN))
    return int(batch), int(lower != "loss") if _LOSS.search(lower) else known


def _is_metric(name: str) -> bool:
    lower = name.lower()
    return (
        not is_signal(name)
        and not _LOSS.search(lower)
        and not _NOT_METRICS.search(bare(name))
        and not _RATE.search(lower)
    )


def is_signal(name: str) -> bool:
    """Whether a tag measures gradients or updates: no metric, but what tells why a training goes wrong."""
    return _SIGNAL.search(name.lower()) is not None


def bare(name: str) -> str:
    """The metric itself: "epoch_val_accuracy", "train/accuracy" and "val_accuracy" are all "accuracy"."""
    lower = re.sub(r"^(epoch_|batch_)", "", name.lower().rsplit("/", 1)[-1] if "/" in name else name.lower())
    if "/" in name and re.fullmatch(r"train(ing)?|val|valid|validation|test|eval", lower):
        lower = name.lower().split("/", 1)[0]
    return re.sub(r"^(train|training|val|valid|validation|test|eval)[_\-. ]", "", lower)
