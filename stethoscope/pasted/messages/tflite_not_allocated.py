"""The TFLite interpreter has no memory for its tensors yet."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("after initialization failed"):
        return Cause(
            "The interpreter was not set up: an earlier line says why. On a microcontroller it is most often an arena that is too small, or an operator that was not registered.",
            Certainty.LIKELY,
            (
                Step(
                    "Look for the first line that failed, and stop there.",
                    "if (interpreter.AllocateTensors() != kTfLiteOk) return;",
                ),
                Step(
                    "Give the arena more, then ask what it used.",
                    "constexpr int kArena = 200 * 1024;\ninterpreter.arena_used_bytes();",
                ),
            ),
        )
    return Cause(
        "The interpreter was asked to set, run or read before it had allocated its tensors (after a resize, which frees them, too; or the allocation had failed).",
        Certainty.CERTAIN,
        (
            Step(
                "The order of calls.",
                "interpreter = tf.lite.Interpreter('model.tflite')\ninterpreter.allocate_tensors()\ninterpreter.set_tensor(interpreter.get_input_details()[0]['index'], x)\ninterpreter.invoke()\ny = interpreter.get_tensor(interpreter.get_output_details()[0]['index'])",
            ),
            Step("After resize_tensor_input: allocate again."),
        ),
    )


MESSAGE = Message(
    id="tflite-not-allocated",
    title="The TFLite interpreter has no memory for its tensors yet",
    wordings=(
        Wording("Invoke called on model that is not ready"),
        Wording("Tensor data is null. Run allocate_tensors() first"),
        Wording("Cannot set tensor: Tensor is unallocated. Try calling allocate_tensors() first"),
        Wording("Run allocate_tensors() first"),
        Wording("Invoke() called after initialization failed"),
    ),
    explain=_explain,
    ways=(ways.PREDICT,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/lite/core/subgraph.cc",),
)
