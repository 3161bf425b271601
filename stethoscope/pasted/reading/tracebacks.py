"""Tracebacks in a text: of Python, of notebooks, of graphs (“Detected at node”), chained, and cut off at either end.

Each is an exception with the frames that led to it; the user's own frame is the last one that no library wrote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BEGINS = "Traceback (most recent call last)"
_HEAD = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60}(?:Error|Exception|Exhausted|Interrupt|Failure))"
    r"(?: \(see above for traceback\))?(?::(?= |$)|$)"
)
_AFTER_FRAMES = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60})(?: \(see above for traceback\))?(?::(?= |$)|$)"
)
_CHAIN = ("The above exception was the direct cause", "During handling of the above exception")
_LOG = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:|[IWEF]\d{4} \d\d:|(?:INFO|WARNING|ERROR|DEBUG)[: ]|Epoch \d|\$ |>>> |In \[\d|\[\s{0,8}\d{1,9}\.\d{3,9}\] "
)
_CUT_OFF = 200
"""Lines that are looked at before an exception whose “Traceback” is missing."""
_NUMBER = r"(?P<line>\d{1,9})"
_FRAMES = tuple(
    re.compile(pattern)
    for pattern in (
        rf'\s{{0,16}}File "(?P<file>[^"]{{1,400}})", line {_NUMBER}(?:, in (?P<function>.{{1,200}}))?$',
        rf"\s{{0,16}}File (?P<file>[^\s\"](?:[^\"\n]{{0,398}}?)):{_NUMBER}(?:, in (?P<function>[^\n]{{1,200}}))?$",
        rf"(?P<file>(?:Cell )?In ?\[\d{{1,6}}\]), line {_NUMBER}(?:, in (?P<function>[^\n]{{1,200}}))?$",
        rf"(?P<file>(?:Cell )?In ?\[\d{{1,6}}\]), line {_NUMBER}\b",
        r"(?P<file>(?:Cell |Input )?In ?\[\d{1,6}\]), in (?P<function>[^\n]{1,200})$",
        rf"\s{{0,16}}\[?(?P<file>(?:[A-Za-z]:)?[^\s:\]]{{1,300}}\.pyx?)\]?(?:\([^)\n]{{0,200}}\))?:{_NUMBER} (?P<function>[\w<>.]{{1,100}})\b",
        r"\s{0,4}\[?(?P<file>(?:<ipython-input-[\w-]{1,60}>|<command-\d{1,24}>|(?:[A-Za-z]:)?[^\s\]]{1,300}\.pyx?))\]?"
        r"(?:\([^)\n]{0,200}\))? in (?P<function>[^\n]{1,200})$",
    )
)
_ARROW = re.compile(r"-{1,6}> {0,4}(?P<line>\d{1,9})\b ?(?P<code>.{0,300})")
_LIBRARY = re.compile(
    r"site-packages|dist-packages|[/\\]lib[/\\]python\d|[/\\]Lib[/\\](?!.*project)|Python\.framework|\.egg\b|<frozen |^<string>$|"
    r"__autograph_generated|tensorflow_core|[/\\]keras[/\\](?:src|engine|utils|models|layers|backend|saving|callbacks)\b|keras_core[/\\]|tf_keras[/\\]src|"
    r"tensorflow[/\\](?:python|lite|_api)|\.pyx$|ipykernel|IPython[/\\]|runpy|importlib|<__array_function__|_pywrap|[/\\]onnxruntime[/\\]capi|"
    r"^(?:h5py|pandas|numpy)[/\\]|threading\.py$|multiprocessing[/\\]"
)


@dataclass(frozen=True)
class Frame:
    """One place of a traceback."""

    file: str
    line: int | None
    function: str
    code: str

    @property
    def of_a_library(self) -> bool:
        """Whether somebody else than the user wrote it."""
        return _LIBRARY.search(self.file) is not None


@dataclass(frozen=True)
class Raised:
    """An exception with its frames.

    Attributes:
        type: its class, without the module.
        head: the number of the line that names it.
        start: the first of its lines, a traceback's beginning.
        end: one after its last line.
        frames: most recent call last.
        chained: whether a later one was raised because of it, or while it was handled.
    """

    type: str
    head: int
    start: int
    end: int
    frames: tuple[Frame, ...]
    chained: bool = False


def own_frame(frames: Sequence[Frame]) -> Frame | None:
    """The last frame that no library wrote."""
    return next((frame for frame in reversed(frames) if not frame.of_a_library), None)


_PACKAGE = re.compile(r"(?:site|dist)-packages[/\\](?P<name>\w{1,60})")
_OURS = re.compile(
    r"(?:tensor|tf|keras|numpy|pandas|h5py|sklearn|scipy|transformers|onnx|ai_edge|google|PIL|matplotlib|absl|object_detection|IPython|official)"
)


def of_another_library(frames: Sequence[Frame]) -> bool:
    """Whether the last frame is of a package that has nothing to do with TensorFlow, and no other frame has."""
    names = [match["name"] for frame in frames if (match := _PACKAGE.search(frame.file))]
    return bool(names) and frames[-1].of_a_library and not any(_OURS.match(name) for name in names)


def exceptions(lines: Sequence[str]) -> tuple[Raised, ...]:
    """Every exception of a text, in its order."""
    heads = _heads(lines)
    found = list[Raised]()
    for number, (start, head, kind) in enumerate(heads):
        until = heads[number + 1][0] if number + 1 < len(heads) else len(lines)
        end = next((at for at in range(head + 1, until) if _LOG.match(lines[at])), until)
        chained = number + 1 < len(heads) and any(
            line.lstrip().startswith(_CHAIN) for line in lines[head : heads[number + 1][1]]
        )
        found.append(Raised(kind.rpartition(".")[2], head, start, end, tuple(frames(lines[start:end])), chained))
    return tuple(found)


def _heads(lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where each exception starts, the line that names it, and its class."""
    found, start, inside = list[tuple[int, int, str]](), 0, False
    begun = -1
    for at, line in enumerate(lines):
        if _BEGINS in line:
            begun, inside = at, True
            continue
        if not line or line[0] in " \t-~^|" or (head := _match(line, inside=inside)) is None:
            continue
        start = begun if begun >= 0 else _without_beginning(lines, at, found[-1][1] + 1 if found else 0)
        found.append((start, at, head))
        begun, inside = -1, False
    return found


def _without_beginning(lines: Sequence[str], head: int, earliest: int) -> int:
    """Where the frames begin that lead to a line, if their “Traceback” was not copied with them."""
    first = head
    for at in range(head - 1, max(earliest, head - _CUT_OFF) - 1, -1):
        if _LOG.match(lines[at]):
            break
        if _is_frame(lines[at][:700]):
            first = at
    return first


def _match(line: str, *, inside: bool) -> str | None:
    match = _HEAD.match(line) or (_AFTER_FRAMES.match(line) if inside and not _is_frame(line) else None)
    if match is None and "[ONNXRuntimeError]" in line[:200]:
        match = _AFTER_FRAMES.match(line)
    return match["type"] if match else None


def _may_be_frame(line: str) -> bool:
    """What stands in every frame, written out because each line of a text is asked."""
    return (
        ".py" in line
        or "File " in line
        or "In " in line
        or "In[" in line
        or "<ipython-input-" in line
        or "<command-" in line
    )


def _frame(line: str) -> re.Match[str] | None:
    if not _may_be_frame(line):
        return None
    return next((match for pattern in _FRAMES if (match := pattern.match(line))), None)


def _is_frame(line: str) -> bool:
    return _frame(line) is not None


def frames(lines: Sequence[str]) -> list[Frame]:
    """The frames among these lines, in their order."""
    found = list[Frame]()
    for at, line in enumerate(lines):
        match = _frame(line[:700])
        if match is not None:
            parts = match.groupdict()
            following = lines[at + 1].strip() if at + 1 < len(lines) and line.lstrip().startswith('File "') else ""
            number = parts.get("line")
            function = (parts.get("function") or "").partition("(")[0].strip(" *:")
            found.append(Frame(parts["file"], int(number) if number else None, function, following[:300]))
        elif found and (arrow := _ARROW.match(line.lstrip())) and not found[-1].code:
            last = found[-1]
            found[-1] = Frame(last.file, int(arrow["line"]), last.function, arrow["code"].strip())
    return found
