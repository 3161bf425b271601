"""The line a user reads out of a framework's page of text."""

from __future__ import annotations

import pytest

from stethoscope.framework_errors import MAX_CHARACTERS, gist

GRAPH = """Graph execution error:

Detected at node embedding/Gather defined at (most recent call last):
  File "/usr/lib/python3/x.py", line 3, in <module>
indices[0,9] = -1 is not in [0, 200)
\t [[{{node embedding/Gather}}]] [Op:__inference_predict_12]"""

CONFIG = ", ".join(f"'setting_{place}': {{'name': 'float32', 'sizes': [1, 2]}}" for place in range(40))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (GRAPH, "indices[0,9] = -1 is not in [0, 200)"),
        (
            "{{function_node __wrapped__Add}} Incompatible shapes: [2] vs. [3] [Op:AddV2] name: ",
            "Incompatible shapes: [2] vs. [3]",
        ),
        ('in user code:\n\n    File "a.py", line 1, in f\n    ValueError: bad thing\n', "ValueError: bad thing"),
        ("plain.", "plain"),
        ("", "RuntimeError"),
    ],
)
def test_the_telling_line(text, line):
    assert gist(RuntimeError(text)) == line


def test_it_is_one_short_line():
    assert len(gist(RuntimeError("x" * 5000))) <= MAX_CHARACTERS


@pytest.mark.parametrize(
    ("text", "about", "cause"),
    [
        (
            f"Error when deserializing class 'Dense' using config={{{CONFIG}}}.\n\nException encountered: No units.",
            "'Dense'",
            "No units",
        ),
        (
            f"<class 'A'> could not be deserialized properly. Please ensure it is.\n\nconfig={{{CONFIG}}}.\n\nException encountered: "
            f"Error when deserializing class 'B' using config={{{CONFIG}}}.\n\nException encountered: No file.",
            "'B'",
            "No file",
        ),
        (
            "Exception encountered when calling L.call().\n\n\x1b[1mToo wide\x1b[0m\n\nArguments received by L.call():\n  • x=1",
            "L.call()",
            "Too wide",
        ),
        (f"No class 'A' in {{{CONFIG}}}: too old.", "'A'", "too old"),
    ],
)
def test_the_cause_comes_before_a_configuration(text, about, cause):
    found = gist(RuntimeError(text))
    assert about in found and found.endswith(cause) and "setting_1" not in found and "\x1b" not in found
