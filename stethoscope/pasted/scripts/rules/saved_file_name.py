"""A file name that Keras 3 does not save to.

Why: Keras 3 tells the format by the suffix, and takes only `.keras` and `.h5` for models, `.weights.h5` for weights, and `.keras` (or
`.weights.h5`) for what `ModelCheckpoint` writes. Anything else raises ValueError, often after the training, which is lost.
Example: `model.save("my_model")`, `ModelCheckpoint("best.hdf5")`, `model.save_weights("w.h5")`, `model.save(path, save_format="tf")`.
Fix: the suffix that belongs there; a SavedModel is written by `model.export(folder)`.
Source: keras.io/guides/migrating_to_keras_3 (saving); raised by Keras 3.15.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, is_const, text


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy or not facts.uses_keras:
        return
    done: set[int] = set()
    yield from _folders(facts)
    for call in facts.calls:
        if call.guarded or id(call.node) in done:
            continue
        done.add(id(call.node))
        wanted = _wanted(facts, call)
        if wanted is None:
            continue
        place = "filepath", 0
        name = text(call.argument(*place))
        ends, new = wanted
        tf_format = text(call.argument("save_format")) == "tf"
        if name is None or (name.endswith(ends) and not tf_format):
            continue
        what = call.method or meaning(call.name).rpartition(".")[2]
        node = (
            call.call_node.args[0]
            if call.call_node.args
            else next(k.value for k in call.call_node.keywords if k.arg == "filepath")
        )
        better = f"{_stem(name)}{new}"
        literal = isinstance(node, ast.Constant) and not tf_format
        if tf_format and what == "save":
            message, summary = (
                f'save of Keras 3 writes no SavedModel: save_format="tf" raises ValueError. export("{name}") writes one.',
                "Call export.",
            )
            edits = (
                [
                    facts.spans.replace(
                        call.call_node,
                        f"{facts.spans.text(call.call_node.func.value)}.export({facts.spans.text(node)})",
                    )
                ]
                if isinstance(call.call_node.func, ast.Attribute)
                else []
            )
        else:
            message = f"{what} of Keras 3 writes {' or '.join(ends)} only: {name!r} raises ValueError."
            summary = f"Save to {better!r}."
            edits = (
                [facts.spans.replace(node, repr(better) if "'" in facts.spans.text(node)[:2] else f'"{better}"')]
                if literal
                else []
            )
        yield facts.finding(call, Fault.DEPLOYMENT, Severity.HIGH, 0.95, message, summary, edits)


def _stem(name: str) -> str:
    return re.sub(r"(?:\.weights)?\.(?:hdf5|h5|ckpt|model|tf|hdf|pb|keras)$", "", name.rstrip("/"))


def _folders(facts: Facts) -> Iterator[Finding]:
    """A folder read as a model: where the script itself writes it, the line that writes is the one to change."""
    written = {text(call.argument("filepath", 0)) for call in facts.methods("save", "export")}
    done: set[int] = set()
    for call in facts.calls:
        own = meaning(call.name) in ("keras.models.load_model", "keras.saving.load_model")
        path = text(call.argument("filepath", 0)) if own and not call.name.startswith("tf_keras") else None
        if not path or path in written or call.guarded or id(call.node) in done or "://" in path:
            continue
        done.add(id(call.node))
        if "." not in path.rpartition("/")[2]:
            yield facts.finding(
                call,
                Fault.DEPLOYMENT,
                Severity.HIGH,
                0.9,
                f"{path[:60]} is a folder, as TensorFlow saves it, and Keras 3 reads .keras and .h5 files only: ValueError.",
                "Read it with keras.layers.TFSMLayer, or save the model as .keras.",
            )


def _wanted(facts: Facts, call: Call) -> tuple[tuple[str, ...], str] | None:
    """The suffixes a call takes, and the one to write."""
    if meaning(call.name) == "keras.callbacks.ModelCheckpoint" and not call.name.startswith("tf_keras"):
        only = call.argument("save_weights_only", 3)
        if is_const(only, True):
            return (".weights.h5",), ".weights.h5"
        return ((".keras", ".h5"), ".keras") if only is None or is_const(only, False) else None
    if facts.model_of(call.receiver) is None:
        return None
    if call.method == "save":
        return (".keras", ".h5", ".hdf5"), ".keras"
    return ((".weights.h5",), ".weights.h5") if call.method == "save_weights" else None


RULE = Rule(_run)
