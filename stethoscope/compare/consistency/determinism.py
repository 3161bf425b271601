"""Same input, same output: again at once, and again after other inputs."""

from __future__ import annotations

from stethoscope.compare.consistency import layer_search
from stethoscope.compare.consistency.subject import Origin, Refused, Subject, Trial, number
from stethoscope.data.feeds.differences import Difference, larger, same_bits
from stethoscope.types import Feed


def repeated(subject: Subject, runs: int) -> tuple[list[Trial], Feed]:
    """Runs the same input `runs` times; sets the subject's `reference` and `steady`.

    Returns:
        Two trials, and the answer that differs most from the first.
    """
    reference = subject.runner.predict(subject.feed)
    last, bitwise, gap = reference, True, None
    for index in range(1, runs):
        subject.context.report("repeat", index / runs, f"run {index + 1} of {runs}")
        again = subject.runner.predict(subject.feed)
        bitwise = bitwise and all(same_bits(reference[name], again[name]) for name in reference)
        found = subject.gap(reference, again)
        if found is not None and larger(gap, found) is found:
            gap, last = found, again
    subject.reference = reference
    subject.steady = gap is None or not gap.beyond
    origin = None if bitwise else layer_search.between_runs(subject, subject.feed, bits=subject.steady)
    return [_bitwise(runs, bitwise, gap, origin), _tolerant(runs, subject, gap, origin)], last


def after_others(subject: Subject, other: Feed) -> Trial:
    """The same input again, after the model has seen `other`: does anything of it stay behind?"""
    id_, name = "same-after-others", "Same input, after other inputs"
    if not subject.steady:
        return Trial(id_, "determinism", name, None, "Not meaningful: the output already changes from run to run.")
    subject.context.report("repeat", message="the same input after another")
    try:
        subject.answer(other)
        again = subject.answer(subject.feed)
    except Refused as error:
        return Trial(id_, "determinism", name, None, f"It did not take a second random input: {error}.")
    gap = subject.gap(subject.reference, again)
    size = gap.max_abs_diff if gap else 0.0
    if gap is None or not gap.beyond:
        detail = f"Another input in between changes nothing (largest gap {size:.3g})."
        return Trial(id_, "determinism", name, True, detail, size, decides=True)
    origin = layer_search.across_inputs(subject, subject.feed, other)
    detail = (
        f"After another input the same input gives {number(gap.values[1])} where it gave {number(gap.values[0])}: "
        "the model keeps something of what it has seen."
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
