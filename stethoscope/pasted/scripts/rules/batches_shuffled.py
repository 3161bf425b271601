"""Whole batches are shuffled, not rows.

Why: `batch` before `shuffle` puts batches into another order; the rows of a batch stay together for ever. Where the file is sorted, each
batch holds one class.
Example: `dataset.batch(32).shuffle(1000)`.
Fix: shuffle first, then batch.
Source: tensorflow.org/guide/data#randomly_shuffling_input_data; tensorflow.org/guide/data_performance
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made

_BATCHES = ("batch", "padded_batch", "ragged_batch")
_MIXES = ("shuffle", "unbatch", "flat_map", "interleave", "bucket_by_sequence_length")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("shuffle"):
        if id(call.node) in done or not (call.args or "buffer_size" in call.keywords):
            continue
        steps = [one.method for one in _before(call)]
        place = next((place for place, name in enumerate(steps) if name in _BATCHES), None)
        if place is None or any(name in _MIXES for name in steps):
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.DATA,
            Severity.LOW,
            0.8,
            "shuffle comes after batch: whole batches change their order, and the rows of a batch stay together.",
            "Shuffle first, then batch.",
            (),
            "dataset = dataset.shuffle(1000).batch(32)",
        )


def _before(call: Call) -> Iterator[Call]:
    value = call.receiver
    for _ in range(30):
        if not isinstance(value, Made):
            return
        yield value.call
        value = value.call.receiver


RULE = Rule(_run)
