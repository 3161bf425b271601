"""A dataset that is batched twice.

Why: `image_dataset_from_directory` gives batches already. `batch` on top of them makes batches of batches, with one axis more than the
model takes: ValueError.
Example: `image_dataset_from_directory("photos").batch(32)`.
Fix: leave `batch` out, or read with `batch_size=None`.
Source: keras.io/api/data_loading/image (batch_size: "If None, the data will not be batched"); stackoverflow.com/questions/63731947.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, is_const

_READS = frozenset(f"keras.utils.{kind}_dataset_from_directory" for kind in ("image", "text", "audio"))
_KEEPS = ("shuffle", "cache", "prefetch", "take", "skip", "repeat", "with_options", "shard")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("batch"):
        value = call.receiver
        while isinstance(value, Made) and value.call.method in _KEEPS and value.call.receiver is not None:
            value = value.call.receiver
        if not isinstance(value, Made) or id(call.node) in done or call.guarded:
            continue
        read = value.call
        if meaning(read.name) in _READS and not read.spread and not is_const(read.argument("batch_size"), None):
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.DATA,
                Severity.HIGH,
                0.92,
                f"What is read in line {facts.source.where(read.line).rpartition(':')[2]} is batched already: this makes batches of batches.",
                "Leave batch out.",
            )


RULE = Rule(_run)
