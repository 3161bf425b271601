"""Which of several blocked layers is the one that blocks."""

from __future__ import annotations

import itertools

from stethoscope.evidence.trials import (
    DEAD,
    FROZEN,
    GRADIENT_VANISHES,
    GRADIENT_ZERO,
    GRAVEST_FIRST,
    BlockedLayer,
    blocking_layer,
    gravest_first,
    vanishing,
    weakest_in_run,
)
from tests.checks.training_evidence import layer


def test_the_gravest_is_named_in_whatever_order_they_were_seen():
    layers = [BlockedLayer(f"layer {place}", reason) for place, reason in enumerate(GRAVEST_FIRST)]
    for graver, milder in itertools.combinations(layers, 2):
        for seen in ((graver, milder), (milder, graver)):
            assert gravest_first(seen)[0] == graver
            assert blocking_layer(seen) == graver


def test_a_layer_with_several_reasons_is_named_once_with_the_gravest():
    seen = (BlockedLayer("a", FROZEN), BlockedLayer("b", GRADIENT_ZERO, 0.0), BlockedLayer("b", DEAD, 1.0))
    assert gravest_first(seen) == (BlockedLayer("b", DEAD, 1.0), BlockedLayer("a", FROZEN))


def test_of_like_reasons_the_one_is_named_that_the_others_follow_from():
    def named(*layers):
        first = blocking_layer(gravest_first(layers))
        return first and first.path

    assert named(BlockedLayer("a", DEAD), BlockedLayer("b", DEAD)) == "a"
    assert named(BlockedLayer("a", GRADIENT_ZERO, 0.0), BlockedLayer("b", GRADIENT_ZERO, 0.0)) == "b"
    assert named(BlockedLayer("a", GRADIENT_VANISHES, 1e-4), BlockedLayer("b", GRADIENT_VANISHES, 1e-6)) == "b"
    assert named() is None


def test_a_gradient_vanishes_against_the_layers_behind_it():
    assert [one.path for one in vanishing({"a": 1e-6, "b": 1e-2, "c": 1.0})] == ["a"]
    assert vanishing({"a": 1.0, "b": 1e-6}) == []


def test_the_weakest_layer_of_a_run():
    weak = weakest_in_run([layer("a", 1e-5), layer("b", 1e-4), layer("c", 1e-2), layer("d", 1e-1)])
    assert weak is not None
    assert (weak.layer.path, weak.reason) == ("a", GRADIENT_VANISHES)
    blocked = weakest_in_run([layer("a", 0.0), layer("b", 1.0)])
    assert blocked is not None and blocked.reason == GRADIENT_ZERO
    assert weakest_in_run([layer("a", 1.0), layer("b", 1.0)]).reason == ""
    assert weakest_in_run([layer("a", 1.0)]) is None
