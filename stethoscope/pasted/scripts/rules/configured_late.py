"""Devices or threads configured after TensorFlow has begun to work.

Why: the first operation fixes the devices. Memory growth, memory limits, logical devices, threads and determinism set after it raise
RuntimeError; variables of the environment that are read at import are not read again.
Example: `x = tf.zeros(3)` and then `tf.config.experimental.set_memory_growth(gpu, True)`; `os.environ["KERAS_BACKEND"] = …` below `import keras`.
Fix: move the line up, right below the imports (for the environment: above them).
Source: tensorflow.org/guide/gpu ("must be set before GPUs have been initialized"); raised by TensorFlow 2.21;
github.com/tensorflow/tensorflow/issues/25138.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.symbolic import is_symbolic
from stethoscope.pasted.scripts.values import Call, Made, Ref, Step, text

_LATE = frozenset(
    {
        "tensorflow.config.experimental.set_memory_growth",
        "tensorflow.config.set_logical_device_configuration",
        "tensorflow.config.experimental.set_virtual_device_configuration",
        "tensorflow.config.set_visible_devices",
        "tensorflow.config.experimental.set_visible_devices",
        "tensorflow.config.threading.set_intra_op_parallelism_threads",
        "tensorflow.config.threading.set_inter_op_parallelism_threads",
    }
)
_BEGINS = (
    "tensorflow.constant",
    "tensorflow.Variable",
    "tensorflow.zeros",
    "tensorflow.ones",
    "tensorflow.matmul",
    "tensorflow.add",
    "tensorflow.convert_to_tensor",
    "tensorflow.cast",
    "tensorflow.range",
    "tensorflow.reduce_mean",
    "tensorflow.reduce_sum",
    "tensorflow.random.normal",
    "tensorflow.random.uniform",
    "tensorflow.one_hot",
    "tensorflow.reshape",
    "tensorflow.fill",
    "tensorflow.eye",
    "tensorflow.concat",
    "tensorflow.stack",
    "tensorflow.expand_dims",
    "tensorflow.test.is_gpu_available",
    "tensorflow.config.list_logical_devices",
    "tensorflow.config.experimental.list_logical_devices",
    "tensorflow.distribute.MirroredStrategy",
    "tensorflow.data.Dataset.from_tensor_slices",
    "tensorflow.data.Dataset.range",
    "keras.utils.image_dataset_from_directory",
    "keras.preprocessing.image_dataset_from_directory",
)
_MODEL_METHODS = frozenset({"fit", "predict", "evaluate", "train_on_batch", "predict_on_batch", "build"})
_READ_AT_IMPORT = {
    "TF_CPP_MIN_LOG_LEVEL": Severity.LOW,
    "KERAS_BACKEND": Severity.HIGH,
    "TF_USE_LEGACY_KERAS": Severity.HIGH,
    "TF_ENABLE_ONEDNN_OPTS": Severity.LOW,
    "KERAS_HOME": Severity.LOW,
}
_READ_AT_FIRST_USE = frozenset(
    {
        "CUDA_VISIBLE_DEVICES",
        "TF_FORCE_GPU_ALLOW_GROWTH",
        "XLA_FLAGS",
        "TF_XLA_FLAGS",
        "TF_GPU_ALLOCATOR",
        "TF_DETERMINISTIC_OPS",
        "TF_GPU_THREAD_MODE",
        "TF_CUDNN_DETERMINISTIC",
    }
)


def _run(facts: Facts) -> Iterator[Finding]:
    first = next(
        (call for call in facts.calls if call.reached and not call.maybe and not call.guarded and _begins(facts, call)),
        None,
    )
    if first is not None:
        begun = f"{facts.source.where(first.line)} ({facts.source.code_at(first.line)[:60]})"
        for call in facts.calls:
            if meaning(call.name) in _LATE and call.reached and call.order > first.order:
                yield facts.finding(
                    call,
                    Fault.MEMORY,
                    Severity.MEDIUM if _caught(facts, call) else Severity.HIGH,
                    0.92,
                    f"{call.name.rpartition('.')[2]} comes after the first operation, {begun}: TensorFlow has set up its devices by then, and the call raises RuntimeError.",
                    "Move it to the top, right below the imports.",
                    _moved_up(facts, call, first),
                )
    for assigned, key in facts.stored:
        name = text(key)
        if name is None or not _is_environ(assigned.target) or not assigned.reached:
            continue
        imported = next(
            (
                use
                for use in facts.uses
                if use.imported and use.order < assigned.order and use.name.split(".")[0] in _packages(name)
            ),
            None,
        )
        if name in _READ_AT_IMPORT and imported is not None:
            yield facts.finding(
                assigned,
                Fault.DEPLOYMENT,
                _severity(facts, name),
                0.9,
                f"{name} is read when {imported.name.split('.')[0]} is imported, which {facts.source.where(imported.line)} did: here it changes nothing.",
                "Set it above that import.",
                _above(facts, assigned, imported),
            )
        elif name in _READ_AT_FIRST_USE and first is not None and assigned.order > first.order:
            yield facts.finding(
                assigned,
                Fault.DEPLOYMENT,
                Severity.MEDIUM,
                0.85,
                f"{name} is read when TensorFlow sets up its devices, which {facts.source.where(first.line)} did: here it changes nothing.",
                "Set it above the imports.",
                _above(facts, assigned, next((use for use in facts.uses if use.imported), None)),
            )


def _caught(facts: Facts, call: Call) -> bool:
    """Whether the script catches the RuntimeError, mostly to print it: then it goes on without the setting."""
    for node in ast.walk(facts.parsed.tree):
        if isinstance(node, ast.Try) and node.body[0].lineno <= call.line <= (node.body[-1].end_lineno or call.line):
            return bool(node.handlers)
    return False


def _severity(facts: Facts, name: str) -> Severity:
    """The kernel of a notebook is often begun anew between its parts: there it says little."""
    return Severity.LOW if facts.source.notebook else _READ_AT_IMPORT[name]


def _packages(name: str) -> tuple[str, ...]:
    return (
        ("keras", "tensorflow") if name in ("KERAS_BACKEND", "TF_USE_LEGACY_KERAS", "KERAS_HOME") else ("tensorflow",)
    )


def _begins(facts: Facts, call: Call) -> bool:
    """Whether a call makes tensors or variables: the devices are set up for the first of them."""
    name = meaning(call.name)
    if name in _BEGINS or (name.startswith("keras.applications.") and name.rpartition(".")[2][:1].isupper()):
        return True
    if isinstance(call.function, Made) and call.args and is_symbolic(call.args[0]):
        return True
    return call.method in _MODEL_METHODS and facts.model_of(call.receiver) is not None


def _is_environ(value: object) -> bool:
    if isinstance(value, Ref):
        return value.name in ("os.environ", "environ")
    return isinstance(value, Made) and value.call.name.endswith("environ")


def _statement(facts: Facts, at: Step) -> ast.stmt | None:
    return next(
        (one for one in facts.parsed.tree.body if one.lineno <= at.line <= (one.end_lineno or one.lineno)), None
    )


def _moved_up(facts: Facts, call: Call, first: Call) -> list[Edit]:
    own, before = _statement(facts, call), _statement(facts, first)
    if (
        own is None
        or before is None
        or not isinstance(own, ast.Expr)
        or facts.source.place(own.lineno)[0] != facts.source.place(before.lineno)[0]
    ):
        return []
    known = {name.id for name in ast.walk(own) if isinstance(name, ast.Name)}
    between = [one for one in facts.parsed.tree.body if before.lineno <= one.lineno < own.lineno]
    if any(
        isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and name.id in known
        for one in between
        for name in ast.walk(one)
    ):
        return []
    return [
        facts.spans.without_rows(own.lineno, own.end_lineno or own.lineno),
        facts.spans.above(before.lineno, facts.spans.text(own)),
    ]


def _above(facts: Facts, at: Step, imported: Step | None) -> list[Edit]:
    own = _statement(facts, at)
    if own is None or imported is None or not isinstance(own, ast.Assign):
        return []
    target = _statement(facts, imported)
    os_import = next((use for use in facts.uses if use.imported and use.name == "os"), None)
    if target is None or os_import is None or facts.source.place(own.lineno)[0] != facts.source.place(target.lineno)[0]:
        return []
    edits = [facts.spans.without_rows(own.lineno, own.end_lineno or own.lineno)]
    text_of = facts.spans.text(own)
    if os_import.line > target.lineno:
        text_of = f"import os\n{text_of}"
    return [*edits, facts.spans.above(target.lineno, text_of)]


RULE = Rule(_run)
