"""TensorFlow's graph messages, trimmed, in a descriptor pool of their own.

TensorFlow registers its own classes for these messages when it is imported; building ours in a private pool under another
package name lets both live in one process, and lets a light worker read graphs without importing TensorFlow.

Source: tensorflow/core/framework/{graph,node_def,attr_value,tensor,function,op_def}.proto,
tensorflow/core/protobuf/{saved_model,meta_graph,saved_object_graph,saver,tensor_bundle}.proto (field numbers are stable).

Text form of TensorFlow's graph messages (.pbtxt): recognised by its first field, parsed within bounds.

Leaves the weights out of a TensorFlow graph, on the wire: dtype and shape stay, long tensor contents go.

A gigabyte of constants is walked in place (mapped, not read); only the graph's own bytes are copied. What is left is small
enough to parse, and is what Netron draws.
"""

from __future__ import annotations

import functools
import re
from types import SimpleNamespace
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage, wire
from stethoscope.types import ModelFile

_PACKAGE = "stethoscope_tf"

_MESSAGES = {
    "SavedModel": "1 int64 saved_model_schema_version; 2 *MetaGraphDef meta_graphs",
    "MetaGraphDef": "1 MetaInfoDef meta_info_def; 2 GraphDef graph_def; 3 SaverDef saver_def; 4 %CollectionDef collection_def;"
    "5 %SignatureDef signature_def; 6 *AssetFileDef asset_file_def; 7 SavedObjectGraph object_graph_def",
    "MetaInfoDef": "4 *string tags; 5 string tensorflow_version",
    "GraphDef": "1 *NodeDef node; 2 FunctionDefLibrary library; 4 VersionDef versions; 3 int32 version",
    "NodeDef": "1 string name; 2 string op; 3 *string input; 4 string device; 5 %AttrValue attr",
    "AttrValue": "1 |ListValue list; 2 |bytes s; 3 |int64 i; 4 |float f; 5 |bool b; 6 |DataType type; 7 |TensorShapeProto shape;"
    "8 |TensorProto tensor; 9 |string placeholder; 10 |NameAttrList func",
    "ListValue": "2 *bytes s; 3 *int64 i; 4 *float f; 5 *bool b; 6 *DataType type; 7 *TensorShapeProto shape; 8 *TensorProto tensor;"
    "9 *NameAttrList func",
    "NameAttrList": "1 string name; 2 %AttrValue attr",
    "TensorShapeProto": "2 *Dim dim; 3 bool unknown_rank",
    "Dim": "1 int64 size; 2 string name",
    "TensorProto": "1 DataType dtype; 2 TensorShapeProto tensor_shape; 3 int32 version_number; 4 bytes tensor_content;"
    "13 *int32 half_val; 5 *float float_val; 6 *double double_val; 7 *int32 int_val; 8 *bytes string_val; 9 *float scomplex_val;"
    "10 *int64 int64_val; 11 *bool bool_val; 12 *double dcomplex_val; 16 *uint32 uint32_val; 17 *uint64 uint64_val;"
    "18 bytes float8_val",
    "VersionDef": "1 int32 producer; 2 int32 min_consumer; 3 *int32 bad_consumers",
    "FunctionDefLibrary": "1 *FunctionDef function",
    "FunctionDef": "1 OpDef signature; 3 *NodeDef node_def; 4 %string ret; 5 %AttrValue attr; 6 %string control_ret",
    "OpDef": "1 string name; 2 *ArgDef input_arg; 3 *ArgDef output_arg; 20 *string control_output",
    "ArgDef": "1 string name; 2 string description; 3 DataType type; 4 string type_attr; 5 string number_attr; 6 string type_list_attr;"
    "16 bool is_ref",
    "SignatureDef": "1 %TensorInfo inputs; 2 %TensorInfo outputs; 3 string method_name",
    "TensorInfo": "1 |string name; 4 |CooSparse coo_sparse; 5 |CompositeTensor composite_tensor; 2 DataType dtype;"
    "3 TensorShapeProto tensor_shape",
    "CooSparse": "1 string values_tensor_name; 2 string indices_tensor_name; 3 string dense_shape_tensor_name",
    "CompositeTensor": "2 *TensorInfo components",
    "SaverDef": "1 string filename_tensor_name; 2 string save_tensor_name; 3 string restore_op_name",
    "CollectionDef": "1 |NodeList node_list; 2 |BytesList bytes_list; 5 |AnyList any_list",
    "NodeList": "1 *string value",
    "BytesList": "1 *bytes value",
    "AnyList": "1 *Any value",
    "Any": "1 string type_url; 2 bytes value",
    "AssetFileDef": "1 TensorInfo tensor_info; 2 string filename",
    "SavedObjectGraph": "1 *SavedObject nodes; 2 %SavedConcreteFunction concrete_functions",
    "SavedObject": "1 *ObjectReference children; 3 *SlotVariableReference slot_variables; 4 |SavedUserObject user_object;"
    "5 |SavedAsset asset; 6 |SavedFunction function; 7 |SavedVariable variable; 8 |SavedBareConcreteFunction bare_concrete_function;"
    "9 |SavedConstant constant; 10 |SavedResource resource; 12 |CapturedTensor captured_tensor",
    "ObjectReference": "1 int32 node_id; 2 string local_name",
    "SlotVariableReference": "1 int32 original_variable_node_id; 2 string slot_name; 3 int32 slot_variable_node_id",
    "SavedUserObject": "1 string identifier; 3 string metadata",
    "SavedAsset": "1 int32 asset_file_def_index",
    "SavedFunction": "1 *string concrete_functions",
    "SavedConcreteFunction": "2 *int32 bound_inputs",
    "SavedBareConcreteFunction": "1 string concrete_function_name; 2 *string argument_keywords",
    "SavedConstant": "1 string operation",
    "SavedVariable": "1 DataType dtype; 2 TensorShapeProto shape; 3 bool trainable; 6 string name",
    "SavedResource": "1 string device",
    "CapturedTensor": "1 string name; 2 string concrete_function",
    "VariableDef": "1 string variable_name; 3 string snapshot_name; 5 bool is_resource; 7 bool trainable",
    "BundleEntryProto": "1 DataType dtype; 2 TensorShapeProto shape; 3 int32 shard_id; 4 int64 offset; 5 int64 size;"
    "7 *bytes slices",
    "BundleHeaderProto": "1 int32 num_shards",
    "SavedMetadata": "1 *KerasObject nodes",
    "KerasObject": "2 int32 node_id; 3 string node_path; 4 string identifier; 5 string metadata",
}

_ONEOFS = {"AttrValue": "value", "TensorInfo": "encoding"}
"""Names of alternatives as TensorFlow has them, so that code reads its own messages and ours alike."""

_DTYPES = {
    1: ("FLOAT", "float32"),
    2: ("DOUBLE", "float64"),
    3: ("INT32", "int32"),
    4: ("UINT8", "uint8"),
    5: ("INT16", "int16"),
    6: ("INT8", "int8"),
    7: ("STRING", "string"),
    8: ("COMPLEX64", "complex64"),
    9: ("INT64", "int64"),
    10: ("BOOL", "bool"),
    11: ("QINT8", "qint8"),
    12: ("QUINT8", "quint8"),
    13: ("QINT32", "qint32"),
    14: ("BFLOAT16", "bfloat16"),
    15: ("QINT16", "qint16"),
    16: ("QUINT16", "quint16"),
    17: ("UINT16", "uint16"),
    18: ("COMPLEX128", "complex128"),
    19: ("HALF", "float16"),
    20: ("RESOURCE", "resource"),
    21: ("VARIANT", "variant"),
    22: ("UINT32", "uint32"),
    23: ("UINT64", "uint64"),
    24: ("FLOAT8_E5M2", "float8_e5m2"),
    25: ("FLOAT8_E4M3FN", "float8_e4m3fn"),
    26: ("FLOAT8_E4M3FNUZ", "float8_e4m3fnuz"),
    27: ("FLOAT8_E4M3B11FNUZ", "float8_e4m3b11fnuz"),
    28: ("FLOAT8_E5M2FNUZ", "float8_e5m2fnuz"),
    29: ("INT4", "int4"),
    30: ("UINT4", "uint4"),
    31: ("INT2", "int2"),
    32: ("UINT2", "uint2"),
}
_ITEM_BITS = {"bfloat16": 16, "bool": 8, "string": 0, "resource": 0, "variant": 0, "complex64": 64, "complex128": 128}


def dtype_name(number: int) -> str:
    """Numpy's name for TensorFlow's `DataType` number, "" when unknown; a reference type answers like what it refers to."""
    return _DTYPES.get(number - 100 if number > 100 else number, ("", ""))[1]


def item_bits(dtype: str) -> int:
    """Bits one element of `dtype` takes in a file; 0 for strings and handles."""
    if dtype in _ITEM_BITS:
        return _ITEM_BITS[dtype]
    digits = "".join(character if character.isdigit() else " " for character in dtype.partition("_")[0]).split()
    return int(digits[-1]) if digits else 0


@functools.cache
def messages() -> Any:
    """The message classes by name, for example `messages().GraphDef`. Builds the private pool on first use (about 10 ms)."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto3")
    enum = file.enum_type.add(name="DataType")
    enum.value.add(name="DT_INVALID", number=0)
    for number, (name, _) in _DTYPES.items():
        enum.value.add(name=f"DT_{name}", number=number)
        enum.value.add(name=f"DT_{name}_REF", number=number + 100)
    for name, text in _MESSAGES.items():
        _add_message(file.message_type.add(name=name), text)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call, unused-ignore]
    classes = {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }
    return SimpleNamespace(**classes)


def _add_message(message: Any, text: str) -> None:
    for entry in text.split(";"):
        number, kind, name = entry.split()
        field = message.field.add(name=name, number=int(number), label=1)
        if kind.startswith("|"):
            if not message.oneof_decl:
                message.oneof_decl.add(name=_ONEOFS.get(message.name, "kind"))
            field.oneof_index = 0
        if kind.startswith("*"):
            field.label = 3
        if kind.startswith("%"):
            field.label = 3
            _add_map(message, field, kind[1:])
        else:
            _set_type(field, kind.lstrip("*|"))


def _add_map(message: Any, field: Any, value_kind: str) -> None:
    entry = message.nested_type.add(name="".join(part.title() for part in field.name.split("_")) + "Entry")
    entry.options.map_entry = True
    _set_type(entry.field.add(name="key", number=1, label=1), "string")
    _set_type(entry.field.add(name="value", number=2, label=1), value_kind)
    field.type = 11
    field.type_name = f".{_PACKAGE}.{message.name}.{entry.name}"


def _set_type(field: Any, kind: str) -> None:
    scalars = {
        "double": 1,
        "float": 2,
        "int64": 3,
        "uint64": 4,
        "int32": 5,
        "bool": 8,
        "string": 9,
        "bytes": 12,
        "uint32": 13,
    }
    if kind in scalars:
        field.type = scalars[kind]
    else:
        field.type = 14 if kind == "DataType" else 11
        field.type_name = f".{_PACKAGE}.{kind}"


_HEAD_BYTES = 4096
_FIRST = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:\s+|#[^\n]*(?:\n|\Z))*([a-z_]+)\s*(?::\s*[\d\"{<]|[{<])")


def first_field(file: ModelFile) -> str:
    """The name of the first field of a text message, "" for anything else."""
    with file.path.open("rb") as stream:
        return _first(stream.read(_HEAD_BYTES))


def first_field_of(view: memoryview) -> str:
    """As `first_field`, for bytes at hand."""
    return _first(bytes(view[:_HEAD_BYTES]))


def parse(file: ModelFile, view: memoryview, message: Any) -> Any:
    """Fills `message` from text; fields it does not have are skipped.

    Raises:
        UnreadableFile: no text message, or nested deeper than graphs are.
        TooLarge: more text than a graph needs.
    """
    from google.protobuf import text_format

    if len(view) > damage.MAX_CONFIG_BYTES:
        raise TooLarge(
            f"{file.name}: the text graph has {len(view):,} bytes, expected at most {damage.MAX_CONFIG_BYTES:,}. Save it as binary .pb."
        )
    try:
        text = bytes(view).decode("utf-8")
        _check_depth(text)
        return text_format.Parse(text, message, allow_unknown_field=True)
    except (text_format.ParseError, UnicodeDecodeError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UnreadableFile(
            f"{file.name}: not a readable text graph ({reason}). Save it again, or as binary .pb."
        ) from error


def _check_depth(text: str) -> None:
    depth = 0
    for character in re.findall(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[{}<>]", text):
        depth += (character in ("{", "<")) - (character in ("}", ">"))
        if depth > damage.MAX_DEPTH:
            raise ValueError(f"nested deeper than {damage.MAX_DEPTH} levels")


def _first(head: bytes) -> str:
    found = _FIRST.match(head)
    return found.group(1).decode() if found else ""


KEPT_TENSOR_BYTES = 1024
"""Tensors up to this size keep their values: shapes, axes, file names and other small constants that explain a graph."""
_KEPT_STRINGS_BYTES = 64 << 10

_Schema = dict[int, "_Schema"]
_TENSOR: _Schema = {}
_ATTR: _Schema = {8: _TENSOR}
_ATTR[1] = {8: _TENSOR, 9: {2: {2: _ATTR}}}
_ATTR[10] = {2: {2: _ATTR}}
_NODE: _Schema = {5: {2: _ATTR}}
_FUNCTION: _Schema = {3: _NODE, 5: {2: _ATTR}}
GRAPH_DEF: _Schema = {1: _NODE, 2: {1: _FUNCTION}}
META_GRAPH: _Schema = {2: GRAPH_DEF}
SAVED_MODEL: _Schema = {2: META_GRAPH}
_SHAPE_FIELDS = (1, 2, 3)
_STRING_FIELD = 8


def without_weights(file: ModelFile, view: memoryview, schema: _Schema) -> bytes:
    """Returns the message in `view` with the values of long tensors removed.

    Args:
        file: for error texts.
        view: a whole serialized message.
        schema: `GRAPH_DEF`, `META_GRAPH` or `SAVED_MODEL`: where tensors are.

    Raises:
        UnreadableFile: the bytes are not such a message.
        TooLarge: without its weights it is still larger than a graph may be.
    """
    try:
        stripped = _strip(view, 0, len(view), schema, 0)
    except wire.Malformed as error:
        raise UnreadableFile(
            f"{file.name}: the TensorFlow graph is damaged or cut short ({error}). Save it again or repeat the upload."
        ) from error
    if len(stripped) > damage.MAX_GRAPH_BYTES:
        raise TooLarge(
            f"{file.name}: the graph without its weights has {len(stripped):,} bytes, expected at most {damage.MAX_GRAPH_BYTES:,}."
        )
    return stripped


def _strip(view: memoryview, start: int, end: int, schema: _Schema, depth: int) -> bytes:
    if end - start <= KEPT_TENSOR_BYTES:
        return bytes(view[start:end])
    if depth > damage.MAX_DEPTH:
        raise wire.Malformed("messages nested too deeply")
    if schema is _TENSOR:
        return _strip_tensor(view, start, end)
    out: list[bytes] = []
    for field in wire.fields(view, start, end):
        inner = schema.get(field.number) if field.kind == wire.BYTES else None
        if inner is None or field.end - field.start <= KEPT_TENSOR_BYTES:
            out.append(bytes(view[field.begin : field.end]))
        else:
            out.append(wire.encode_bytes(field.number, _strip(view, field.start, field.end, inner, depth + 1)))
    return b"".join(out)


def _strip_tensor(view: memoryview, start: int, end: int) -> bytes:
    """Keeps dtype, shape, and string values that are few: a file name may hide behind a long neighbour."""
    kept: list[bytes] = []
    strings = 0
    for field in wire.fields(view, start, end):
        size = field.end - field.begin
        if field.number == _STRING_FIELD and field.kind == wire.BYTES:
            strings += size
            if strings > _KEPT_STRINGS_BYTES:
                continue
        elif field.number not in _SHAPE_FIELDS:
            continue
        elif size > KEPT_TENSOR_BYTES:
            raise wire.Malformed("a tensor shape with hundreds of dimensions")
        kept.append(bytes(view[field.begin : field.end]))
    return b"".join(kept)
