"""A compiled function runs on one device and its weights are on another."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if not read.says("XLA", "xla", "jit_compile"):
        return Cause(
            f"“{read.get('variable', 'A resource')}” is on {read.get('home', 'one device').rpartition('device:')[2]} and is used from {read.get('device', 'another').rpartition('device:')[2]}. Most often a function that XLA compiles (jit_compile; Keras 3 turns it on by itself) is called on another device than its weights are on; else a table or iterator of one device is used in a function of another.",
            Certainty.LIKELY,
            (
                Step(
                    "Do not compile.",
                    "model.compile(optimizer, loss, jit_compile=False)\n@tf.function(jit_compile=False)",
                ),
                Step(
                    "Or make and load all of it where it runs.",
                    "with tf.device('/CPU:0'):\n    model = keras.models.load_model('model.keras')",
                ),
            ),
        )
    home, device = (read.get(name).rpartition("device:")[2] for name in ("home", "device"))
    variable = f"“{read.get('variable')}”" if "variable" in read else "a weight"
    told = f"The function runs on {device} and {variable} is on {home}. " if home and device else ""
    return Cause(
        f"{told}XLA compiles a function for one device (jit_compile=True; Keras 3 turns it on by itself where it can), and it cannot read weights of another one. Models that were made on a GPU and are called on the CPU meet this.",
        Certainty.CERTAIN,
        (
            Step(
                "Do not compile.", "model.compile(optimizer, loss, jit_compile=False)\n@tf.function(jit_compile=False)"
            ),
            Step(
                "Or make and load the model where it runs.",
                "with tf.device('/CPU:0'):\n    model = keras.models.load_model('model.keras')",
            ),
            Step(
                "Or hide the card from a process that predicts on the CPU.", "CUDA_VISIBLE_DEVICES=-1 python predict.py"
            ),
        ),
    )


MESSAGE = Message(
    id="xla-device-clash",
    title="A compiled function runs on one device and its weights are on another",
    wordings=(
        Wording(
            "Trying to access resource",
            r"Trying to access resource (?P<variable>\S{1,120}) (?:\(defined @ (?P<defined>[^)]{1,200})\) )?located in device (?P<home>\S{1,120}) from device (?P<device>\S{1,120})",
        ),
    ),
    explain=_explain,
    ways=(ways.DEVICES,),
    sources=(
        "https://github.com/keras-team/keras-core/issues/77",
        "https://github.com/rstudio/tensorflow/issues/558",
        "https://www.tensorflow.org/xla/known_issues#tfvariable_on_a_different_device",
    ),
)
