"""Raw scores of a transformer are taken for probabilities.

Why: models of `transformers` give logits. A loss of Keras without `from_logits=True` clips them to 0 … 1, and little is learned.
Example: `model = TFAutoModelForSequenceClassification.from_pretrained(name)` and `model.compile(loss="sparse_categorical_crossentropy")`.
Fix: `SparseCategoricalCrossentropy(from_logits=True)`, or no loss at all: the model brings its own.
Source: huggingface.co/docs/transformers/training (Keras); huggingface.co/docs/transformers/main_classes/model (compile).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.losses import LOGITS_LOSSES, loss_class
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Loss, loss_of
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.spelling import spelled
from stethoscope.pasted.scripts.values import Call, Made, text


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("compile"):
        loss = loss_of(call.argument("loss", 1))
        if loss is None or loss.name not in LOGITS_LOSSES or loss.from_logits is not False or id(call.node) in done:
            continue
        if not isinstance(call.receiver, Made) or not _scores(call.receiver.call):
            continue
        done.add(id(call.node))
        at = loss.call or call
        yield facts.finding(
            at,
            Fault.LOSS,
            Severity.HIGH,
            0.93,
            f"The model of transformers gives raw scores, and {loss.name} reads them as probabilities.",
            "Tell the loss: from_logits=True.",
            _edits(facts, call, loss),
        )


def _scores(call: Call) -> bool:
    """Whether this loads a model that ends in scores of classes."""
    parts = call.name.split(".")
    return (
        parts[0] == "transformers"
        and parts[-1] == "from_pretrained"
        and parts[-2].startswith("TF")
        and "For" in parts[-2]
    )


def _edits(facts: Facts, compiled: Call, loss: Loss) -> list[Edit]:
    if loss.call is not None:
        return [facts.spans.add_argument(loss.call.call_node, "from_logits=True")]
    keyword = next((one for one in compiled.call_node.keywords if one.arg == "loss"), None)
    if keyword is None or text(loss.value) is None:
        return []
    name = spelled(facts, f"tensorflow.keras.losses.{loss_class(loss.name)}")
    return [facts.spans.replace(keyword.value, f"{name.text}(from_logits=True)"), *name.edits]


RULE = Rule(_run)
