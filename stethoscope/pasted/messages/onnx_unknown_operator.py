"""The ONNX model holds an operator that is not in its opset."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator, version, domain = read.get("operator", "An operator"), read.get("version"), read.get("domain")
    if "unnamed" in read:
        return Cause(
            f"The file has operators of the domain “{domain}” and does not say which opset of it they are of.",
            Certainty.CERTAIN,
            (Step("See what it says.", "print(onnx.load('model.onnx').opset_import)"), Step("Export it anew.")),
        )
    if domain.startswith(("com.microsoft", "ai.onnx")) and domain != "ai.onnx.contrib":
        return Cause(
            f"{operator} is of the domain “{domain}”, which ONNX Runtime has itself: this build or version does not have that operator.",
            Certainty.LIKELY,
            (Step("A newer runtime, in its full build.", "pip install -U onnxruntime"),),
        )
    if domain:
        return Cause(
            f"{operator} belongs to the domain “{domain}”, which plain ONNX Runtime does not have: it is an operator of its own, of an extension or of another runtime.",
            Certainty.CERTAIN,
            (
                Step(
                    "Load the library that has it.",
                    "options = onnxruntime.SessionOptions()\noptions.register_custom_ops_library('libcustom.so')   # onnxruntime_extensions.get_library_path()",
                ),
                Step("Or export without it."),
            ),
        )
    if "attribute" in read:
        return Cause(
            f"{operator} has an attribute “{read.get('attribute')}” that this opset does not know: the file says a lower opset than its nodes were written for, or the runtime is older.",
            Certainty.LIKELY,
            (Step("A newer runtime, or export with a fitting opset.", "pip install -U onnxruntime onnx"),),
        )
    return Cause(
        f"{operator} is not an operator of opset {version or 'the file'}: it came with a later opset, is of an extension without its domain, or the runtime was built without it.",
        Certainty.LIKELY,
        (
            Step("Export with an opset that has it.", "python -m tf2onnx.convert --opset 18 …"),
            Step(
                "See what the file says.",
                "m = onnx.load('model.onnx')\nprint(m.opset_import, {n.op_type for n in m.graph.node})",
            ),
        ),
    )


MESSAGE = Message(
    id="onnx-unknown-operator",
    title="The ONNX model holds an operator that is not in its opset",
    wordings=(
        Wording(
            "No Op registered for",
            r"No Op registered for (?P<operator>\w{1,80}) with domain_version of (?P<version>\d{1,3})",
        ),
        Wording(
            "is not a registered function/op",
            r"Fatal error: (?P<domain>[\w.]{0,60}):(?P<operator>\w{1,80})\(-?(?P<version>\d{1,3})\) is not a registered function/op",
        ),
        Wording(
            "is not a registered function/op",
            r"Fatal error: (?:(?P<domain>[\w.]{1,60}):)?(?P<operator>\w{1,80})(?:\(-?(?P<version>\d{1,3})\))? is not a registered function/op",
        ),
        Wording("No opset import for domain", r"(?P<unnamed>No opset import) for domain '?(?P<domain>[\w.]{0,60})"),
        Wording("No Schema registered for", r"No Schema registered for (?P<operator>\w{1,80})"),
        Wording(
            "Unrecognized attribute",
            r"Unrecognized attribute: (?P<attribute>\w{1,60}) for operator (?P<operator>\w{1,60})",
        ),
    ),
    explain=_explain,
    ways=(ways.CONVERT_ONNX, ways.DESCRIBE),
    sources=(
        "https://github.com/microsoft/onnxruntime/issues/9384",
        "https://github.com/microsoft/onnxruntime/issues/2170",
    ),
)
