"""A device was named that is not there."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    held = [part.rpartition("device:")[2].strip() for part in read.get("available").split(",")]
    if read.get("wanted").rpartition("device:")[2] in held or read.says("because no supported kernel for"):
        return Cause(
            f"The operation has no kernel for {read.get('wanted').rpartition('device:')[2] or 'the device'} (or not in this type of numbers), and it was placed there; the device itself need not be missing.",
            Certainty.LIKELY,
            (
                Step("Let TensorFlow place what has no kernel there.", "tf.config.set_soft_device_placement(True)"),
                Step("Or place that operation on the CPU.", "with tf.device('/CPU:0'):\n    y = operation(x)"),
            ),
        )
    wanted = read.get("wanted").rpartition("device:")[2] or read.get("wanted") or "a device"
    available = (
        f" There are: {', '.join(part.rpartition('device:')[2].strip() for part in read.get('available').split(','))}."
        if "available" in read
        else ""
    )
    return Cause(
        f"The program asks for {wanted}, which TensorFlow does not see.{available}",
        Certainty.LIKELY
        if "placed" in read and not read.says("no devices matching that specification")
        else Certainty.CERTAIN,
        (
            Step(
                "See what it sees; a card that is missing there is a matter of drivers and CUDA.",
                "print(tf.config.list_physical_devices())",
            ),
            Step("Leave the choice to TensorFlow.", "tf.config.set_soft_device_placement(True)"),
        ),
    )


MESSAGE = Message(
    id="device-missing",
    title="A device was named that is not there",
    wordings=(
        Wording(
            "Could not satisfy device specification",
            r"device specification '(?P<wanted>[^']{1,120})'.{0,80}?All available devices \[(?P<available>[^\]]{1,200})\]",
        ),
        Wording("unknown device", r"(?P<wanted>/\S{0,60}(?:device|job):\S{1,60}) unknown device"),
        Wording(
            "was explicitly assigned to",
            r"explicitly assigned to (?P<wanted>\S{1,80}) but available devices are \[(?P<available>[^\]]{0,200})\]",
        ),
        Wording(
            "Could not satisfy explicit device specification",
            r"(?P<placed>explicit) device specification '(?P<wanted>[^']{0,120})'",
        ),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.DEVICES),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/common_runtime/placer.cc",),
)
