"""A picture is read in another way than those of the training.

Why: `cv2.imread` gives blue first; what Keras reads from a folder has red first. A network that was trained on one sees other colours in the
other, and another size is another picture to it, or an error.
Example: `image_dataset_from_directory("leaves")` for the training, and `cv2.imread("new.jpg")` for the prediction.
Fix: `cv2.cvtColor(image, cv2.COLOR_BGR2RGB)`; resize to the size of the training.
Source: docs.opencv.org (imread: "the decoded images will have the channels stored in B G R order"); keras.io/api/data_loading/image.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, calls_behind, plain

_TURNS = ("cvtColor", "COLOR_BGR2RGB", "::-1", "[2, 1, 0]", "reverse")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    text = facts.source.text
    for model in facts.models:
        fits = [x for call in model.calls("fit") if (x := call.argument("x", 0)) is not None]
        readers = [one for x in fits for one in calls_behind(x) if _reads_folder(one)]
        if not readers:
            continue
        for call in model.calls("predict", "predict_on_batch"):
            value = call.argument("x", 0)
            behind = [] if value is None else list(calls_behind(value))
            opened = next((one for one in behind if one.name == "cv2.imread"), None)
            resized = next((one for one in behind if one.name == "cv2.resize"), None)
            if opened is not None and id(opened.node) not in done and not any(word in text for word in _TURNS):
                done.add(id(opened.node))
                yield facts.finding(
                    opened,
                    Fault.PREPROCESSING,
                    Severity.MEDIUM,
                    0.88,
                    "OpenCV reads blue first, and the pictures of the training have red first.",
                    "Turn the colours round.",
                    [
                        facts.spans.replace(
                            opened.call_node, f"cv2.cvtColor({facts.spans.text(opened.call_node)}, cv2.COLOR_BGR2RGB)"
                        )
                    ],
                )
            wanted, given = _size(readers[0]), None if resized is None else plain(resized.argument("dsize", 1))
            if resized is not None and wanted and given and given != wanted[::-1] and id(resized.node) not in done:
                done.add(id(resized.node))
                yield facts.finding(
                    resized,
                    Fault.PREPROCESSING,
                    Severity.HIGH,
                    0.9,
                    f"The pictures of the training are {wanted[0]} × {wanted[1]}, and this one is made {given[1]} × {given[0]}.",
                    "Take the size of the training.",
                    [facts.spans.replace(resized.call_node.args[1], f"({wanted[1]}, {wanted[0]})")]
                    if len(resized.call_node.args) > 1
                    else [],
                )


def _reads_folder(call: Call) -> bool:
    return meaning(call.name).endswith("image_dataset_from_directory") or call.method == "flow_from_directory"


def _size(call: Call) -> list[int]:
    """Height and width that a folder is read in; empty where that is not known."""
    given = plain(call.argument("image_size") or call.argument("target_size"))
    return given if isinstance(given, list) and len(given) == 2 and all(isinstance(one, int) for one in given) else []


RULE = Rule(_run)
