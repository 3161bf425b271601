"""Steps from the rows there are to the rows a model takes: each way that is offered leads there."""

from __future__ import annotations

import numpy as np

from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.evidence.data_fit import fitting_steps
from stethoscope.evidence.data_fit.expected_input import ExpectedInput
from tests.tables import each


def expected(shape, kind, axis=None):
    return ExpectedInput("in", shape, "float32", kind, "any", None, "", axis)


@each(
    ("have", "want", "kind", "axis", "first"),
    [
        ((28, 28), (28, 28, 1), "image", -1, ["add_axis"]),
        ((28, 28), (32, 32, 3), "image", -1, ["resize", "channels"]),
        ((28, 28, 1), (28, 28, 3), "image", -1, ["channels"]),
        ((40, 30, 4), (40, 30, 3), "image", -1, ["channels"]),
        ((40, 30, 4), (40, 30, 1), "image", -1, ["channels", "channels"]),
        ((40, 30, 3), (1, 40, 30), "image", 1, ["channels", "transpose"]),
        ((3, 40, 30), (40, 30, 3), "image", -1, ["transpose"]),
        ((3, 40, 31), (3, 224, 224), "image", 1, ["transpose", "resize", "transpose"]),
        ((1, 28, 28, 3), (28, 28, 3), "image", -1, ["remove_axis"]),
        ((784,), (28, 28, 1), "image", -1, ["reshape"]),
        ((28, 28), (784,), "table", None, ["flatten"]),
        ((28, 28, 1), (784,), "table", None, ["flatten"]),
        ((), (1,), "table", None, ["add_axis"]),
        ((1,), (), "array", None, ["remove_axis"]),
        ((7,), (4,), "table", None, ["select_columns"]),
        ((33,), (20,), "tokens", None, ["pad"]),
        ((9,), (20,), "tokens", None, ["pad"]),
        ((9,), (9, 1), "sequence", None, ["add_axis"]),
        ((9,), (20, 1), "sequence", None, ["pad", "add_axis"]),
        ((6, 50), (50, 6), "sequence", None, ["transpose"]),
        ((60, 6), (50, 6), "sequence", None, ["pad"]),
        ((60, 6, 1), (60, 6), "sequence", None, ["remove_axis"]),
        ((360,), (60, 6), "sequence", None, ["reshape"]),
        ((5,), (5,), "table", None, []),
        ((5,), (None,), "tokens", None, []),
    ],
)
def test_a_way_leads_there(have, want, kind, axis, first):
    ways = fitting_steps.shape_routes("x", [have], expected((None, *want), kind, axis))
    assert [step["step"] for step in ways[0]] == first
    rows = np.arange(3 * int(np.prod(have, dtype=int))).reshape(3, *have) % 7
    for way in ways:
        made = Preparation.from_json(way).apply_to("x", rows)
        assert fitting_steps.fits(made.shape[1:], want), (way, made.shape)


@each(
    ("have", "want", "kind", "axis"),
    [
        ((3,), (4,), "table", None),
        ((5, 5), (4,), "table", None),
        ((8, 8, 7), (8, 8, 3), "image", -1),
        ((), (4, 4), "sequence", None),
    ],
)
def test_where_there_is_no_way_none_is_offered(have, want, kind, axis):
    assert fitting_steps.shape_routes("x", [have], expected((None, *want), kind, axis)) == []


def test_pictures_of_several_sizes_are_stretched_cut_or_padded():
    ways = fitting_steps.shape_routes("x", [(40, 30, 3), (20, 60, 3)], expected((None, 32, 32, 3), "image", -1))
    assert [way[0]["fit"] for way in ways] == ["stretch", "crop", "pad"]
    rows = [np.zeros((40, 30, 3)), np.zeros((20, 60, 3))]
    for way in ways:
        assert Preparation.from_json(way).apply_to("x", rows).shape == (2, 32, 32, 3)


def test_the_same_aspect_is_only_stretched():
    assert len(fitting_steps.shape_routes("x", [(448, 448, 3)], expected((None, 224, 224, 3), "image", -1))) == 1


def test_sentences_of_several_lengths_get_the_longest():
    ways = fitting_steps.shape_routes("x", [(4,), (9,), (2,)], expected((None, None), "tokens"))
    assert ways == [[{"step": "pad", "of": "x", "length": 9}]]
