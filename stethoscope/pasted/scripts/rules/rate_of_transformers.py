"""A pretrained transformer is trained at a rate that destroys it.

Why: the weights of a pretrained transformer are changed by small steps, 2e-5 to 5e-5. At 1e-3, which is what Adam takes when nothing is
said, it forgets what it knew and often ends at the share of the largest class.
Example: `TFBertForSequenceClassification.from_pretrained(name)` and `model.compile(optimizer=Adam(1e-2))`.
Fix: `Adam(learning_rate=3e-5)`.
Source: Devlin et al., "BERT" (2019), A.3: 5e-5, 3e-5, 2e-5; Mosbach et al., "On the stability of fine-tuning BERT" (2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Value, ancestors, number, text

_FAR_TOO_HIGH = 1e-3
_USUAL = 3e-5
_ADAM = frozenset({"Adam", "AdamW", "Nadam", "RMSprop"})


def _run(facts: Facts) -> Iterator[Finding]:
    if ".trainable" in facts.source.text:
        return  # parts of it may be kept as they are
    done: set[int] = set()
    for call in facts.methods("compile"):
        if id(call.node) in done or not _holds_transformer(facts, call.receiver):
            continue
        given = call.argument("optimizer", 0)
        made = given.call if isinstance(given, Made) else None
        name = meaning(made.name).rpartition(".")[2] if made is not None else (text(given) or "").capitalize()
        rate = _rate(made) if made is not None else _FAR_TOO_HIGH
        if name not in _ADAM or rate is None or rate < _FAR_TOO_HIGH:
            continue
        done.add(id(call.node))
        node = (
            None if made is None else next((one for one in made.call_node.keywords if one.arg == "learning_rate"), None)
        )
        place = made.call_node.args[0] if made is not None and made.call_node.args else None
        target = node.value if node is not None else place
        yield facts.finding(
            made or call,
            Fault.LEARNING_RATE,
            Severity.HIGH if rate > _FAR_TOO_HIGH else Severity.MEDIUM,
            0.88,
            f"A pretrained transformer is trained at a rate of {rate:g}, {rate / _USUAL:.0f} times the usual {_USUAL:g}: it forgets what it knew.",
            "Take 2e-5 to 5e-5.",
            [] if target is None else [facts.spans.replace(target, "3e-5")],
        )


def _rate(optimizer: Call) -> float | None:
    given = optimizer.argument("learning_rate", 0)
    return _FAR_TOO_HIGH if given is None and "lr" not in optimizer.keywords and not optimizer.spread else number(given)


def _holds_transformer(facts: Facts, value: Value | None) -> bool:
    model = facts.model_of(value)
    reads = [value] if model is None else [*model.outputs]
    return any(
        isinstance(one, Made)
        and one.call.name.startswith("transformers.TF")
        and one.call.name.endswith(".from_pretrained")
        for start in reads
        if start is not None
        for one in ancestors(start)
    )


RULE = Rule(_run)
