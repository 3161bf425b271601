"""A generator does not give a pair (x, y)."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.get("found") == "None":
        return Cause(
            "The generator gave None instead of a batch: it ended (a generator for fit_generator has to go on for ever), an exception in its own thread ended it (its message stands further above), or it has a return where a yield is wanted.",
            Certainty.LIKELY,
            (
                Step(
                    "Ask it yourself, then its own error is seen.", "for _ in range(1000):\n    x, y = next(generator)"
                ),
                Step(
                    "Go round for ever.",
                    "def batches():\n    while True:\n        for x, y in rows:\n            yield x, y",
                ),
                Step(
                    "One worker, as threads share it.",
                    "model.fit_generator(generator, workers=1, use_multiprocessing=False)",
                ),
            ),
        )
    return Cause(
        "fit takes batches that are a tuple (x, y) or (x, y, weights); the generator gives something else, such as a list or x alone.",
        Certainty.CERTAIN,
        (Step("A tuple; several inputs are a list within it.", "yield [a, b], y"),),
    )


MESSAGE = Message(
    id="generator-none",
    title="A generator does not give a pair (x, y)",
    wordings=(Wording("output of generator should be a tuple", r"\(x, y\)`?\. Found: (?P<found>.{1,60}?)(?: |$)"),),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/keras-team/keras/issues/3946", "https://github.com/huoyijie/AdvancedEAST/issues/113"),
)
