"""Reads the graph file of a SavedModel into messages, its weights left out, and chooses the part that serves."""

from __future__ import annotations

from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import limits, wire
from stethoscope.models.formats.tf_graph import tf_proto, tf_strip, tf_text
from stethoscope.models.formats.tf_graph.saved_model_files import Located
from stethoscope.types import ModelFile


def is_saved_model(file: ModelFile) -> bool:
    """Whether a single file is a saved_model.pb or .pbtxt: a schema version, then meta graphs. Never raises."""
    if not file.path.is_file() or file.path.stat().st_size == 0:
        return False
    if tf_text.first_field(file) in ("saved_model_schema_version", "meta_graphs"):
        return True
    try:
        with wire.mapped(file) as view:
            for count, field in enumerate(wire.fields(view)):
                if (field.number, field.kind) == (2, wire.BYTES):
                    return _is_meta_graph(view, field) and _only_meta_graphs_follow(view, field)
                if (field.number, field.kind) != (1, wire.VARINT) or field.value > 1000 or count > 1:
                    return False
    except (wire.Malformed, OSError):
        return False
    return False


def load(located: Located) -> Any:
    """The SavedModel message without long tensor contents.

    Raises:
        UnreadableFile: damaged, or no SavedModel.
        TooLarge: its graph is larger than `limits` allow.
    """
    from google.protobuf.message import DecodeError

    file, messages = located.file, tf_proto.messages()
    with located.view(located.graph) as view:
        if located.graph.endswith(".pbtxt") or tf_text.first_field_of(view) in (
            "saved_model_schema_version",
            "meta_graphs",
        ):
            parsed = tf_text.parse(file, view, messages.SavedModel())
        else:
            stripped = tf_strip.without_weights(file, view, tf_strip.SAVED_MODEL)
            try:
                parsed = messages.SavedModel.FromString(stripped)
            except DecodeError as error:
                raise UnreadableFile(
                    f"{file.name}: {located.graph} is damaged or cut short ({error}). Save it again or repeat the upload."
                ) from error
    if not parsed.meta_graphs:
        raise UnreadableFile(f"{file.name}: {located.graph} holds no graph. Save it again or repeat the upload.")
    nodes = sum(
        len(meta.graph_def.node) + sum(len(function.node_def) for function in meta.graph_def.library.function)
        for meta in parsed.meta_graphs
    )
    if nodes > limits.MAX_LAYERS:
        raise TooLarge(f"{file.name}: has {nodes:,} operators, expected at most {limits.MAX_LAYERS:,}.")
    return parsed


def serving(saved: Any) -> Any:
    """The meta graph to serve: the one tagged "serve" alone, else one that is among others, else the first."""
    tagged = [meta for meta in saved.meta_graphs if "serve" in meta.meta_info_def.tags]
    return min(tagged, key=lambda meta: len(meta.meta_info_def.tags)) if tagged else saved.meta_graphs[0]


def _only_meta_graphs_follow(view: memoryview, field: wire.Field) -> bool:
    """A Core ML model begins alike, and has its network in other fields. A file that is cut short still counts."""
    try:
        return all(later.number in (1, 2) for later in wire.fields(view, field.end, len(view)))
    except wire.Malformed:
        return True


def _is_meta_graph(view: memoryview, field: wire.Field) -> bool:
    for inner in wire.fields(view, field.start, field.end):
        return inner.number in range(1, 8) and inner.kind == wire.BYTES
    return False
