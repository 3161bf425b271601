"""Training and validation drawn so that they overlap.

Why: a `tf.data.Dataset` is shuffled anew each time it is read, so `take` and `skip` behind `shuffle` give other rows each epoch. Two subsets
of one folder drawn with different seeds overlap; without a seed Keras refuses them.
Example: `ds = ds.shuffle(1000)`, `ds.take(800)`, `ds.skip(800)`; `subset="training", seed=1` and `subset="validation", seed=2`.
Fix: `reshuffle_each_iteration=False`; one seed for both.
Source: tensorflow.org/api_docs/python/tf/data/Dataset (shuffle); keras.io/api/data_loading/image; raised by Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, calls_behind, is_const, number, text

_OF_FOLDERS = frozenset(f"keras.utils.{kind}_dataset_from_directory" for kind in ("image", "text", "audio"))


def _run(facts: Facts) -> Iterator[Finding]:
    yield from _reshuffled(facts)
    yield from _subsets(facts)


def _reshuffled(facts: Facts) -> Iterator[Finding]:
    taken: dict[int, list[Call]] = {}
    for call in facts.calls:
        if call.method in ("take", "skip") and isinstance(call.receiver, Made):
            taken.setdefault(id(call.receiver.call), []).append(call)
    done: set[int] = set()
    for calls in taken.values():
        if {call.method for call in calls} != {"take", "skip"}:
            continue
        for step in calls_behind(calls[0].receiver) if calls[0].receiver is not None else ():
            if step.method == "shuffle" and step.receiver is not None and id(step.node) not in done:
                again = step.argument("reshuffle_each_iteration", 2)
                if again is not None and not is_const(again, True):
                    break
                done.add(id(step.node))
                yield facts.finding(
                    step,
                    Fault.VALIDATION,
                    Severity.MEDIUM,
                    0.88,
                    f"The dataset is shuffled anew each time it is read, so take and skip (line {facts.source.where(calls[0].line).rpartition(':')[2]}) give other rows each epoch: the validation rows are trained on.",
                    "Say reshuffle_each_iteration=False.",
                    [facts.spans.add_argument(step.call_node, "reshuffle_each_iteration=False")]
                    if again is None
                    else [],
                )
                break
            if step.method in ("cache",):
                break
            whole = meaning(step.name) in _OF_FOLDERS and step.argument("subset") is None and not step.spread
            if whole and step.argument("shuffle") is None and id(step.node) not in done:
                done.add(id(step.node))
                yield facts.finding(
                    calls[0],
                    Fault.VALIDATION,
                    Severity.MEDIUM,
                    0.8,
                    f"The folder's files (line {facts.source.where(step.line).rpartition(':')[2]}) are shuffled anew each time they are read, so take and skip give other rows each epoch.",
                    "Read both parts with validation_split, subset and one seed, or say shuffle=False.",
                )


def _subsets(facts: Facts) -> Iterator[Finding]:
    """The two subsets of one folder, drawn with other seeds, or with none."""
    halves = [
        call
        for call in facts.calls
        if meaning(call.name).endswith("_dataset_from_directory")
        and text(call.argument("subset")) in ("training", "validation")
    ]
    done: set[int] = set()
    for call in halves:
        if id(call.node) in done or call.spread:
            continue
        done.add(id(call.node))
        seed = call.argument("seed")
        if seed is None and not is_const(call.argument("shuffle"), False):
            yield facts.finding(
                call,
                Fault.VALIDATION,
                Severity.HIGH,
                0.95,
                "A subset of shuffled files needs a seed, the same for both subsets: without it Keras raises ValueError.",
                "Give both seed=1.",
                [facts.spans.add_argument(call.call_node, "seed=1")],
            )
    seeds = {value for call in halves if (value := number(call.argument("seed"))) is not None}
    if len(halves) == 2 and len(seeds) == 2:
        yield facts.finding(
            halves[1],
            Fault.VALIDATION,
            Severity.HIGH,
            0.93,
            "The two subsets are drawn with different seeds: they overlap, and validation files are trained on.",
            "Give both the same seed.",
        )


RULE = Rule(_run, same_as=frozenset({"validation-better"}))
