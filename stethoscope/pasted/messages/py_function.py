"""A Python function inside of a data set failed."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    told = f"{read.get('type')}: {read.get('said').strip()}" if "type" in read else "an exception of its own"
    return Cause(
        f"A Python function that TensorFlow calls (a generator of from_generator, py_function or numpy_function) raised {told}. TensorFlow only passes it on; what is wrong is in that function, and the frame of it stands in the inner traceback.",
        Certainty.LIKELY,
        (
            Step("Run the function without TensorFlow, row by row.", "for row in rows():\n    pass"),
            Step(
                "Tell which row it was.",
                "def rows():\n    for number, path in enumerate(paths):\n        try:\n            yield read(path)\n        except Exception as reason:\n            raise ValueError(f'row {number}, {path}') from reason",
            ),
        ),
    )


MESSAGE = Message(
    id="py-function",
    title="A Python function inside of a data set failed",
    wordings=(
        Wording(
            "UnknownError",
            r"UnknownError:? (?:\{\{function_node .{1,80}?\}\} ?)?(?P<type>[A-Z]\w{2,40}(?:Error|Exception|Iteration)): (?P<said>.{1,160}?)(?: Traceback| \[\[|$)",
            beside="script_ops",
        ),
        Wording(
            "UNKNOWN: ",
            r"UNKNOWN: (?P<type>[A-Z]\w{2,40}(?:Error|Exception|Iteration)): (?P<said>.{1,160}?)(?: Traceback| \[\[|$)",
        ),
        Wording(
            "Unknown: ",
            r"Unknown: (?P<type>[A-Z]\w{2,40}(?:Error|Exception|Iteration)): (?P<said>.{1,160}?)(?: Traceback| \[\[|$)",
        ),
        Wording(
            "INVALID_ARGUMENT: ",
            r"INVALID_ARGUMENT: (?P<type>[A-Z]\w{2,40}(?:Error|Exception)): (?P<said>.{1,160}?)(?: Traceback| \[\[|$)",
            beside="script_ops",
        ),
        Wording(
            "{{node PyFunc}}", r"(?P<type>[A-Z]\w{2,40}(?:Error|Exception)): (?P<said>.{1,160}?)(?: Traceback| \[\[|$)"
        ),
        Wording(
            "{{node EagerPyFunc}}",
            r"(?P<type>[A-Z]\w{2,40}(?:Error|Exception)): (?P<said>.{1,160}?)(?: Traceback| \[\[|$)",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/56517",
        "https://github.com/mvoelk/ssd_detectors/issues/56",
    ),
    rank=-1,
)
