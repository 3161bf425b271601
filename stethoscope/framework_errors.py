"""The one line of a framework's error message that says what happened."""

from __future__ import annotations

import itertools
import re

_NOISE = re.compile(
    r"^(in user code|Graph execution error|Detected at node|Traceback|File \"|Arguments received|Call arguments|\[Op:|"
    r"The above exception|During handling|Original stack trace|Stack trace|node .* defined at|defined at \(most recent"
    r"|\d+ successful operations|\d+ derived errors|[~^\s]+$|•|<tf\.|return |Encountered error)"
)
_TELLING = re.compile(r"\b[A-Z][A-Za-z]+(Error|Exception)\b: ?|\b[A-Z]{3,}(_[A-Z]+)+\b: ?")
_NODE = re.compile(r"^\{\{(function_)?node [^}]*\}\}\s*")
_COUNTED = re.compile(r"^\(\d+\) \w+: ")
_TAIL = re.compile(r"\s*(\[\[?\{\{node .*|\[Op:[^\]]*\].*|\(defined at .*)$")
MAX_CHARACTERS = 300


def gist(error: BaseException) -> str:
    """Returns the most telling line of an error's text, without stack frames, at most 300 characters, on one line."""
    text = str(getattr(error, "message", "") or error)
    lines = [_NODE.sub("", line.strip()) for line in text.splitlines()]
    before_node = [first for first, second in itertools.pairwise(lines) if second.startswith("[[{{node")]
    useful = [line for line in lines if line and not _NOISE.match(line)]
    telling = [line for line in useful if _TELLING.search(line)]
    line = (before_node or telling or useful or [type(error).__name__])[0]
    line = _COUNTED.sub("", _TAIL.sub("", line)).strip().rstrip(".:;, ")
    if not line:
        return type(error).__name__
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1] + "…"
