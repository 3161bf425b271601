"""The kernel of a notebook died."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    steps = (
        Step(
            "Run it as a script: what the notebook swallows is shown by the terminal.",
            "jupyter nbconvert --to script notebook.ipynb && python notebook.py",
        ),
        Step(
            "Memory: watch it, then predict in pieces and keep less.",
            "for batch in dataset:\n    save(model.predict_on_batch(batch))",
        ),
        Step(
            "If it dies at the first convolution or at import: versions of CUDA, cuDNN (zlibwapi.dll on Windows), NumPy.",
            'python -c "import tensorflow as tf; print(tf.reduce_sum(tf.random.normal((1000, 1000))))"',
        ),
    )
    if read.says("using all available RAM", "more memory than is available"):
        return Cause("The notebook's process used all memory there was, and was ended.", Certainty.CERTAIN, steps)
    return Cause(
        "The notebook's process ended without a word. Most often memory ran out and the kernel killed it; else native code crashed (cuDNN, MKL, a wrong build).",
        Certainty.POSSIBLE,
        steps,
    )


MESSAGE = Message(
    id="kernel-died",
    title="The kernel of a notebook died",
    wordings=(
        Wording("The kernel appears to have died"),
        Wording("Kernel died"),
        Wording("kernel died"),
        Wording("Kernel has died"),
        Wording("kernel has died"),
        Wording("Dead kernel"),
        Wording("The Kernel crashed while executing code"),
        Wording("Canceled future for execute_request message before replies were done"),
        Wording("Your session crashed after using all available RAM"),
        Wording("Your session crashed for an unknown reason"),
        Wording("Your notebook tried to allocate more memory than is available"),
        Wording("AsyncIOLoopKernelRestarter: restarting kernel"),
        Wording("KernelRestarter: restarting kernel"),
    ),
    explain=_explain,
    ways=(ways.PREDICT, ways.SWEEP),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/9829",
        "https://github.com/jupyter/notebook/issues/4097",
        "https://github.com/microsoft/vscode-jupyter/issues/9157",
    ),
)
