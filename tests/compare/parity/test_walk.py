"""Outputs of words, and the rows on which two models disagree most."""

from __future__ import annotations

import inspect
import re
import sys

import numpy as np

from stethoscope.compare.parity.causes import all_causes
from stethoscope.compare.parity.divergence_cause import in_other_order, worst_rows
from stethoscope.compare.parity.precision import Tolerance
from stethoscope.compare.parity.yardstick import compared
from tests.tables import each

LIMITS = Tolerance("float32", 1e-5, 0.999, 1e-7)


@each(
    ("left", "right", "within"),
    [
        (["cat", "dog"], ["cat", "dog"], True),
        (["cat", "dog"], ["cat", "cow"], False),
        (["cat", "dog"], ["cat"], None),
        ([1.0, 2.0], [1.0, 2.0, 3.0], None),
    ],
)
def test_outputs_of_words_are_the_same_or_not(left, right, within):
    found = compared("a", "b", np.array(left), np.array(right), LIMITS)
    assert (None if found is None else found.within) == within
    if within is False:
        assert found.max_abs_diff == 0.5 and not found.equal


def test_the_worst_rows_are_those_of_numbers():
    left = {"word": np.array(["a", "b"]), "y": np.array([[1.0], [2.0]], np.float32)}
    right = {"word": np.array(["a", "c"]), "y": np.array([[1.0], [5.0]], np.float32)}
    pairs = [compared(name, name, left[name], right[name], LIMITS) for name in left]
    (row,) = worst_rows(left, right, pairs, np.array([7, 9]), [])
    assert (row.place, row.max_abs_diff) == (9, 3.0)


def test_a_sentence_is_told_from_the_other_side():
    assert in_other_order("The first model") == "The second model"
    assert in_other_order("the second model's") == "the first model's"
    assert in_other_order("pads first") == "pads first"


def test_causes_name_the_models_so_that_they_can_be_exchanged():
    """ "The first" alone would stay as it is where the two are given in the other order."""
    for cause in all_causes().values():
        text = inspect.getsource(sys.modules[type(cause).__module__])
        told = re.findall(r"""f?"[^"\n]*"$|f?"[^"\n]*",$""", text, re.MULTILINE)
        alone = [one for one in told if re.search(r"\b(?:the|The) (?:first|second)\b(?! model)", one)]
        assert alone == [], cause.id


def test_ties_are_the_same_class():
    flat = np.full((4, 3), 1 / 3, np.float32)
    other = flat + np.array([0, 1e-8, 0], np.float32)
    assert compared("a", "b", flat, other, LIMITS).top1_agreement == 1.0
