"""A bundled program lacks a part of TensorFlow."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    module = read.get("module", "a part of TensorFlow")
    return Cause(
        f"The program was bundled (PyInstaller, cx_Freeze), and {module} is not in the bundle: TensorFlow and Keras load parts by name when they are asked for, which the bundler does not see.",
        Certainty.LIKELY,
        (
            Step(
                "Newest hooks; take the packages whole.",
                "python -m pip install -U pyinstaller pyinstaller-hooks-contrib\npyinstaller --collect-all tensorflow --collect-all keras main.py",
            ),
            Step("Bundle in the environment in which the program runs, and try it as a folder first (no --onefile)."),
            Step(
                "Only predicting: a TFLite model and its small runtime bundle easily.",
                "stethoscope convert MODEL --to tflite --out model.tflite",
            ),
        ),
    )


MESSAGE = Message(
    id="bundled-program",
    title="A bundled program lacks a part of TensorFlow",
    wordings=(
        Wording("No module named", r"No module named '?(?P<module>[\w.]{1,100})'?", beside="PyInstaller"),
        Wording("No module named", r"No module named '?(?P<module>[\w.]{1,100})'?", beside="ailed to execute script"),
        Wording("No module named", r"No module named '?(?P<module>[\w.]{1,100})'?", beside="pyimod0"),
        Wording("Failed to execute script"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_TFLITE,),
    sources=(
        "https://github.com/pyinstaller/pyinstaller/issues/4400",
        "https://github.com/pyinstaller/pyinstaller/issues/4993",
    ),
    rank=1,
)
