"""A file could not be fetched from the network."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    address = f" from {read.get('address')}" if "address" in read else ""
    reason = f" ({read.get('reason').strip()})" if "reason" in read else ""
    told = "The machine has no (or no open) way to the network, or the name is not found"
    steps = [
        Step(
            "Fetch it where there is a network, and put it into the folder that Keras looks in.",
            "mkdir -p ~/.keras/models && cp resnet50_weights.h5 ~/.keras/models/",
        ),
        Step("Behind a proxy.", "export https_proxy=http://proxy:3128"),
    ]
    if read.says("CERTIFICATE_VERIFY_FAILED"):
        told = "Python does not know the certificates that the server's is signed with"
        steps = [
            Step(
                "On a Mac with Python of python.org: install them.",
                "/Applications/Python\\ 3.12/Install\\ Certificates.command",
            ),
            Step(
                "Elsewhere, or behind a company's proxy: name the file with its certificates.",
                "export SSL_CERT_FILE=$(python -m certifi)",
            ),
        ]
    elif read.says("404 --", "403 --", "HTTP Error 404", "HTTP Error 403"):
        told = "The address is no longer (or not for you)"
        steps.insert(0, Step("A newer version of the package knows today's address.", "pip install -U keras"))
    return Cause(
        f"Weights or data were to be fetched{address} and were not{reason}. {told}.", Certainty.LIKELY, tuple(steps)
    )


MESSAGE = Message(
    id="download-failed",
    title="A file could not be fetched from the network",
    wordings=(
        Wording(
            "URL fetch failure on",
            r"URL fetch failure on (?P<address>\S{1,200}?): (?P<reason>.{1,120}?)(?:$| File| During)",
        ),
        Wording("CERTIFICATE_VERIFY_FAILED", r"(?P<reason>CERTIFICATE_VERIFY_FAILED[^\n]{0,80})", beside="keras"),
        Wording("urlopen error", r"urlopen error (?P<reason>.{1,100}?)>", beside="keras"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/AmanSavaria1402/TableNet/issues/2",
        "https://github.com/fchollet/deep-learning-models/issues/101",
        "https://github.com/isarandi/metrabs/issues/57",
    ),
)
