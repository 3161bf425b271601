"""From a run as it was logged to the one curve that is diagnosed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from stethoscope.logs.as_layers import measures_of
from stethoscope.logs.evidence.curves import CurveEvidence, Restart, Signal
from stethoscope.logs.evidence.tags import is_instrument
from stethoscope.logs.named_columns import Roles, bare, is_signal, roles
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
