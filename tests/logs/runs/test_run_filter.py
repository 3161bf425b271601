"""Choosing runs by a short text."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stethoscope.errors import BadSetting
from stethoscope.logs.runs.compare import Comparison, metric_of
from stethoscope.logs.runs.run_filter import MAX_LENGTH, like, matching
from stethoscope.logs.series import Series
from tests.exploring import examples
from tests.tables import each

RUNS = Comparison.of(
    [
        {
            "run": f"exp/run {place}",
            "group": "exp" if place < 3 else "other",
            "parameters": {
                "params.yaml:train.lr": 10.0**-place,
                "opt": "adam" if place % 2 else "AdamW",
                "bn": place % 2 == 0,
            },
            "notes": {"status": "FINISHED" if place else "FAILED"},
        }
        for place in range(4)
    ]
    + [{"run": "bare"}]
)
VALUES = [[3.0, 2.0, 4.0], [3.0, 1.0, 1.5], [math.nan], [5.0]]


def metric(tag):
    found = [Series(tag, np.arange(len(one)), np.arange(len(one), dtype=float), np.array(one)) for one in VALUES]
    return metric_of(tag, [*found, None], False)


def chosen(text):
    return matching(text, RUNS, metric, ["val/loss"])


@each(
    ("text", "places"),
    [
        ("", (0, 1, 2, 3, 4)),
        ("lr<0.05", (2, 3)),
        ("lr=0.1", (1,)),
        ("params.lr>=.1 opt=adam", (1,)),
        ("opt=adam", (1, 3)),
        ("opt=adam*", (0, 1, 2, 3)),
        ("adamw", (0, 2)),
        ("opt!=adam", (0, 2)),
        ("not opt=adam", (0, 2, 4)),
        ("bn=true status=finished", (2,)),
        ("val/loss<=2", (0, 1)),
        ("loss<2 or 'run 3'", (1, 3)),
        ("last.val/loss>=4", (0, 3)),
        ("best.loss = nan or loss>4", (2, 3)),
        ("(loss<=2 or bare) and not (lr=1)", (1, 4)),
        ("group=other", (3,)),
        ('run="exp/run 2"', (2,)),
        ("run=*RUN*3", (3,)),
        ("lr<adam", ()),
    ],
)
def test_conditions(text, places):
    assert chosen(text) == places


@each("text", ["x=3", "(run", "lr<", '"open', "= 3", "lr = = 3", ") run", "or", "not", "a" * MAX_LENGTH * 2, "(" * 300])
def test_what_cannot_be_understood_says_so(text):
    with pytest.raises(BadSetting, match="Filter"):
        chosen(text)


@examples(100)
@given(st.text(alphabet="ab *<>=!()'\"ornt.1", max_size=60))
def test_no_text_breaks_it(text):
    try:
        places = chosen(text)
    except BadSetting:
        return
    assert set(places) <= set(range(5))


def test_patterns():
    assert like("Adam", "adam")
    assert not like("adamw", "adam")
    assert like("abcabc", "a*c*c")
    assert not like("aba", "ab*ba")
    start = time.thread_time()
    assert not like("a" * 8_000, "*a" * 400 + "b")
    assert time.thread_time() - start < 1
