"""`python -m tools.graph_ops`: writes `graph_ops.json`, what the engine knows of the operators of TensorFlow, from the installed one.

The list starts from `tf.raw_ops` (every public operator) and takes out what touches files, the network, Python, or runs a
program it gets as data; the rest computes on tensors it is given. An operator that is in neither list is unknown: it came with
a custom library or a later TensorFlow.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parents[1] / "stethoscope" / "models" / "formats" / "tf_graph" / "graph_ops.json"

RULES: tuple[tuple[str, str], ...] = (
    ("python-function", r"^(PyFunc|PyFuncStateless|EagerPyFunc|GeneratorDataset)$"),
    (
        "hidden-program",
        r"^(DatasetFromGraph|DeserializeIterator|RemoteFusedGraphExecute|MlirPassthroughOp|TRTEngineOp|Iterator.*StringHandle.*"
        r"|MultiDeviceIteratorFromStringHandle|XlaCallModule|XlaCustomCall.*|XlaLaunch.*|XlaHostCompute)$|^_.*(Mlir|XlaRun|XlaCompile)",
    ),
    (
        "network",
        r"^(Rpc|DataService|RegisterDataset|Collective(?!sNone)|Nccl|DTensor|ShutdownTPU|ConfigureAndInit|ConnectTPU|DistributedSave)"
        r"|^_?(Send|Recv|HostSend|HostRecv|RemoteCall|WorkerHeartbeat)$|TPU|Tpu|^Xla.*(Send|Recv)|^Debug|^(Infeed|Outfeed|Prelinearize)"
        r"|^(Copy|CopyHost|SymbolicGradient)$|BigQuery|CloudTPU|^Retrieve.*Embedding|^Load.*Embedding",
    ),
    (
        "file-access",
        r"File(?!name|spec)|Reader|SummaryWriter|SummaryDbWriter|^Write.*Summary|TFRecord|LMDB|TextLine|FixedLengthRecord|CSVDataset"
        r"|SqlDataset|Snapshot(?!$)|^(Save|Load)Dataset|^CacheDataset|^(Save|SaveSlices|SaveV2|Restore|RestoreSlice|RestoreV2"
        r"|MergeV2Checkpoints|ReadFile|WriteFile|ImmutableConst|RecordInput|Skipgram|FixedUnigramCandidateSampler|LoadAndRemapMatrix"
        r"|GenerateVocabRemapping|DumpTensor|CalibrationStatisticsSaver|DecodeProtoV2|EncodeProto|DatasetToTFRecord"
        r"|ExperimentalDatasetToTFRecord|CheckpointInitOp|InitializeTableFromTextFile(V2)?)$",
    ),
    ("process", r"^(Abort|GetSessionHandle|GetSessionHandleV2|GetSessionTensor|DeleteSessionTensor)$"),
    ("internal-operator", r"^_(?!(Arg|Retval|SwitchN|ListToArray|ArrayToList|Fused[A-Z]\w*)$)"),
)
"""(rule id, names it takes out), in order: the first that matches wins."""


def category(name: str) -> str:
    """The rule id for an operator's name, or "" for one that only computes."""
    return next((rule for rule, pattern in RULES if re.search(pattern, name)), "")


def outputs(definition: Any) -> list[str]:
    """Output arguments of an OpDef as "name width dtype".

    Width is "1", "*N" (as many as attribute N says) or "@Tout" (one for each dtype that attribute lists, which are its dtypes).
    Dtype is a number, or an attribute with its default: "T:0".
    """
    defaults = {attr.name: attr.default_value.type for attr in definition.attr}
    found = []
    for argument in definition.output_arg:
        width = (
            f"*{argument.number_attr}"
            if argument.number_attr
            else f"@{argument.type_list_attr}"
            if argument.type_list_attr
            else "1"
        )
        dtype = (
            f"{argument.type_attr}:{defaults.get(argument.type_attr, 0)}" if argument.type_attr else str(argument.type)
        )
        found.append(f"{argument.name} {width} {dtype}")
    return found


def main() -> None:
    """Writes the file that the engine reads."""
    TABLE.write_text(json.dumps(collected(), indent=0, sort_keys=True) + "\n", "utf-8")


def collected() -> dict[str, Any]:
    """What the file holds: the version, the operators by what they do ("compute" or a rule's id), and their outputs."""
    import tensorflow as tf
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    registered = op_def_pb2.OpList.FromString(
        pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList())  # type: ignore[attr-defined, unused-ignore]
    )
    public = set(dir(tf.raw_ops)) | {"_Arg", "_Retval", "_SwitchN", "_FusedConv2D", "_FusedMatMul", "_FusedBatchNormEx"}
    table: dict[str, list[str]] = {"compute": []}
    results: dict[str, list[str]] = {}
    for definition in sorted(registered.op, key=lambda op: str(op.name)):
        rule = category(definition.name)
        if definition.name in public or rule:
            table.setdefault(rule or "compute", []).append(definition.name)
            results[definition.name] = outputs(definition)
    return {"tensorflow": tf.__version__, "operators": table, "outputs": results}


if __name__ == "__main__":
    main()
