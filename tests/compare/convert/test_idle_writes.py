"""Writes that no output depends on are left out of what has no variables; others stay."""

from __future__ import annotations

import numpy as np
import pytest

from stethoscope.compare.convert.idle_writes import settled
from stethoscope.compare.convert.traced import WRITES, trace
from tests.compare.convert.sources import opened

FEED = {"x": np.arange(6, dtype="float32").reshape(3, 2)}


def _counted(tf, total, count):
    count.assign_add(1.0)
    return total


def _used(tf, total, count):
    return total + count.assign_add(1.0)


def _used_in_a_loop(tf, total, count):
    return tf.while_loop(lambda added: count.assign_add(1.0) < 3.0, lambda added: [added + 1.0], [total])[0]


def _counted_in_a_loop(tf, total, count):
    def body(step):
        count.assign_add(1.0)
        return [step + 1]

    tf.while_loop(lambda step: step < 3, body, [0])
    return total


@pytest.mark.parametrize(
    ("call", "idle"), [(_counted, True), (_counted_in_a_loop, True), (_used, False), (_used_in_a_loop, False)]
)
def test_only_what_is_read_is_kept(tmp_path, call, idle):
    import tensorflow as tf

    class Counting(tf.Module):
        def __init__(self):
            self.count, self.weight = tf.Variable(0.0), tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def total(self, x):
            return {"y": call(tf, x * self.weight, self.count)}

    module = Counting()
    tf.saved_model.save(module, tmp_path / "saved", signatures={"serving_default": module.total})
    with opened(tmp_path / "saved", FEED, tmp_path / "scratch") as source:
        traced = trace(source)
        found = settled(traced)
        assert traced.writes and bool(found.writes) is not idle
        if not idle:
            return
        definition = found.function.graph.as_graph_def()
        assert not any(WRITES.match(node.op) for node in definition.node) and not found.function.captured_inputs
        np.testing.assert_array_equal(found.function(tf.constant(FEED["x"]))["y"], FEED["x"] * 2)
