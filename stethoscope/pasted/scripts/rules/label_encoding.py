"""Labels that the loss does not read.

Why: `categorical_crossentropy` compares rows of one-hot labels, `sparse_categorical_crossentropy` reads class numbers. The other kind
fails with a message about shapes, or, where the shapes happen to fit, is learned as nonsense.
Example: `y_train = to_categorical(y_train)` and `loss="sparse_categorical_crossentropy"`; MNIST's labels as they come and
`loss="categorical_crossentropy"`; `image_dataset_from_directory(folder)` (class numbers) and `categorical_crossentropy`.
Fix: the loss that reads these labels.
Source: stackoverflow.com/questions/58565394; stackoverflow.com/questions/49161174; raised by Keras 3.15; Humbatova et al. (ICSE 2020):
wrong loss function, wrong shape of labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.losses import BINARY_LOSSES, SPARSE_LOSSES, loss_class
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import Labels, fed, of_pipeline
from stethoscope.pasted.scripts.models_built import Loss, Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Items, Ref, text

_ONE_HOT = frozenset({"categorical_crossentropy", "categorical_focal_crossentropy"})


def _wrong_kind(loss: Loss) -> str:
    return "integer" if loss.name in _ONE_HOT else "one_hot" if loss.name in SPARSE_LOSSES else ""


def _trained_rightly(model: Model, loss: Loss) -> bool:
    """Whether the training has labels of the kind that the loss reads: then its line is right."""
    kinds = {labels.kind for call in model.calls("fit", "fit_generator") if (labels := fed(call).labels) is not None}
    return bool(kinds) and _wrong_kind(loss) not in kinds


def _scored_otherwise(facts: Facts, call: Call, labels: Labels) -> Finding:
    what, other = ("class numbers", "one-hot rows") if labels.kind == "integer" else ("one-hot rows", "class numbers")
    return facts.finding(
        call,
        Fault.LABELS,
        Severity.HIGH,
        0.9,
        f"The labels here are {what} ({labels.why}), and the training has {other}: the loss cannot be computed on them.",
        "Bring the labels of both into one form.",
    )


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[tuple[int, str]] = set()
    for model in facts.models:
        compiled: Call | None = None
        for call in model.used:
            if call.method == "compile":
                compiled = call
            if compiled is None or call.method not in ("fit", "evaluate", "fit_generator"):
                continue
            loss = model.loss(compiled)
            head = model.head
            labels = fed(call).labels
            if labels is None:
                labels = _validation(call)
            if loss is None or labels is None or (id(compiled.node), labels.kind) in done:
                continue
            if call.method == "evaluate" and labels.kind == _wrong_kind(loss) and _trained_rightly(model, loss):
                yield _scored_otherwise(facts, call, labels)
                continue
            done.add((id(compiled.node), labels.kind))
            if loss.name in _ONE_HOT and labels.kind == "integer" and not (head is not None and head.units == 1):
                yield _finding(
                    facts,
                    compiled,
                    loss,
                    labels,
                    "sparse_" + loss.name if loss.name == "categorical_crossentropy" else "",
                )
            elif loss.name in SPARSE_LOSSES and labels.kind == "one_hot":
                yield _finding(facts, compiled, loss, labels, "categorical_crossentropy")
            elif (
                head is not None
                and head.units == 1
                and head.dense
                and loss.name in BINARY_LOSSES
                and labels.kind == "one_hot"
                and (labels.classes or 2) > 1
            ):
                yield facts.finding(
                    compiled,
                    Fault.LABELS,
                    Severity.HIGH,
                    0.88,
                    f"The labels are one-hot rows ({labels.why}), a column for each class, and the last layer has one unit: the shapes do not go together.",
                    'Give the labels as 0 and 1 (class_mode="binary"), or the layer a unit for each class.',
                )
            elif head is not None and head.units is not None and labels.classes and head.dense:
                yield from _units(facts, head.units, labels, head.layer, loss)


def _validation(call: Call) -> Labels | None:
    value = call.argument("validation_data")
    if isinstance(value, Items) and len(value.items) >= 2:
        return None
    return None if value is None else of_pipeline(value).labels


def _finding(facts: Facts, compiled: Call, loss: Loss, labels: Labels, new: str) -> Finding:
    reads, get = ("one-hot rows", "class numbers") if labels.kind == "integer" else ("class numbers", "one-hot rows")
    edits: list[Edit] = []
    node = next((one.value for one in compiled.call_node.keywords if one.arg == "loss"), None)
    if node is None and len(compiled.call_node.args) > 1:
        node = compiled.call_node.args[1]
    if new and node is not None:
        if text(loss.value) is not None:
            edits = [facts.spans.replace(node, f'"{new}"')]
        elif loss.call is not None:
            edits = [facts.spans.rename_last(loss.call.call_node.func, loss_class(new))]
        elif isinstance(loss.value, Ref):
            edits = [facts.spans.rename_last(node, new)]
    return facts.finding(
        compiled,
        Fault.LABELS,
        Severity.CRITICAL,
        0.93,
        f"{loss.name} reads {reads}, but the labels are {get} ({labels.why}).",
        f"Use {new}." if new else "Use the loss that reads these labels.",
        edits,
    )


def _units(facts: Facts, units: int, labels: Labels, layer: Call, loss: Loss) -> Iterator[Finding]:
    classes = labels.classes or 0
    if labels.kind == "one_hot" and loss.name in _ONE_HOT and units != classes:
        trouble = "so the loss cannot be computed"
    elif labels.kind == "integer" and loss.name in SPARSE_LOSSES and units < classes:
        trouble = "so the labels of the others lie outside, which fails or gives NaN"
    else:
        return
    keyword = next((one.value for one in layer.call_node.keywords if one.arg in ("units", "output_dim")), None)
    node = keyword if keyword is not None else layer.call_node.args[0] if layer.call_node.args else None
    yield facts.finding(
        layer,
        Fault.ARCHITECTURE,
        Severity.CRITICAL,
        0.93,
        f"The last layer has {units} units, but the labels have {classes} classes ({labels.why}), {trouble}.",
        f"Give it {classes} units.",
        [] if node is None else [facts.spans.replace(node, str(classes))],
    )


RULE = Rule(_run, same_as=frozenset({"label-encoding", "label-range", "label-shape", "output-units", "loss-for-task"}))
