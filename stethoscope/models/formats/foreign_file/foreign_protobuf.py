"""Protocol buffers that are not models of ours, told apart by the fields they have."""

from __future__ import annotations

from itertools import islice

from stethoscope.models.containers import wire
from stethoscope.types import ModelFile

_LOOKED_AT = 64


def in_protobuf(file: ModelFile) -> str | None:
    """Returns which known message it is, without "is"; None when it is none of them."""
    with wire.mapped(file) as view:
        try:
            parts = list(islice(wire.fields(view), _LOOKED_AT))
        except wire.Malformed:
            return None
        kinds = {part.number: part.kind for part in parts}
        if kinds.get(1) == wire.VARINT and kinds.get(2) == wire.BYTES and any(200 <= number < 4000 for number in kinds):
            return "a Core ML model, which runs only on Apple systems. Upload the model it was converted from."
        if kinds.get(1) == wire.BYTES and (kinds.get(100) == wire.BYTES or file.suffix == ".caffemodel"):
            return "a Caffe model, which TensorFlow does not run. Convert it to ONNX and upload that."
        if _is_metagraph(view, parts):
            return (
                "a TensorFlow 1 MetaGraph (.meta): a graph whose weights are in a checkpoint beside it. "
                "Restore it (tf.compat.v1.train.import_meta_graph) and export a SavedModel."
            )
    return None


def _is_metagraph(view: memoryview, parts: list[wire.Field]) -> bool:
    """meta_info_def = 1 {tags, TensorFlow version}, graph_def = 2 {node = 1 {name = 1, op = 2}}."""
    if any(part.number > 7 or part.kind != wire.BYTES for part in parts):
        return False
    for part in parts:
        if part.number == 2:
            try:
                first = next(wire.fields(view, part.start, part.end), None)
                node = (
                    {item.number for item in islice(wire.fields(view, first.start, first.end), 8)} if first else set()
                )
            except wire.Malformed:
                return False
            return first is not None and first.number == 1 and first.kind == wire.BYTES and {1, 2} <= node
    return False
