"""Text from files, made safe to show: no Markdown, HTML, links, math, colours or icons ever come out of a name.

Streamlit's Markdown (also in labels) rewrites text after parsing: shortcodes, icons and bare addresses survive
backslashes. An invisible word joiner breaks those.
"""

from __future__ import annotations

import html
import re
import unicodedata

LIMIT = 120
"""Characters of a name shown at once; the middle of a longer one is left out."""
_JOINER = "\u2060"
_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$^=&\"'/%:@,;?])")
_REWRITTEN = re.compile(r":(?=[\w+\-/])|(?<=[A-Za-z0-9])@(?=\w)|(?i:www)(?=\.)|(?i:https?|ftp|mailto|xmpp)(?=:)")
_TYPOGRAPHY = re.compile(r"(?<=[<\-=>~])(?=[<\-=>~])")


def clip(text: object, limit: int = LIMIT) -> str:
    """Returns `text` on one line, control and direction characters made visible, at most `limit` characters."""
    line = "".join(_visible(character) for character in str(text)[: 4 * limit + 64])
    if len(line) <= limit and len(str(text)) <= 4 * limit + 64:
        return line
    head = (limit - 1) * 2 // 3
    return f"{line[:head]}…{line[len(line) - (limit - 1 - head) :]}"


def markdown(text: object, limit: int = LIMIT) -> str:
    """Escapes `text` for `st.markdown`, captions, labels and everything else that reads Markdown."""
    joined = _REWRITTEN.sub(lambda match: match.group(0) + _JOINER, clip(text, limit))
    joined = _TYPOGRAPHY.sub(_JOINER, joined)
    return _PUNCTUATION.sub(r"\\\1", joined)


def code(text: object, limit: int = LIMIT) -> str:
    """Returns `text` as a Markdown code span: for names that a reader may want to recognise letter by letter."""
    line = clip(text, limit)
    if not line.strip():
        return "(no name)"
    ticks = max((len(run) for run in re.findall(r"`+", line)), default=0) + 1
    fence = "`" * ticks
    pad = " " if line[0] in "` " or line[-1] in "` " else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def figure(text: object, limit: int = 48) -> str:
    """Escapes `text` for a Plotly label or hover, which read a subset of HTML and `%{…}` templates."""
    line = html.escape(clip(text, limit), quote=False)
    return line.replace("%{", f"%{_JOINER}{{").replace("$", f"${_JOINER}")


def sentences(text: object) -> str:
    """Escapes a longer message (an error, a warning) for Markdown, keeping its line breaks."""
    return "  \n".join(markdown(line, 1_000) for line in str(text)[:4_000].splitlines() if line.strip())


def file_name(text: object, fallback: str = "model") -> str:
    """Returns `text` as a plain file name for a download: letters, digits, dot, dash and underscore."""
    return re.sub(r"[^\w.\-]+", "_", clip(text, 80)).strip("._") or fallback


def _visible(character: str) -> str:
    if character in "\n\r\t":
        return " "
    if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}:
        return f"\\u{ord(character):04x}"
    return character
