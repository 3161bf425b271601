"""From a run as it was logged to the one curve that is diagnosed.

From the tags that a recording has for each layer to what the layer did late in the training.

What the names of logged columns mean: which is the loss, which the metric, which belong to validation.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stethoscope.logs.better import words_of
from stethoscope.logs.curves import CurveEvidence, LayerMeasure, Restart, Signal, is_instrument, layer_of
from stethoscope.logs.series import RunLog, Series

_MAX_SIGNALS = 60
_MAX_SIGNAL_POINTS = 400
_MAX_RESTARTS = 20
_AROUND = 9
"""Points before and after a restart whose median is the level, where single batches scatter."""
_SINGLE_BATCHES = 60
_LEAST_TO_SCALE = 5
_OTHER_UNIT = 2.5
"""Last steps that differ by this factor although both curves end at the same time count different things."""
_TOGETHER = 0.3

Columns = tuple[tuple[float, ...], tuple[float, ...]]


def curve_of(run: RunLog) -> CurveEvidence | None:
    """Loss, metric and validation of a run, without what restarts overwrote; None when no tag is a loss or a metric."""
    found = roles(run.series)
    if not (found.loss or found.metric or found.val_loss):
        return None
    loss, metric, rate = _column(run, found.loss), _column(run, found.metric), _column(run, found.rate)
    val_loss, val_metric = _column(run, found.val_loss), _column(run, found.val_metric)
    steps = loss[0] or metric[0]
    loss_series = run.series.get(found.loss or found.metric)
    scale = _scale(loss_series, run.series.get(found.val_loss or found.val_metric))
    if scale != 1.0:
        val_loss, val_metric = _scaled(val_loss, scale), _scaled(val_metric, scale)
    val_steps = val_loss[0] or val_metric[0]
    return CurveEvidence(
        run=run.run,
        source="log",
        unit=run.unit,
        steps=steps,
        loss=loss[1],
        metric=metric[1],
        metric_name=bare(found.metric) if found.metric else "",
        val_steps=val_steps,
        val_loss=val_loss[1],
        val_metric=val_metric[1],
        learning_rate=rate[1],
        metric_steps=metric[0] if metric[0] != steps else (),
        problem=run.health.problem,
        wall_time=_times(loss_series),
        val_wall_time=_times(run.series.get(found.val_loss or found.val_metric)),
        val_scale=scale,
        rate_steps=rate[0] if rate[0] != steps else (),
        val_metric_steps=val_metric[0] if val_metric[0] != val_steps else (),
        restarts=tuple(_restarts(loss_series)),
        signals=_signals(run, found),
        parameters=dict(run.parameters),
        tags={role: tag for role, tag in _tags(found).items() if tag},
        silent_s=_silence(run),
        layers=measures_of(run),
    )


def _tags(found: Roles) -> dict[str, str]:
    return {
        "loss": found.loss,
        "metric": found.metric,
        "val_loss": found.val_loss,
        "val_metric": found.val_metric,
        "learning_rate": found.rate,
    }


def _column(run: RunLog, tag: str) -> Columns:
    """(steps, values); empty where the tag is ""."""
    series: Series | None = run.series.get(tag)
    if series is None:
        return (), ()
    latest = series.latest()
    return tuple(map(float, latest.step.tolist())), tuple(latest.value.tolist())


def _scale(series: Series | None, held: Series | None) -> float:
    """How many steps of training one step of validation is, where both were written at the same time and count differently."""
    if series is None or held is None or min(len(series.step), len(held.step)) < _LEAST_TO_SCALE:
        return 1.0
    steps, held_steps = float(series.step[-1] - series.step[0]), float(held.step[-1] - held.step[0])
    times, held_times = series.wall_time, held.wall_time
    if steps <= 0 or held_steps <= 0 or not (np.isfinite(times).all() and np.isfinite(held_times).all()):
        return 1.0
    span, held_span = float(times[-1] - times[0]), float(held_times[-1] - held_times[0])
    together = abs(span - held_span) <= _TOGETHER * max(span, held_span) and max(span, held_span) > 0
    ratio = float(series.step[-1]) / max(1.0, float(held.step[-1]))
    return steps / held_steps if together and not 1 / _OTHER_UNIT < ratio < _OTHER_UNIT else 1.0


def _scaled(column: Columns, scale: float) -> Columns:
    return tuple(step * scale for step in column[0]), column[1]


def _times(series: Series | None) -> tuple[float, ...]:
    if series is None:
        return ()
    times = series.latest().wall_time
    return tuple(times.tolist()) if bool(np.isfinite(times).all()) else ()


def _restarts(series: Series | None) -> Iterator[Restart]:
    if series is None:
        return
    starts = (np.flatnonzero(series.step[1:] < series.step[:-1]) + 1).tolist()
    bounds = [0, *starts, len(series.step)]
    for number, at in enumerate(starts[:_MAX_RESTARTS], 1):
        near = 1 if len(series.step) < _SINGLE_BATCHES else _AROUND
        yield Restart(
            float(series.step[at]),
            float(series.step[at - 1]),
            _level(series.value[max(bounds[number - 1], at - near) : at]),
            _level(series.value[at : min(bounds[number + 1], at + near)]),
        )


def _silence(run: RunLog) -> float | None:
    """Seconds since the last point of a run that is said to be running; None for any other."""
    if run.notes.get("status") != "RUNNING":
        return None
    last = max((float(written) for one in run.series.values() for written in one.wall_time[-1:]), default=math.nan)
    return max(0.0, time.time() - last) if math.isfinite(last) else None


def _level(values: npt.NDArray[np.float64]) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else float("nan")


def _signals(run: RunLog, found: Roles) -> dict[str, Signal]:
    """Gradient norms and the like, the largest value of each stretch kept: what shows just before a training breaks."""
    taken = set(found)
    names = [tag for tag in run.series if tag not in taken and is_signal(tag)][:_MAX_SIGNALS]
    epochs = run.series.get(found.loss) if run.unit == "epoch" else None
    return {tag: _signal(run.series[tag].latest(), epochs if is_instrument(tag) else None) for tag in names}


def _signal(series: Series, epochs: Series | None) -> Signal:
    """`epochs` is the loss by epochs, where the signal was measured in single steps: it gets the epochs it was measured in."""
    step, value = series.step, series.value
    if epochs is not None and bool(np.isfinite(series.wall_time).all() and np.isfinite(epochs.wall_time).all()):
        ends = epochs.latest()
        step = np.append(ends.step, ends.step[-1] + 1)[np.searchsorted(ends.wall_time, series.wall_time)]
    if len(step) > _MAX_SIGNAL_POINTS:
        starts = np.unique(np.linspace(0, len(step), _MAX_SIGNAL_POINTS, endpoint=False).astype(np.int64))
        value = np.maximum.reduceat(value, starts)  # NaN in a stretch stays NaN
        step = step[starts]
    return Signal(tuple(map(float, step.tolist())), tuple(value.tolist()))


MAX_MEASURES = 4_000


def measures_of(run: RunLog) -> tuple[LayerMeasure, ...]:
    """Every measurement of a layer that stays finite to the end, in the order logged; at most `MAX_MEASURES`."""
    return tuple(measure for measure, _ in zip(_measures(run), range(MAX_MEASURES), strict=False))


def _measures(run: RunLog) -> Iterator[LayerMeasure]:
    for tag, series in run.series.items():
        kind, layer = layer_of(tag) or ("", "")
        known = series.latest()
        late = known.value[len(known.value) * 2 // 3 :]
        if layer and len(late) and bool(np.isfinite(late).all()):
            since, until = float(known.step[len(known.value) * 2 // 3]), float(known.step[-1])
            yield LayerMeasure(kind, layer, tag, len(known.value), since, until, float(late.min()), float(late.max()))


_VALIDATION = re.compile(r"(^|[/_\-. ])(val|valid|validation|test|eval|evaluation|dev)([/_\-. ]|$)")
_TEST = re.compile(r"(^|[/_\-. ])test([/_\-. ]|$)")
"""Where a run has validation and test data, the first is what the training looks at."""
_RATE = re.compile(r"(^|[/_\-. ])(lr|learning_rate|learningrate)([/_\-. ]|$)")
_NOT_METRICS = re.compile(
    r"(^|[/_\-. ])(time|timestamp|epoch|step|steps|iteration|duration|seconds|memory|norm|momentum|weight_decay)([/_\-. ]|$)"
)
_SIGNAL = re.compile(r"(^|[/_\-. ])(gradients?|grads?|update_ratio|weight_norm)([/_\-. ]|$)|gradient_?norm|grad_?norm")
_LOSS = re.compile(r"loss|(^|[/_\-. ])(cost|cross_entropy|crossentropy|xent|nll|objective)([/_\-. ]|$)")
_BETTER_KNOWN = ("accuracy", "acc", "auc", "f1", "precision", "recall", "r2", "mae", "mse", "rmse", "error")


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
    words = words_of(name)
    known = next((at for at, word in enumerate(_BETTER_KNOWN) if word in words), len(_BETTER_KNOWN))
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
