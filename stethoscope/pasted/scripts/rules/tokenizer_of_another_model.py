"""The tokens of one pretrained model are given to another.

Why: a tokenizer's numbers mean what the model's own table of words says. Those of another vocabulary are other words to it, or none.
Example: `AutoTokenizer.from_pretrained("roberta-base")` and `TFAutoModel.from_pretrained("bert-base-uncased")`.
Fix: take both from the same checkpoint.
Source: huggingface.co/docs/transformers/preprocessing ("make sure you use the associated pretrained tokenizer").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, text

_FAMILY = re.compile(r"(distil)?(xlm-roberta|roberta|deberta|albert|electra|bert|gpt2|gpt|t5|bart|xlnet|camembert)")
_CASE = re.compile(r"(?<![a-z])(un)?cased")


def _run(facts: Facts) -> Iterator[Finding]:
    loads = [
        call
        for call in facts.calls
        if call.name.startswith("transformers.") and call.name.endswith(".from_pretrained") and call.args
    ]
    tokenizers = {id(call.node): call for call in loads if "Tokenizer" in call.name}
    models = {id(call.node): call for call in loads if "Model" in call.name or "For" in call.name.split(".")[-2]}
    if len(tokenizers) != 1 or len(models) != 1:
        return
    tokenizer, model = next(iter(tokenizers.values())), next(iter(models.values()))
    own, other = _vocabulary(tokenizer), _vocabulary(model)
    if not own or not other or own == other:
        return
    yield facts.finding(
        max(tokenizer, model, key=lambda one: one.line),
        Fault.PREPROCESSING,
        Severity.HIGH,
        0.92,
        f"The tokenizer is that of {text(tokenizer.args[0])}, and the model is {text(model.args[0])}: its numbers mean other words there.",
        "Take both from the same checkpoint.",
        [facts.spans.replace(tokenizer.call_node.args[0], facts.spans.text(model.call_node.args[0]))],
    )


def _vocabulary(call: Call) -> tuple[str, str] | None:
    """The family and the case of a well-known checkpoint."""
    name = (text(call.args[0]) or "").lower()
    family, case = _FAMILY.search(name), _CASE.search(name)
    if family is None or "/" in name:
        return None  # a folder, or one of somebody's own
    return family.group(2), case.group(0) if case else ""


RULE = Rule(_run)
