"""The line a user reads out of a framework's page of text."""

from __future__ import annotations

import pytest

from stethoscope.framework_errors import MAX_CHARACTERS, gist

GRAPH = """Graph execution error:

Detected at node embedding/Gather defined at (most recent call last):
  File "/usr/lib/python3/x.py", line 3, in <module>
indices[0,9] = -1 is not in [0, 200)
\t [[{{node embedding/Gather}}]] [Op:__inference_predict_12]"""


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
