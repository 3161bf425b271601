"""What is said about zeros, huge numbers, NaN and indices that no vocabulary holds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stethoscope.errors import BadInput
from tests.compare.consistency.numpy_model import TOKENS, dense, study, wrong


def test_findings_at_the_edge_do_not_make_a_model_inconsistent(tmp_path):
    report = study(tmp_path, ("divide", "TrueDivide", lambda x: x / x.sum(1, keepdims=True)), dense())
    zeros = report.test("edge-zeros")
    assert zeros.passed is False
    assert zeros.group == "robustness"
    assert zeros.layer == "divide"
    assert zeros.values["non_finite"] == {"y": 12}
    assert report.consistent is True


@pytest.mark.parametrize(
    ("function", "failing"),
    [(np.exp, {"edge-huge"}), (lambda x: x / np.square(x), {"edge-zeros", "edge-tiny"})],
    ids=["overflow", "underflow"],
)
def test_the_input_that_breaks_a_layer_is_named(tmp_path, function, failing):
    report = study(tmp_path, ("strange", "Custom", function), dense())
    assert wrong(report) == failing
    assert {report.test(key).layer for key in failing} == {"strange"}


def test_overflow_at_the_end_of_the_range_is_arithmetic(tmp_path):
    extreme = study(tmp_path, ("square", "Square", lambda x: x * x * x), dense()).test("edge-extreme")
    assert extreme.passed is None
    assert extreme.noted is True


def test_nan_that_stays_nan_in_its_row_is_right(tmp_path):
    assert study(tmp_path, dense()).test("edge-nan-row").passed is True


def test_nan_that_becomes_a_number_is_worth_knowing_with_its_layer(tmp_path):
    relu = ("relu", "ReLU", lambda x: np.fmax(x, 0))
    found = study(tmp_path, dense("first"), relu, ("double", "Dense", lambda x: 2 * x)).test("edge-nan-row")
    assert (found.passed, found.noted, found.layer) == (None, True, "relu")
    assert "unnoticed" in found.detail


def test_infinity_that_reaches_other_rows_only_is_a_failure(tmp_path):
    def spreading(x):
        return x + np.where(np.isinf(x).any(), 1, 0).astype(np.float32)

    report = study(tmp_path, ("spread", "Custom", spreading), dense())
    assert report.test("edge-inf-row").passed is False
    assert report.test("edge-inf-row").layer == "spread"


def embedding(lookup):
    table = np.random.default_rng(3).standard_normal((20, 3)).astype(np.float32)
    table[0] = 0.5
    return ("words", "Embedding", lambda x: lookup(table, x)), ("sum", "Sum", lambda x: x.sum(1))


def strict(table, x):
    if (x < 0).any() or (x >= 20).any():
        raise BadInput(f"fake: indices[0] = {x.max()} is not in [0, 20).")
    return table[x]


def zeros(table, x):
    return np.where(((x >= 0) & (x < 20))[..., None], table[x % 20], 0)


@pytest.mark.parametrize(
    ("lookup", "passed", "said"),
    [
        (strict, True, "not in [0, 20)"),
        (lambda table, x: table[np.clip(x, 0, 19)], False, "read as index 19"),
        (lambda table, x: table[x % 20], False, "read as index 0"),
        (zeros, False, "vector of zeros"),
    ],
    ids=["strict", "clamped", "wrapped", "zeros"],
)
def test_what_becomes_of_an_index_outside_the_vocabulary(tmp_path, lookup, passed, said):
    report = study(tmp_path, *embedding(lookup), spec=TOKENS, config={"words": {"input_dim": 20}})
    found = report.test("edge-out-of-vocabulary")
    assert found.passed is passed
    assert said in found.detail
    assert report.test("edge-last-index").passed is True
    assert report.consistent is True


def test_a_constant_is_found_and_what_it_answers_is_said(tmp_path):
    report = study(tmp_path, dense(), ("softmax", "Activation", lambda x: np.ones_like(x[:, :1])))
    assert report.test("input-dependence").passed is False
    assert "(1 …)" in report.test("input-dependence").detail
    assert report.consistent is True


def test_a_layer_that_is_never_finite_is_named(tmp_path):
    found = study(tmp_path, dense(), ("log", "Log", np.log)).test("finite")
    assert (found.passed, found.layer) == (False, "log")


def test_a_difference_between_the_modes_needs_a_layer_that_explains_it(tmp_path):
    def shifted(y):
        return y + 1

    unexplained = study(tmp_path, dense(), training=shifted)
    assert unexplained.test("train-vs-inference").passed is False
    assert unexplained.consistent is True
    config = {"rnn": {"recurrent_dropout": 0.2}}
    rnn = ("rnn", "SimpleRNN", lambda x: x)
    explained = study(tmp_path, dense(), rnn, training=shifted, config=config).test("train-vs-inference")
    assert explained.passed is True
    assert explained.layer == "rnn"


def test_what_is_known_survives_a_process_that_does_not(tmp_path):
    def fatal(x):
        if (x == 1).all():
            raise SystemExit("the process dies here")
        return x

    with pytest.raises(SystemExit):
        study(tmp_path, ("fatal", "Custom", fatal), dense())
    kept = json.loads((tmp_path / "partial.json").read_text())
    assert kept["tests"][-1]["id"] == "edge-ones"
    assert "died" in kept["tests"][-1]["detail"]
    assert kept["consistent"] is True
