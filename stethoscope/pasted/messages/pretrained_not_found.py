"""A pretrained model is not found under this name."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name, file = read.get("name", "the model"), read.get("file")
    if "offline" in read:
        return Cause(
            "The files are neither in the cache, nor was the hub reached: no network (Kaggle with internet off, a proxy, a firewall), or the name is that of no model.",
            Certainty.LIKELY,
            (
                Step("Kaggle: internet is switched on in the settings at the side."),
                Step(
                    "Download where there is a network, then give the folder.",
                    "model.save_pretrained('folder')\nmodel = TFAutoModel.from_pretrained('folder')",
                ),
            ),
        )
    if file and not read.says("config.json", "tokenizer"):
        return Cause(
            f"“{name}” holds no weights of this framework ({file} is not there): they are kept for the other one, PyTorch against TensorFlow.",
            Certainty.LIKELY,
            (
                Step(
                    "Have weights of PyTorch made those of TensorFlow (PyTorch has to be installed).",
                    f"model = TFAutoModel.from_pretrained('{name}', from_pt=True)",
                ),
            ),
        )
    return Cause(
        f"“{name}” was found neither as a folder here with the needed files, nor on the hub: misspelt, without its owner's name (owner/model), private, or a folder of that name here that is empty or of something else hides it.",
        Certainty.LIKELY,
        (
            Step(
                "See what the folder holds; config.json and the files of the tokenizer have to be in it.", f"ls {name}"
            ),
            Step("Save both parts together.", "model.save_pretrained('folder')\ntokenizer.save_pretrained('folder')"),
            Step("Private or gated: log in.", "huggingface-cli login"),
        ),
    )


MESSAGE = Message(
    id="pretrained-not-found",
    title="A pretrained model is not found under this name",
    wordings=(
        Wording(
            "is not a valid model identifier listed on",
            r"(?P<name>[\w./-]{1,120}) is not a local folder and is not a valid model identifier",
        ),
        Wording("Can't load tokenizer for", r"Can't load (?P<what>tokenizer) for '(?P<name>[^']{1,120})'"),
        Wording(
            "Can't load the configuration of", r"Can't load the (?P<what>configuration) of '(?P<name>[^']{1,120})'"
        ),
        Wording("Can't load config for", r"Can't load (?P<what>config) for '(?P<name>[^']{1,120})'"),
        Wording("Can't load weights for", r"Can't load (?P<what>weights) for '(?P<name>[^']{1,120})'"),
        Wording("Can't load the model for", r"Can't load the (?P<what>model) for '(?P<name>[^']{1,120})'"),
        Wording(
            "does not appear to have a file named",
            r"(?P<name>[\w./-]{1,120}) does not appear to have a file named (?P<file>[\w.]{1,60})",
        ),
        Wording(
            "to load this file, couldn't find it in the cached files",
            r"(?P<offline>We couldn't connect to 'https://huggingface)",
        ),
        Wording(
            "no file named", r"Error no file named (?P<file>.{1,120}?) found in directory (?P<name>[\w./-]{1,120})"
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/huggingface/transformers/blob/main/src/transformers/utils/hub.py",
        "https://github.com/huggingface/transformers/blob/main/src/transformers/modeling_tf_utils.py",
    ),
)
