"""What is known about TensorFlow's operators: which only compute, which reach outside, and how their outputs are numbered.

The data is `graph_ops.json`, made by `python -m tools.graph_ops`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_UNCHANGED = frozenset(
    {
        "Identity",
        "IdentityN",
        "StopGradient",
        "ReadVariableOp",
        "PreventGradient",
        "EnsureShape",
        "GuaranteeConst",
        "Snapshot",
        "DisableCopyOnRead",
    }
)
INPUTS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})
VARIABLES = frozenset({"VarHandleOp", "VariableV2", "Variable"})
ASSIGNMENTS = frozenset(
    {"Assign", "AssignVariableOp", "AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp"}
)
PLUMBING = _UNCHANGED | VARIABLES | {"Const", "NoOp", "Assert", "_Arg", "_Retval", "ControlTrigger", "AssignVariableOp"}
"""Operators that hold or pass on what another one computes; a reader of the architecture does not want to see them."""
_DRAWS = re.compile(
    r"Random|^Multinomial$|TruncatedNormal|^Stateful(Standard|Uniform|Truncated)|CandidateSampler$|^SampleDistorted|^Skipgram$"
)
PASSING = _UNCHANGED | {"Enter", "RefEnter", "Switch", "RefSwitch", "RefIdentity"}
"""Operators through which a weight reaches the operator that uses it."""


@functools.cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("graph_ops.json").read_text())
    return found


@functools.cache
def _rules() -> dict[str, str]:
    return {name: rule for rule, names in _data()["operators"].items() for name in names}


def rule_for(operator: str) -> str:
    """ "compute" for an operator that only computes, a hazard's rule id for one that reaches outside, "" for an unknown one."""
    return _rules().get(operator, "")


class _Output(NamedTuple):
    name: str
    width: str
    dtype: str

    def count(self, attributes: Mapping[str, Any]) -> int:
        attribute = self.width[1:]
        if not attribute or attribute not in attributes:
            return 1 if self.width == "1" else 0
        value = attributes[attribute]
        return min(max(int(value.i), 0), 1 << 16) if self.width[0] == "*" else len(value.list.type)


@functools.cache
def _outputs(operator: str) -> tuple[_Output, ...]:
    return tuple(_Output(*text.split()) for text in _data()["outputs"].get(operator, ()))


def output_index(operator: str, reference: str, attributes: Mapping[str, Any]) -> int:
    """The flat output index of "1", "0", or of a function body's "product:0"."""
    first, _, second = reference.partition(":")
    if first.isdecimal():
        return int(first) if len(first) < 7 else 0
    index = int(second) if second.isdecimal() and len(second) < 7 else 0
    offset = 0
    outputs = _outputs(operator)
    for output in outputs if len(outputs) > 1 else ():
        if output.name == first:
            return offset + index
        offset += output.count(attributes)
    return index


def draws(operator: str) -> bool:
    """Whether an operator draws other random numbers in each call."""
    return not operator.startswith("Stateless") and _DRAWS.search(operator) is not None


_FIRST_ALONE = {
    "FusedBatchNorm": 1,
    "FusedBatchNormV2": 1,
    "FusedBatchNormV3": 1,
    "SoftmaxCrossEntropyWithLogits": 1,
    "SparseSoftmaxCrossEntropyWithLogits": 1,
    "CTCLoss": 1,
    "CTCLossV2": 1,
    "CudnnRNN": 3,
    "CudnnRNNV2": 3,
    "CudnnRNNV3": 3,
}
"""How many outputs are an answer; the others are for the gradient."""
_WITHOUT_VECTORS = {"Svd": "compute_uv", "BatchSvd": "compute_uv", "SelfAdjointEigV2": "compute_v", "Eig": "compute_v"}
"""Operators that leave their other outputs unset where this attribute is false."""


def answer_count(operator: str, attributes: Mapping[str, Any]) -> int:
    """How many of an operator's tensors are an answer, and not left unset or kept for the gradient."""
    asked = _WITHOUT_VECTORS.get(operator)
    if asked is not None and asked in attributes and not attributes[asked].b:
        return 1
    return min(_FIRST_ALONE.get(operator, 1 << 30), output_count(operator, attributes))


def output_count(operator: str, attributes: Mapping[str, Any]) -> int:
    """How many tensors an operator computes; 1 for one that is not known."""
    if operator not in _data()["outputs"]:
        return 1
    return sum(output.count(attributes) for output in _outputs(operator))


def dtype(operator: str, attributes: Mapping[str, Any], index: int = 0) -> int:
    """TensorFlow's number for the dtype of one of an operator's outputs; 0 when it does not say."""
    for output in _outputs(operator) or (_Output("", "1", "T:0"),):
        count = output.count(attributes)
        if index >= count:
            index -= count
        elif output.width[0] == "@":
            return int(attributes[output.width[1:]].list.type[index])
        elif output.dtype.isdecimal():
            return int(output.dtype)
        else:
            name, _, default = output.dtype.partition(":")
            return int(attributes[name].type if name in attributes else default)
    return 0


def unregistered(nodes: Iterable[Any], functions: Mapping[str, Any]) -> list[str]:
    """Names of operators that the installed TensorFlow does not have, sorted."""
    used = {node.op for node in nodes}
    for function in functions.values():
        used.update(node.op for node in function.node_def)
    return sorted(name for name in used if not rule_for(name) and name not in functions)
