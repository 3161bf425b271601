"""A call without an argument that it needs."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    function, argument = read.get("function", "The call"), read.get("argument", "an argument")
    layer = function.endswith(".__init__")
    if "wanted" in read and (read.number("found") or 0) > (read.number("wanted") or 0):
        return Cause(
            f"{function}() takes {read.get('wanted')} arguments and got {read.get('found')} (“self” is counted): more than it takes.",
            Certainty.CERTAIN,
            (Step("See what it takes.", "help(function)"),),
        )
    if "wanted" in read:
        return Cause(
            f"{function}() takes {read.get('wanted')} arguments and got {read.get('found')} (“self” is counted): something is left out, such as the shape in a call of build of the base class.",
            Certainty.CERTAIN,
            (Step("Hand on what came.", "def build(self, input_shape):\n    super().build(input_shape)"),),
        )
    made = function.removesuffix(".__init__")
    return Cause(
        f"{made if layer else function} needs {argument} and did not get it."
        + (" A layer is made first, and called with its input afterwards." if layer else ""),
        Certainty.CERTAIN,
        (
            Step("See what it takes.", f"help({made if read.get('function') and '<' not in made else 'function'})"),
            Step(
                "From a file: the class has no defaults, and its get_config does not say this argument.",
                "def get_config(self):\n    return {**super().get_config(), 'units': self.units}",
            ),
        ),
    )


MESSAGE = Message(
    id="missing-argument",
    title="A call without an argument that it needs",
    wordings=(
        Wording("The first argument to `Layer.call` must always be passed"),
        Wording(
            "required positional argument",
            r"(?P<function>[\w.<>]{1,80})\(\) missing \d{1,3} required positional arguments?: (?P<argument>[^\n]{1,120}?)(?: Full traceback|$|\n)",
        ),
        Wording("missing a required argument: ", r"missing a required argument: (?P<argument>'\w{1,60}')"),
        Wording(
            "required keyword-only argument",
            r"(?P<function>[\w.<>]{1,80})\(\) missing \d{1,3} required keyword-only arguments?: (?P<argument>[^\n]{1,120})",
        ),
        Wording(
            "takes exactly",
            r"(?P<function>[\w.<>]{1,80})\(\) takes (?:exactly|at least) (?P<wanted>\d{1,2}) (?:positional )?arguments? \((?P<found>\d{1,2}) given\)",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://docs.python.org/3/tutorial/errors.html",),
    rank=-1,
)
