"""Masks of segmentation read as if they were pictures.

Why: a mask holds classes. Resized bilinearly it gets numbers between them along every edge; from 0 to 255 beside a sigmoid, the loss has
targets that no output can reach.
Example: `mask = tf.image.resize(mask, (256, 256))`; `mask = tf.image.decode_png(data, channels=1)` returned as it is.
Fix: `method="nearest"` (`interpolation=cv2.INTER_NEAREST`); divide by 255, or compare with 0.
Source: tensorflow.org/tutorials/images/segmentation (nearest neighbour for masks); stackoverflow.com/questions/53550205.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.architecture.activations import SIGMOID
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import activation_of, layer_name
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import number

_MASK = re.compile(r"^(?:\w*_)?(?:mask|masks|msk|mk|seg|segmentation|gt_mask|annotation)(?:_\w*)?$", re.IGNORECASE)
_RESIZES = ("tf.image.resize", "tensorflow.image.resize", "tf.image.resize_images", "cv2.resize")
_READS = re.compile(r"\.(?:decode_\w+|imread|load_img|img_to_array|imdecode)\(|Image\.open\(")
_CHANGES = re.compile(
    r"/|>|<|==|!=|\b(?:clip|minimum|round|where|one_hot|argmax|convert_image_dtype|not_equal|equal|greater|normalize|binary|bool|threshold|to_categorical|rescale|-=|- 1)\b"
)


def _run(facts: Facts) -> Iterator[Finding]:
    yield from _resized(facts)
    if _binary(facts):
        for function in facts.nodes(ast.FunctionDef):
            yield from _unscaled(facts, function)


def _resized(facts: Facts) -> Iterator[Finding]:
    for call in facts.nodes(ast.Call):
        name = ast.unparse(call.func)
        first = call.args[0] if call.args else None
        if name not in _RESIZES or not isinstance(first, ast.Name) or not _MASK.match(first.id):
            continue
        place = 2 if name != "cv2.resize" else 5
        if any(one.arg in ("method", "interpolation") for one in call.keywords) or len(call.args) > place:
            continue
        if _made_whole(facts, first.id):
            continue
        words = "interpolation=cv2.INTER_NEAREST" if name == "cv2.resize" else 'method="nearest"'
        yield facts.finding(
            call.lineno,
            Fault.LABELS,
            Severity.MEDIUM,
            0.88,
            "A mask is resized bilinearly: along each edge it gets numbers between its classes.",
            "Take the nearest pixel.",
            [facts.spans.add_argument(call, words)],
        )


def _made_whole(facts: Facts, name: str) -> bool:
    """Whether what has this name is made classes again: compared or rounded."""
    return (
        re.search(
            rf"\b{re.escape(name)}\b\)?\s*(?:>|<|==)|(?:round|greater|where|argmax|threshold)\w*\([^\n]*\b{re.escape(name)}\b",
            facts.source.text,
        )
        is not None
    )


def _binary(facts: Facts) -> bool:
    """Whether a model ends in one unit with a sigmoid for each pixel."""
    return any(
        layer_name(call).startswith("keras.layers.Conv2D")
        and number(call.argument("filters", 0)) == 1
        and activation_of(call.argument("activation")) == SIGMOID.name
        for call in facts.calls
    )


def _unscaled(facts: Facts, function: ast.FunctionDef) -> Iterator[Finding]:
    """A function that reads a mask and gives it on from 0 to 255."""
    rows = [node for node in ast.walk(function) if isinstance(node, ast.Assign | ast.AugAssign)]
    for name in sorted({_target(row) for row in rows if _MASK.match(_target(row))}):
        own = [row for row in rows if _target(row) == name]
        read = [row for row in own if _READS.search(ast.unparse(row))]
        rest = [ast.unparse(row.value) if isinstance(row, ast.Assign) else "/" for row in own]
        after = [
            ast.unparse(node)
            for node in ast.walk(function)
            if isinstance(node, ast.BinOp | ast.Compare) and re.search(rf"\b{re.escape(name)}\b", ast.unparse(node))
        ]
        ends = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
        given = [node for node in ends if name in {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}]
        if not read or after or not given or any(_CHANGES.search(re.sub(r"'[^']*'", "", one)) for one in rest):
            continue
        if _scaled_elsewhere(facts, name):
            continue
        end = given[-1]
        held = next((one for one in ast.walk(end) if isinstance(one, ast.Name) and one.id == name), None)
        yield facts.finding(
            end.lineno,
            Fault.LABELS,
            Severity.MEDIUM,
            0.8,
            f"{name} is read from 0 to 255 and given on as it is, beside a sigmoid, which says 0 to 1.",
            "Divide it by 255.",
            _divided(facts, held),
        )


def _divided(facts: Facts, held: ast.Name | None) -> list[Edit]:
    return [] if held is None else [facts.spans.replace(held, f"{held.id} / 255")]


def _scaled_elsewhere(facts: Facts, name: str) -> bool:
    stem = "mask" if "mask" in name.lower() else name
    return any(
        re.search(rf"\w*{re.escape(stem)}\w*[^\n,]*(?:/|>|==)|normalize\w*\([^\n]*{re.escape(stem)}", row) is not None
        for row in facts.source.text.split("\n")
        if '"' not in row and "'" not in row
    )


def _target(row: ast.Assign | ast.AugAssign) -> str:
    target = row.targets[0] if isinstance(row, ast.Assign) else row.target
    return target.id if isinstance(target, ast.Name) else ""


RULE = Rule(_run)
