"""The one line of a framework's error message that says what happened."""

from __future__ import annotations

import re

_NOISE = re.compile(
    r"^(in user code|Graph execution error|Detected at node|Traceback|File \"|Arguments received|Call arguments|\[Op:|"
    r"The above exception|During handling|Original stack trace|Stack trace|node .* defined at|defined at \(most recent"
    r"|\d+ successful operations|\d+ derived errors|[~^\s]+$|•|<tf\.|return |Encountered error)",
)
_TELLING = re.compile(r"\b[A-Z][A-Za-z]+(Error|Exception)\b: ?|\b[A-Z]{3,}(_[A-Z]+)+\b: ?")
_TAIL = re.compile(r"\s*(\[\[?\{\{node .*|\[Op:[^\]]*\].*|\(defined at .*)$")
MAX_CHARACTERS = 300


def gist(error: BaseException) -> str:
    """Returns the most telling line of an error's text, without stack frames, at most 300 characters, on one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    useful = [line for line in lines if line and not _NOISE.match(line)]
    telling = [line for line in useful if _TELLING.search(line)]
    line = (telling or useful or [type(error).__name__])[0]
    line = _TAIL.sub("", line).removeprefix("(0) ").strip().rstrip(".:;, ")
    if not line:
        return type(error).__name__
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1] + "…"
