"""A thread goes on while Python ends, or draws outside of the main one."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "ended" in read:
        return Cause(
            "The program reached its end while a data set, generator or thread was still at work; the error that matters, if any, stands above this one.",
            Certainty.LIKELY,
            (
                Step("Go through the data to its end, or stop it; wait for threads.", "del iterator\nthread.join()"),
                Step("Work in a function that is called under this line.", "if __name__ == '__main__':\n    main()"),
            ),
        )
    return Cause(
        "matplotlib draws a window from a thread that is not the main one (a generator with workers, a callback).",
        Certainty.LIKELY,
        (Step("Draw to files only, before pyplot is imported.", "import matplotlib\nmatplotlib.use('Agg')"),),
    )


MESSAGE = Message(
    id="interpreter-ended",
    title="A thread goes on while Python ends",
    wordings=(
        Wording("cannot schedule new futures after", r"after (?:interpreter )?(?P<ended>shutdown)"),
        Wording("Python interpreter state is not initialized", r"(?P<ended>not initialized)"),
        Wording("main thread is not in main loop"),
        Wording("can't start new thread at interpreter shutdown", r"(?P<ended>shutdown)"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/lib/core/py_func.cc",
        "https://matplotlib.org/stable/users/explain/figure/backends.html",
    ),
    rank=-1,
    general=True,
)
