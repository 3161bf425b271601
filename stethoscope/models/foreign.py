"""What a file is when it is none of our formats: one sentence that is true of it, and what to do.

Protocol buffers that are not models of ours, told apart by the fields they have.
"""

from __future__ import annotations

import re
import struct
from itertools import islice

from stethoscope.models.containers import wire
from stethoscope.models.foreign_archive import ACCEPTED, COMPRESSED, by_magic, in_compressed, in_zip
from stethoscope.models.foreign_folder import in_folder
from stethoscope.models.hugging_face import AS_ONNX, AS_SAVED_MODEL
from stethoscope.types import ModelFile

_HEAD_BYTES = 4096
_TAIL_BYTES = 8
_CHECKPOINT_INDEX = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
"""The last bytes of a LevelDB table, which a TensorFlow checkpoint's index is."""
_SAVED_MODEL_PARTS = ("keras_metadata.pb", "fingerprint.pb", "saved_model_config.pb", "variables.index")
_CLAIMS = {
    ".tflite": "a TFLite file",
    ".lite": "a TFLite file",
    ".onnx": "an ONNX model",
    ".keras": "a Keras archive (a ZIP)",
    ".h5": "an HDF5 file",
    ".hdf5": "an HDF5 file",
    ".pb": "a TensorFlow graph or SavedModel",
    ".pbtxt": "a TensorFlow graph as text",
    ".zip": "a ZIP archive",
    ".npz": "a NumPy archive",
}


def what_is_it(file: ModelFile) -> str:
    """Returns a sentence without the file's name, for example "is an HTML page, not a model. …". Never raises."""
    try:
        if file.path.is_dir():
            return in_folder(file.path)
        size = file.path.stat().st_size
        if size == 0:
            return "is empty (0 bytes). Save the model again or repeat the upload."
        with file.path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
            stream.seek(max(0, size - _TAIL_BYTES))
            tail = stream.read(_TAIL_BYTES)
        return f"is {_named(file, head, tail, size)}"
    except OSError as error:
        return f"cannot be read ({error.strerror or 'input/output error'}). Repeat the upload."


def _named(file: ModelFile, head: bytes, tail: bytes, size: int) -> str:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return in_zip(file.path)
    if head.startswith(COMPRESSED):
        return in_compressed(file.path, head)
    if head[257:262] == b"ustar":
        return "an archive without a model in it, or an incomplete one. Pack a SavedModel folder, or upload the model file itself."
    found = by_magic(head) or _binary(file, head, tail, size) or _text(file, head)
    if found is not None:
        return found
    if not head.strip(b"\0"):
        return f"{size:,} bytes that start with zeros: the copy or upload that made it did not finish. Upload it again."
    return in_protobuf(file) or _unknown(file)


def _binary(file: ModelFile, head: bytes, tail: bytes, size: int) -> str | None:
    if tail == _CHECKPOINT_INDEX:
        return "the index of a TensorFlow checkpoint: it lists weights and has no architecture. Upload a SavedModel or a .keras file."
    if re.search(r"\.data-\d{5}-of-\d{5}$", file.name):
        return "by its name the data part of a TensorFlow checkpoint: weights without an architecture. Upload a SavedModel or a .keras file."
    if b"brain.Event:" in head[:64]:
        return "a TensorBoard event file: training curves, not a model. Upload the model file itself."
    if len(head) >= 12 and _masked_crc32c(head[:8]) == int.from_bytes(head[8:12], "little"):
        return "a TFRecord file: data, not a model. Give it as sample data (the Data page, or --data)."
    if file.name in _SAVED_MODEL_PARTS:
        return f"by its name one part of a SavedModel ({file.name}). Pack the whole folder as .zip and upload that."
    if _is_safetensors(head, size):
        made_by = re.search(rb'"format":\s*"(tf|pt)"', head)
        whole = {b"tf": AS_SAVED_MODEL, b"pt": AS_ONNX}.get(made_by.group(1) if made_by else b"")
        return "a safetensors file: weights without an architecture. " + (
            whole or "Load them into a model and save that whole."
        )
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05" and len(head) > 2:
        owner = next((name for token, name in _PICKLED if token in head), "a Python object")
        return f"a pickle of {owner}, which runs code when opened and is never opened here. Save the model as .keras, SavedModel or ONNX."
    if file.suffix == ".weights" and len(head) >= 20 and struct.unpack_from("<ii", head)[0] == 0 and head[4] in (1, 2):
        return (
            "by its name and first bytes Darknet weights, which TensorFlow does not run. Convert them to a Keras model."
        )
    return None


_PICKLED = (
    (b"torch", "PyTorch tensors"),
    (b"sklearn", "a scikit-learn model"),
    (b"xgboost", "an XGBoost model"),
    (b"lightgbm", "a LightGBM model"),
    (b"keras", "a Keras object"),
    (b"numpy", "NumPy arrays"),
    (b"pandas", "a pandas table"),
)


def _masked_crc32c(data: bytes) -> int:
    """The checksum of a TFRecord's length. Source: tensorflow/core/lib/hash/crc32c.h, record_writer.cc."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _is_safetensors(head: bytes, size: int) -> bool:
    if len(head) < 10:
        return False
    length: int = struct.unpack_from("<Q", head)[0]
    return (
        2 <= length <= size - 8
        and length < 100 << 20
        and head[8:9] == b"{"
        and (b'"dtype"' in head or b"__metadata__" in head)
    )


def _text(file: ModelFile, head: bytes) -> str | None:
    text = _decoded(head)
    if text is None:
        return None
    start = text.lstrip("\ufeff \t\r\n")
    lower = start[:2000].lower()
    for marks, sentence in _TEXTS:
        if any(mark in lower for mark in marks if not mark.startswith("^")) or any(
            lower.startswith(mark[1:]) for mark in marks if mark[0] == "^"
        ):
            return sentence
    if start[:1] in ("{", "["):
        return _json(start)
    if re.match(r"<[A-Za-z][\w.:-]*[\s/>]", start):
        return "an XML document, not a model. Upload the model file itself."
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    columns = {len(re.split(r"[,;\t]", line)) for line in lines[:-1]}
    if len(lines) > 2 and len(columns) == 1 and min(columns) > 1:
        return "a table of values (CSV): data, not a model. Give it as sample data (the Data page, or --data)."
    claim = _CLAIMS.get(file.suffix)
    return f"plain text, not {claim or 'a model'}. Upload {ACCEPTED}."


_TEXTS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("^<!doctype html", "^<html", "<head>"),
        "an HTML page, not a model: the link led to a web page. Download the model file itself.",
    ),
    (
        ("^<?xml version", "^<error>", "^<net "),
        "an XML document, not a model (an OpenVINO network is not read here). Upload the model file itself.",
    ),
    (
        ("[convolutional]", "^[net]"),
        "a Darknet configuration: an architecture without weights. Convert it to a Keras model.",
    ),
    (
        ("model_checkpoint_path:",),
        "the list of a folder's TensorFlow checkpoints, with no model in it. Upload a SavedModel or a .keras file.",
    ),
    (
        ("bottom:", "top:"),
        "a Caffe network as text, which TensorFlow does not run. Convert it to ONNX and upload that.",
    ),
    (
        ('^syntax = "proto', "^import ", "^from ", "^def ", '^"""'),
        "source code, not a model. `stethoscope check` and the Script page read a training script; the model it saves is looked at here.",
    ),
    (
        ("saved_model_schema_version", "^node {", "^node{"),
        "a TensorFlow graph as text that could not be read as one. Save it as binary .pb and upload that.",
    ),
)
"""(marks in the first 2,000 characters, lower case, "^" for the very start; sentence)."""


def _json(text: str) -> str:
    if '"modelTopology"' in text or '"weightsManifest"' in text:
        return "the JSON part of a TensorFlow.js model. Upload the Keras model or SavedModel it was converted from."
    if '"class_name"' in text and '"config"' in text:
        return "a Keras architecture as JSON (model.to_json()), without weights. Save the whole model as .keras and upload that."
    if '"model_type"' in text or '"architectures"' in text:
        return "the configuration of a Hugging Face model, without weights. Upload the model exported to SavedModel or ONNX."
    if '"nbformat"' in text or '"cell_type"' in text:
        return "a Jupyter notebook, not a model. `stethoscope check` and the Script page read it; the model it saves is looked at here."
    return "a JSON document, not a model. Upload the model file itself."


def _decoded(head: bytes) -> str | None:
    """The first bytes as text, or None when they are not text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = head[: len(head) // 2 * 2].decode("utf-16", "replace")
        return text if "\ufffd" not in text[:-1] else None
    try:
        # The cut may split a character of up to four bytes.
        text = head.decode("utf-8") if len(head) < _HEAD_BYTES else head[:-4].decode("utf-8", "ignore")
    except UnicodeDecodeError:
        return None
    if len(head) == _HEAD_BYTES and len(text.encode()) < len(head) - 8:
        return None
    odd = sum(character < " " and character not in "\t\r\n\f\x1b" for character in text)
    return text if text.strip() and odd == 0 else None


def _unknown(file: ModelFile) -> str:
    claim = _CLAIMS.get(file.suffix)
    if claim is None:
        return f"binary data of a kind not known here. Upload {ACCEPTED}."
    return f"not {claim}: the name ends in {file.suffix}, but the content is something else. Check the export, or upload it again."


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
