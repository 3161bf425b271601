"""A package does not have the name that is imported from it."""

from __future__ import annotations

import collections.abc

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording
from stethoscope.pasted.scripts.renames import today


def _explain(read: Read) -> Cause:
    name, module = read.get("name", "a name"), read.get("module")
    package = module.partition(".")[0]
    if read.says("partially initialized module"):
        return Cause(
            f"“{name}” is imported from {module or 'a module'} while that is still being imported: a file of your own has the name of the package, or two modules import each other.",
            Certainty.LIKELY,
            (
                Step("See which file it is.", f"import {package or 'keras'}\nprint({package or 'keras'}.__file__)"),
                Step("Rename your own file (tensorflow.py, keras.py, tokenizers.py) and remove its __pycache__."),
            ),
        )
    if module == "collections" and name in collections.abc.__all__:
        return Cause(
            f"Python 3.10 took collections.{name} away (it is collections.abc.{name}); a package here is of before that.",
            Certainty.CERTAIN,
            (
                Step(
                    "Update the package that the last frame names, or take Python 3.9.",
                    "python -m pip install -U PACKAGE",
                ),
            ),
        )
    if name == "tf" and module in ("tensorflow", "tensorflow_core"):
        return Cause(
            "TensorFlow holds no “tf”; that is the name that people give it.",
            Certainty.CERTAIN,
            (Step("Import it so.", "import tensorflow as tf"),),
        )
    today_ = today(f"{module}.{name}", f"{module}.{name}") if package in ("keras", "tensorflow") else None
    if today_ is not None and today_.name and today_.name != f"{module}.{name}":
        home, _, own = today_.name.rpartition(".")
        return Cause(
            f"“{name}” is not in {module} any more; today it is {today_.name}.{f' {today_.remark}.' if today_.remark else ''}",
            Certainty.LIKELY,
            (Step("Import it from there.", f"from {home} import {own}"),),
        )
    return Cause(
        f"The installed {package or 'package'} has no “{name}”{f' in {module}' if module else ''}: it is older or newer than the code that imports it (or was installed over another version).",
        Certainty.LIKELY,
        (
            Step(
                "See the versions, and which file imports it: the last frame.",
                f"python -m pip show {package.replace('_', '-') or 'tensorflow'}",
            ),
            Step(
                "Take versions of one time; a fresh environment where several were installed over each other.",
                f"python -m pip install -U {package.replace('_', '-') or 'tensorflow'}",
            ),
        ),
    )


MESSAGE = Message(
    id="import-name-missing",
    title="A package does not have the name that is imported",
    wordings=(
        Wording(
            "cannot import name",
            r"cannot import name '?(?P<name>\w{1,60})'? from (?:partially initialized module )?'(?P<module>[\w.]{1,100})'",
        ),
        Wording(
            "cannot import name",
            r"from (?P<module>[\w.]{1,100}) import [^\n]{1,300}?ImportError: cannot import name '?(?P<name>\w{1,60})",
        ),
        Wording("cannot import name", r"cannot import name '?(?P<name>\w{1,60})"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tflearn/tflearn/issues/4",
        "https://github.com/tensorflow/tensor2tensor/issues/1116",
        "https://github.com/tensorflow/tensorflow/issues/16265",
    ),
    rank=-2,
)
