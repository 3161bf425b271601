"""Whether a fault truly shows in the curves, by measures of its own kind: none is shared with the checks that are scored.

Each function gets the curves as Keras returned them (and those of a repaired twin, where a kind needs one) and gives the
reason why the fault does not show, or "". They are plain on purpose: levels, ratios and counts, nothing smoothed or fitted.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence

from benchmarks.curve_cases.material import VALUES
from benchmarks.curve_cases.training import Curves

Shown = Callable[[Sequence[Curves], Curves | None], str]


def start(values: Sequence[float]) -> float:
    """The mean of the first twentieth, at least one."""
    return statistics.fmean(values[: max(1, len(values) // 20)])


def end(values: Sequence[float]) -> float:
    """The mean of the last tenth, at least one."""
    return statistics.fmean(values[-max(1, len(values) // 10) :])


def nonfinite(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """Some loss is NaN or infinite."""
    return "" if any(not math.isfinite(value) for value in runs[0].loss) else "every loss is finite"


def diverging(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """The training loss ends at 1.5 times its start, or more, or is not finite any more."""
    loss = runs[0].loss
    if any(not math.isfinite(value) for value in loss):
        return ""
    return "" if end(loss) >= 1.5 * start(loss) else f"ends at {end(loss):.3g}, started at {start(loss):.3g}"


def exploding(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """A finite loss is 1,000 times the first one."""
    known = [value for value in runs[0].loss if math.isfinite(value)]
    top = max(known, default=math.nan)
    return "" if known and top >= 1e3 * known[0] else f"at most {top:.3g}"


def zero(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """The loss is below 1e-6 in nine of ten points."""
    share = sum(value < 1e-6 for value in runs[0].loss) / len(runs[0].loss)
    return "" if share >= 0.9 else f"only {share:.0%} of the losses are 0"


def flat(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """From its second epoch to its last the loss moves by 3 % at most, and never by 10 %; tenths of it, for single batches."""
    loss = runs[0].loss
    levels = loss[1:] if len(loss) <= 100 else [statistics.fmean(part) for part in _parts(loss, 10)]
    moved = (levels[0] - levels[-1]) / levels[0]
    return "" if abs(moved) <= 0.03 and max(levels) - min(levels) <= 0.1 * levels[0] else f"moved by {moved:.1%}"


def plateau(runs: Sequence[Curves], twin: Curves | None) -> str:
    """It fell by 15 %, then the last 40 % stays within 2 %, while the repaired twin ends at 75 % of its level or less."""
    loss = runs[0].loss
    tail = loss[-max(3, round(len(loss) * 0.4)) :]
    levels = tail if len(loss) <= 100 else [statistics.fmean(part) for part in _parts(tail, 4)]
    spread = (max(levels) - min(levels)) / statistics.fmean(levels)
    if (start(loss) - end(loss)) / start(loss) < 0.15:
        return f"it never fell: {start(loss):.3g} to {end(loss):.3g}"
    if spread > 0.04:
        return f"its tail still moves by {spread:.1%}"
    return _twin_is_better(loss, twin, 0.75)


def oscillating(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """In the second half the loss goes up at least every fourth time, typically by 10 % of its level."""
    loss = runs[0].loss
    half = loss[len(loss) // 2 :]
    ups = [after - before for before, after in itertools.pairwise(half) if after > before]
    share = len(ups) / (len(half) - 1)
    height = statistics.median(ups) / statistics.median(half) if ups else 0.0
    return "" if share >= 0.25 and height >= 0.1 else f"goes up {share:.0%} of the time, by {height:.1%}"


def waving(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """In the second half there are two peaks at least, each 20 % above the lowest point since the one before."""
    loss = runs[0].loss
    half = loss[len(loss) // 2 :]
    peaks, low = 0, half[0]
    for before, now, after in zip(half, half[1:], half[2:], strict=False):
        low = min(low, now)
        if before < now > after and now >= 1.2 * low:
            peaks, low = peaks + 1, now
    return "" if peaks >= 2 else f"{peaks} peaks in its second half"


def slow(runs: Sequence[Curves], twin: Curves | None) -> str:
    """From its middle to its end it falls 40 % as much as up to there, or by an eighth; its twin ends at 60 % of it or less."""
    loss = runs[0].loss
    middle = statistics.fmean(loss[len(loss) * 2 // 5 : len(loss) * 3 // 5 + 1])
    if middle - end(loss) < 0.4 * (start(loss) - middle) and end(loss) > 0.875 * middle:
        return f"it hardly falls any more: {start(loss):.3g}, {middle:.3g}, {end(loss):.3g}"
    return _twin_is_better(loss, twin, 0.6)


def overfitting(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """Held-out rows do far worse: 0.12 of accuracy, or twice the loss and up by 15 % since its lowest."""
    one = runs[0]
    if one.metric and one.val_metric and one.task != VALUES and end(one.metric) - end(one.val_metric) >= 0.12:
        return ""
    grown = end(one.val_loss) / min(one.val_loss)
    apart = end(one.val_loss) / end(one.loss)
    if apart >= 2 and grown >= 1.15:
        return ""
    return f"validation {apart:.2f} times the training loss, {grown:.2f} times its lowest"


def overtraining(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """Validation was best before two thirds of the training and is 20 % worse at its end, while the loss still fell."""
    one = runs[0]
    best = one.val_loss.index(min(one.val_loss))
    at, grown = best / (len(one.val_loss) - 1), end(one.val_loss) / min(one.val_loss)
    fell = end(one.loss) < one.loss[min(len(one.loss) - 1, round(at * (len(one.loss) - 1)))]
    return "" if at <= 2 / 3 and grown >= 1.2 and fell else f"best at {at:.0%}, then {grown:.2f} times as high"


def underfitting(runs: Sequence[Curves], twin: Curves | None) -> str:
    """Training ends far from perfect, no longer moves (5 % in the last third), and a twin gets to 75 % of its loss or less."""
    one = runs[0]
    tail = one.loss[-max(3, len(one.loss) // 3) :]
    moved = (start(tail) - end(tail)) / start(tail)
    if moved > 0.05:
        return f"still falls by {moved:.1%} in the last third"
    if one.metric and one.task != VALUES and end(one.metric) > 0.8:
        return f"accuracy {end(one.metric):.2f}"
    return _twin_is_better(one.loss, twin, 0.75)


def gap_at_once(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """From the second epoch on validation is 0.25 of accuracy worse, or 2.5 times the loss, in nine of ten epochs."""
    one = runs[0]
    if one.metric and one.val_metric and one.task != VALUES:
        worse = [train - held >= 0.25 for train, held in zip(one.metric[1:], one.val_metric[1:], strict=True)]
    else:
        worse = [held >= 2.5 * train for train, held in zip(one.loss[1:], one.val_loss[1:], strict=True)]
    return "" if sum(worse) >= 0.9 * len(worse) else f"apart in {sum(worse)} of {len(worse)} epochs"


def validation_better(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """Validation loss is 20 % below the training loss, and by 0.1 at least, in eight of ten epochs of the second half."""
    one = runs[0]
    pairs = list(zip(one.loss, one.val_loss, strict=True))[len(one.loss) // 2 :]
    better = sum(held <= 0.8 * train and train - held >= 0.1 for train, held in pairs)
    return "" if better >= 0.8 * len(pairs) else f"better in {better} of {len(pairs)} epochs"


def jumping(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """One step up that takes 30 % of the level before it and five times the usual change."""
    loss = [value for value in runs[0].loss if math.isfinite(value)]
    if len(loss) < 3:
        return "hardly a loss is finite"
    parts = [statistics.fmean(part) for part in _parts(loss, 30)] if len(loss) > 200 else loss
    changes = [after - before for before, after in itertools.pairwise(parts)]
    at = max(range(len(changes)), key=changes.__getitem__)
    usual = statistics.median(abs(one) for one in changes)
    share = changes[at] / parts[at]
    return "" if share >= 0.3 and changes[at] >= 5 * usual else f"up by {share:.0%}, usual {usual:.3g}"


def too_high(runs: Sequence[Curves], twin: Curves | None) -> str:
    """The twin with a smaller rate ends at half its loss or less (or it is not finite)."""
    if any(not math.isfinite(value) for value in runs[0].loss):
        return ""
    return _twin_is_better(runs[0].loss, twin, 0.5)


def too_low(runs: Sequence[Curves], twin: Curves | None) -> str:
    """The twin with a larger rate ends at 60 % of its loss or less, and the curve is flat, or falls to its end as a slow one does."""
    return slow(runs, twin) and (flat(runs) or _twin_is_better(runs[0].loss, twin, 0.6))


def stalled(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """One pause between two points is ten times the usual time and over 5 seconds."""
    if len(runs[0].seconds) < 3:
        return "no times are known"
    waits = [after - before for before, after in itertools.pairwise(runs[0].seconds)]
    top, usual = max(waits), statistics.median(waits)
    return "" if top >= 5 and top >= 10 * usual else f"longest pause {top:.1f} s, usual {usual:.2f} s"


def spiking(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """Of single batches one in fifty has three times the median loss of the forty before it."""
    loss = runs[0].loss
    high = sum(loss[at] > 3 * statistics.median(loss[at - 40 : at]) for at in range(40, len(loss)))
    share = high / max(1, len(loss) - 40)
    return "" if share >= 0.02 else f"{share:.1%} of the losses stand out"


def copies(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """Two runs of at least five points are equal to the bit."""
    pairs = itertools.combinations(runs, 2)
    same = any(one.loss == other.loss and len(one.loss) >= 5 for one, other in pairs)
    return "" if same else "no two runs are equal"


def batch_effect(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """Of runs that differ in their batch size, the worst ends at twice the loss (training or validation) of the best."""
    ends = [end(one.val_loss or one.loss) for one in runs]
    return "" if max(ends) >= 2 * min(ends) else f"ends between {min(ends):.3g} and {max(ends):.3g}"


def healthy(runs: Sequence[Curves], _: Curves | None = None) -> str:
    """Learned and kept: finite, fell by a third, ends near its best; validation neither turns nor is far from training, on either side."""
    for one in runs:
        if any(not math.isfinite(value) for value in (*one.loss, *one.val_loss)):
            return f"{one.name}: not finite"
        if end(one.loss) >= 0.67 * start(one.loss) and not (
            one.metric and one.task != VALUES and end(one.metric) > 0.9
        ):
            return f"{one.name}: the loss went from {start(one.loss):.3g} to {end(one.loss):.3g} only"
        if len(one.loss) == len(one.val_loss) and not validation_better([one]):
            return f"{one.name}: validation is better, {end(one.val_loss):.3g} and {end(one.loss):.3g}"
        best = min(one.val_loss, default=math.nan)
        if one.val_loss and end(one.val_loss) > max(1.12 * best, best + 0.02):
            return f"{one.name}: validation ends at {end(one.val_loss):.3g}, was {best:.3g}"
        if one.metric and one.val_metric and one.task != VALUES:
            if end(one.metric) - end(one.val_metric) > 0.08:
                return f"{one.name}: accuracy {end(one.metric):.3f}, in validation {end(one.val_metric):.3f}"
            if end(one.val_metric) < 0.75:
                return f"{one.name}: accuracy in validation {end(one.val_metric):.3f}"
        elif one.val_loss and end(one.val_loss) > max(
            1.6 * end(one.loss), end(one.loss) + (0.05 if one.task == VALUES else 0.15)
        ):
            return f"{one.name}: validation {end(one.val_loss):.3g}, training {end(one.loss):.3g}"
    return ""


def _parts(values: Sequence[float], count: int) -> list[Sequence[float]]:
    size = max(1, len(values) // count)
    return [values[at : at + size] for at in range(0, size * count, size)]


def _twin_is_better(loss: Sequence[float], twin: Curves | None, share: float) -> str:
    if twin is None:
        return "no repaired twin was trained"
    mine, theirs = end(loss), end(twin.loss)
    return "" if theirs <= share * mine else f"ends at {mine:.3g}, its twin at {theirs:.3g}"
