"""Two packages want different versions of a third."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    told = (
        f"{read.get('package')} {read.get('version')} wants {read.get('wanted')}, and {read.get('found')} is installed now"
        if "wanted" in read
        else "Two of the packages want versions of a third that do not go together"
    )
    return Cause(
        f"{told}. pip installed it all the same, and the first of them may fail when it is imported."
        if "wanted" in read
        else f"{told}.",
        Certainty.CERTAIN,
        (
            Step(
                "Name all that the program needs in one command, in a fresh environment.",
                "python -m venv env && . env/bin/activate\npython -m pip install tensorflow transformers tf-keras",
            ),
            Step("See what does not go together.", "python -m pip check"),
        ),
    )


MESSAGE = Message(
    id="versions-conflict",
    title="Two packages want different versions of a third",
    wordings=(
        Wording(
            "which is incompatible",
            r"(?P<package>[\w.-]{1,60}) (?P<version>[\w.+-]{1,30}) (?:requires|has requirement) (?P<wanted>[^,;\s]{1,40}(?:,[^,;\s]{1,20}){0,4}),? but you(?:'ll)? have (?P<found>[\w.-]{1,60} [\w.+-]{1,30})",
        ),
        Wording("the source of the following dependency conflicts"),
        Wording("ResolutionImpossible"),
        Wording("because these package versions have conflicting dependencies"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://pip.pypa.io/en/stable/topics/dependency-resolution/",),
    role=Role.WARNING,
    rank=-1,
)
