"""Same input, same output: again, after other inputs, alone or among other rows, in any order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from stethoscope.compare.consistency import layer_search
from stethoscope.compare.consistency.subject import Origin, Refused, Subject, Trial, number, picked
from stethoscope.data.batching import Difference, larger, same_bits
from stethoscope.models.formats import format_of
from stethoscope.types import Feed

_ALONE_ROWS = 4
_SINGLE = ("batch-1-vs-n", "One row alone, or among others")
_SIZES = ("batch-sizes", "Batches of several sizes")
_ORDER = ("batch-order", "Rows in another order")
_OTHERS = ("batch-independence", "Other rows in the same batch")


def trials(subject: Subject, other: Feed) -> list[Trial]:
    """All of them; `other` is a second random input with as many rows."""
    why = _why_not(subject)
    if why:
        return [Trial(id_, "batch", name, None, why) for id_, name in (_SINGLE, _SIZES, _ORDER, _OTHERS)]
    subject.context.report("batch", 0.0, "other batches")
    found = [_alone(subject), _sizes(subject), _order(subject), _others(subject, other)]
    failed = [trial for trial in found if trial.passed is False]
    if not failed:
        return found
    subject.independent = False
    # One search explains them all: in every one, a row's result depends on the rest of its batch.
    row = int(failed[0].values.get("row", 0))
    origin = _origin(subject, other, row)
    found = [replace(trial, origin=origin) if trial.passed is False else trial for trial in found]
    return found if _surely_rows(subject) else [_doubted(trial, subject.rows) for trial in found]


def _surely_rows(subject: Subject) -> bool:
    """Whether the first dimension is a batch: Keras says so; in a graph, one of fixed size may be anything."""
    return subject.batching.fixed is None or format_of(subject.architecture).live


def _doubted(trial: Trial, rows: int) -> Trial:
    if trial.passed is not False:
        return trial
    detail = f"{trial.detail} But the first dimension is always {rows}, so it may be no batch."
    return replace(trial, passed=None, noted=True, decides=False, detail=detail)


def _why_not(subject: Subject) -> str:
    if not subject.steady:
        return "Not meaningful: the output already changes from run to run."
    if subject.rows < 2:
        return (
            "The model takes one row at a time."
            if subject.batching.fixed
            else "Only one row was given: a batch needs two."
        )
    if not subject.by_row(subject.reference, subject.rows):
        return "No output has one row for each input row."
    return ""


def _alone(subject: Subject) -> Trial:
    if subject.batching.fixed is not None:
        return Trial(_SINGLE[0], "batch", _SINGLE[1], None, f"The model takes batches of {subject.rows} only.")
    whole, gap, place = subject.by_row(subject.reference, subject.rows), None, 0
    for row in range(min(subject.rows, _ALONE_ROWS)):
        try:
            alone = subject.answer(subject.batching.part(subject.feed, row, row + 1))
        except Refused as error:
            return Trial(_SINGLE[0], "batch", _SINGLE[1], None, f"It does not run on one row alone: {error}.")
        found = subject.gap(picked(whole, slice(row, row + 1)), alone)
        if found is not None and larger(gap, found) is found:
            gap, place = found, row
    if gap is None or not gap.beyond:
        detail = f"Rows give the same result alone and in a batch of {subject.rows} (largest gap {_size(gap):.3g})."
        return _passed(_SINGLE, detail, gap)
    detail = (
        f"Row {place} gives {number(gap.values[0])} in a batch of {subject.rows} and {number(gap.values[1])} alone "
        f"(gap {gap.max_abs_diff:.3g})."
    )
    return _failed(_SINGLE, detail, gap, row=place)


def _sizes(subject: Subject) -> Trial:
    if subject.batching.fixed is not None:
        return Trial(_SIZES[0], "batch", _SIZES[1], None, f"The model takes batches of {subject.rows} only.")
    whole = subject.by_row(subject.reference, subject.rows)
    by_size: dict[int, float] = {}
    gap, place = None, 0
    for size in sorted({2, 3, subject.rows - 1} - {1, subject.rows}):
        try:
            found = subject.answer(subject.batching.take(subject.feed, size))
        except Refused as error:
            return Trial(_SIZES[0], "batch", _SIZES[1], None, f"It does not run on a batch of {size}: {error}.")
        index = np.arange(size) % subject.rows
        difference = subject.gap(picked(whole, index), found)
        by_size[size] = _size(difference)
        if difference is not None and larger(gap, difference) is difference:
            gap, place = difference, size
    shown = ", ".join(str(size) for size in [*by_size, subject.rows])
    if gap is None or not gap.beyond:
        detail = f"Rows give the same result in batches of {shown} (largest gap {_size(gap):.3g})."
        return _passed(_SIZES, detail, gap, by_size=by_size)
    detail = (
        f"The same row gives {number(gap.values[0])} in a batch of {subject.rows} and {number(gap.values[1])} in a batch "
        f"of {place} (gap {gap.max_abs_diff:.3g})."
    )
    return _failed(_SIZES, detail, gap, by_size=by_size)


def _order(subject: Subject) -> Trial:
    order = _new_order(subject)
    shuffled = _shuffled(subject, order)
    try:
        found = subject.answer(shuffled)
    except Refused as error:
        return Trial(_ORDER[0], "batch", _ORDER[1], None, f"It did not run on the shuffled rows: {error}.")
    whole = subject.by_row(subject.reference, subject.rows)
    gap = subject.gap(picked(whole, order), found)
    if gap is None or not gap.beyond:
        return _passed(_ORDER, f"Shuffled rows give the same results, shuffled (largest gap {_size(gap):.3g}).", gap)
    detail = (
        f"A row gives {number(gap.values[0])} in its first place and {number(gap.values[1])} in another "
        f"(gap {gap.max_abs_diff:.3g})."
    )
    return _failed(_ORDER, detail, gap)


def _new_order(subject: Subject) -> npt.NDArray[np.intp]:
    order = np.random.default_rng([subject.seed, 1]).permutation(subject.rows)
    return order[::-1] if (order == np.arange(subject.rows)).all() else order


def _shuffled(subject: Subject, order: npt.NDArray[np.intp]) -> Feed:
    return {
        name: array[order] if name in subject.batching.names and array.ndim else array
        for name, array in subject.feed.items()
    }


def _others(subject: Subject, other: Feed) -> Trial:
    """Keeps one row and replaces all others by rows of another input."""
    whole = subject.by_row(subject.reference, subject.rows)
    gap: Difference | None = None
    place = 0
    for row in {0, subject.rows // 2}:
        try:
            found = subject.answer(_keeping(subject, other, row))
        except Refused as error:
            return Trial(_OTHERS[0], "batch", _OTHERS[1], None, f"It did not take a second random input: {error}.")
        part = slice(row, row + 1)
        difference = subject.gap(picked(whole, part), picked(subject.by_row(found, subject.rows), part))
        if difference is not None and larger(gap, difference) is difference:
            gap, place = difference, row
    if gap is None or not gap.beyond:
        detail = f"A row keeps its result when every other row is replaced (largest gap {_size(gap):.3g})."
        return _passed(_OTHERS, detail, gap)
    detail = (
        f"Row {place} gives {number(gap.values[0])}, and {number(gap.values[1])} when the other rows are replaced "
        f"(gap {gap.max_abs_diff:.3g})."
    )
    return _failed(_OTHERS, detail, gap, row=place)


def _keeping(subject: Subject, other: Feed, row: int) -> Feed:
    mixed: Feed = {}
    for name, array in subject.feed.items():
        mixed[name] = array
        if name in subject.batching.names and array.ndim and other[name].shape == array.shape:
            mixed[name] = other[name].copy()
            mixed[name][row] = array[row]
    return mixed


def _origin(subject: Subject, other: Feed, row: int) -> Origin | None:
    mixed, order, same = _keeping(subject, other, row), _new_order(subject), np.array([row])
    found = layer_search.between_rows(subject, subject.feed, mixed, same, same)
    if found is None and subject.batching.fixed is None:
        found = layer_search.against_one_row(subject, subject.feed, row)
    if found is None:
        places = np.arange(subject.rows)
        found = layer_search.between_rows(subject, subject.feed, _shuffled(subject, order), order, places)
    return found


def _size(gap: Difference | None) -> float:
    return 0.0 if gap is None else gap.max_abs_diff


def _passed(what: tuple[str, str], detail: str, gap: Difference | None, **values: object) -> Trial:
    return Trial(what[0], "batch", what[1], True, detail, _size(gap), decides=True, values=values)


def _failed(what: tuple[str, str], detail: str, gap: Difference, **values: object) -> Trial:
    return Trial(what[0], "batch", what[1], False, detail, gap.max_abs_diff, decides=True, values=values)


def repeated(subject: Subject, runs: int) -> tuple[list[Trial], Feed]:
    """Runs the same input `runs` times; sets the subject's `reference` and `steady`.

    Returns:
        Two trials, and the answer that differs most from the first.
    """
    reference = subject.begun(subject.feed)
    last, bitwise, gap = reference, True, None
    for index in range(1, runs):
        subject.context.report("repeat", index / runs, f"run {index + 1} of {runs}")
        again = subject.begun(subject.feed)
        bitwise = bitwise and all(same_bits(reference[name], again[name]) for name in reference)
        found = subject.gap(reference, again)
        if found is not None and larger(gap, found) is found:
            gap, last = found, again
    subject.reference = reference
    subject.steady = gap is None or not gap.beyond
    origin = None if bitwise else layer_search.between_runs(subject, subject.feed, bits=subject.steady)
    return [_bitwise(runs, bitwise, gap, origin), _tolerant(runs, subject, gap, origin)], last


STATE = "It keeps a state between calls, as a model does that is fed a stream. Start it anew for what does not belong together."


def after_others(subject: Subject, other: Feed) -> Trial:
    """The same input again, after the model has seen `other`: does anything of it stay behind?"""
    id_, name = "same-after-others", "Same input, after other inputs"
    if not subject.steady:
        return Trial(id_, "determinism", name, None, "Not meaningful: the output already changes from run to run.")
    subject.context.report("repeat", message="the same input after another")
    try:
        subject.answer(other)
        again = subject.answer(subject.feed, begin=False)
    except Refused as error:
        return Trial(id_, "determinism", name, None, f"It did not take a second random input: {error}.")
    gap = subject.gap(subject.reference, again)
    size = gap.max_abs_diff if gap else 0.0
    if gap is None or not gap.beyond:
        detail = f"Another input in between changes nothing (largest gap {size:.3g})."
        return Trial(id_, "determinism", name, True, detail, size, decides=True)
    kept = subject.architecture.keeps_state
    origin = Origin(kept[0], STATE) if kept else layer_search.across_inputs(subject, subject.feed, other)
    detail = (
        f"After another input the same input gives {number(gap.values[1])} where it gave {number(gap.values[0])}: "
        f"{'it keeps a state between calls' if kept else 'the model keeps something of what it has seen'}."
    )
    return Trial(id_, "determinism", name, False, detail, size, origin, decides=True)


def _bitwise(runs: int, bitwise: bool, gap: Difference | None, origin: Origin | None) -> Trial:
    id_, name, size = "same-input-bitwise", "Same input, same output, to the bit", gap.max_abs_diff if gap else 0.0
    if bitwise:
        return Trial(id_, "determinism", name, True, f"{runs} runs on the same input agree in every bit.", 0.0)
    return Trial(id_, "determinism", name, False, f"{runs} runs differ by up to {size:.3g}.", size, origin)


def _tolerant(runs: int, subject: Subject, gap: Difference | None, origin: Origin | None) -> Trial:
    id_, name, size = (
        "same-input-tolerance",
        "Same input, same output, within tolerance",
        gap.max_abs_diff if gap else 0.0,
    )
    if gap is None or not gap.beyond:
        detail = f"{runs} runs agree within {subject.atol:g} (largest gap {size:.3g})."
        return Trial(id_, "determinism", name, True, detail, size, decides=True)
    detail = (
        f"{runs} runs differ by up to {size:.3g}: one gave {number(gap.values[0])}, another {number(gap.values[1])}."
    )
    return Trial(id_, "determinism", name, False, detail, size, origin, decides=True)
