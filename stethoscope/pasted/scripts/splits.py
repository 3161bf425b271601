"""Which part of the data a value is: of `load_data()`, or of `train_test_split`."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.pasted.scripts.values import Call, Const, Element, Made, Value, ancestors


@dataclass(frozen=True)
class SplitPart:
    """A part of the data."""

    split: Call
    """What made the parts."""
    part: int
    """0 for the training, 1 for the test."""


def part_of_split(value: Value | None) -> SplitPart | None:
    """The part that a value comes from; None where that is not known, or it is both."""
    found: SplitPart | None = None
    if value is None:
        return None
    for one in ancestors(value):
        if not isinstance(one, Element) or not isinstance(one.key, Const) or not isinstance(one.key.value, int):
            continue
        owner = one.of
        if isinstance(owner, Element) and isinstance(owner.of, Made) and isinstance(owner.key, Const):
            if owner.of.call.method != "load_data" or owner.key.value not in (0, 1):
                continue
            mine = SplitPart(owner.of.call, int(owner.key.value))
        elif isinstance(owner, Made) and owner.call.name.endswith("train_test_split"):
            mine = SplitPart(owner.call, one.key.value % 2)
        else:
            continue
        if found is not None and (found.split is not mine.split or found.part != mine.part):
            # The nearest split says what it is: what it was cut from may have been a part of something else.
            return None if found.split is mine.split else found
        found = mine
    return found


def cut_from(value: Value | None) -> Value | None:
    """What `train_test_split` cut a part out of; None for what is no such part."""
    if not isinstance(value, Element) or not isinstance(value.of, Made) or not isinstance(value.key, Const):
        return None
    split, place = value.of.call, value.key.value
    if not split.name.endswith("train_test_split") or not isinstance(place, int) or place // 2 >= len(split.args):
        return None
    return split.args[place // 2]
