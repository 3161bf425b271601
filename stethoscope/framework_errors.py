"""The one line of a framework's error message that says what happened.

Tells an out-of-memory error from any other, whichever framework raised it, and reads the tensor's shape from it.

Source: messages of TensorFlow 2.21 (ResourceExhaustedError), numpy 2 (_ArrayMemoryError), onnxruntime 1.31 (BFCArena,
"Failed to allocate memory for requested buffer"), oneDNN ("could not create a memory object"; status 1 is dnnl_out_of_memory), libstdc++ (bad_alloc).

What a job says when memory ran out for it: for which tensor, in which phase, at whose limit, and what would fit.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Literal

from stethoscope.codec import fitting
from stethoscope.errors import OutOfMemory
from stethoscope.types import JobResult, Shape

_NOISE = re.compile(
    r"^(in user code|Graph execution error|Detected at node|Traceback|File \"|Arguments received|Call arguments|\[Op:|"
    r"The above exception|During handling|Original stack trace|Stack trace|node .* defined at|defined at \(most recent"
    r"|\d+ successful operations|\d+ derived errors|[~^\s]+$|•|<tf\.|return |Encountered error)"
)
_TELLING = re.compile(r"\b[A-Z][A-Za-z]+(Error|Exception)\b: ?|\b[A-Z]{3,}(_[A-Z]+)+\b: ?")
_NODE = re.compile(r"^\{\{(function_)?node [^}]*\}\}\s*")
_COUNTED = re.compile(r"^\(\d+\) \w+: ")
_TAIL = re.compile(r"\s*(\[\[?\{\{node .*|\[Op:[^\]]*\].*|\(defined at .*)$")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_ENCOUNTERED = "Exception encountered: "
_CALLING = "Exception encountered when calling "
_AFTER_WHAT = re.compile(r" using config=|\. ")
_DUMP = re.compile(r"\{[^{}]*\}|\[[^\[\]]{60,}\]")
MAX_CHARACTERS = 300


def gist(error: BaseException) -> str:
    """Returns the most telling line of an error's text, without stack frames, at most 300 characters, on one line.

    Where Keras says what it was about and then why, both are told; a configuration that it prints in between is not.
    """
    text = _COLOUR.sub("", str(getattr(error, "message", "") or error))
    lines = [_NODE.sub("", line.strip()) for line in text.splitlines()]
    before_node = [first for first, second in itertools.pairwise(lines) if second.startswith("[[{{node")]
    useful = [line for line in lines if line and not _NOISE.match(line)]
    telling = [line for line in useful if _TELLING.search(line)]
    line = (before_node or _why(useful) or telling or useful or [type(error).__name__])[0]
    if _CALLING in line and line in useful[:-1]:
        line = f"{line.rstrip('.')}: {useful[useful.index(line) + 1]}"
    line = _COUNTED.sub("", _TAIL.sub("", line)).strip().rstrip(".:;, ")
    if not line:
        return type(error).__name__
    line = _without_dumps(line)
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1] + "…"


def _why(lines: list[str]) -> list[str]:
    """What could not be made of its configuration, and why: the innermost of several; nothing where no line says so."""
    told = [line for line in lines if line.startswith(_ENCOUNTERED)]
    if not told:
        return []
    about = (told[-2] if len(told) > 1 else lines[0]).removeprefix(_ENCOUNTERED)
    return [f"{_AFTER_WHAT.split(about)[0].rstrip('.')}: {told[-1].removeprefix(_ENCOUNTERED)}"]


def _without_dumps(line: str) -> str:
    """A line that is too long without what stands in braces, and long lists: the cause may come after them."""
    for _ in range(20):
        if len(line) <= MAX_CHARACTERS or not _DUMP.search(line):
            break
        line = _DUMP.sub("…", line)
    return line


_SIGNS = re.compile(
    r"OOM when allocating|Out of memory|failed to allocate|unable to allocate|cannot allocate memory|bad_alloc|"
    r"could not create a memory|Status: 1, message: could not (?:execute|create) a primitive|Resource exhausted|RESOURCE_EXHAUSTED|memory allocation failed|std::length_error",
    re.IGNORECASE,
)
_SHAPE = re.compile(r"shape\s*[\[(]\s*([\d,\s]+?)\s*[\])]")
_OPERATOR = re.compile(r"Name:\s*'([^']+)'|\{\{node ([^}]+)\}\}|\[\[node ([^\s\]]+)")
_SIZE = re.compile(r"(?:buffer of size|allocate|allocating)\D{0,12}(\d{5,})")


@dataclass(frozen=True)
class Cause:
    """What could not be allocated, as far as the message says."""

    sentence: str
    tensor_shape: list[int] | None
    requested_bytes: int | None
    operator: str
    """The operator that asked for it, as the framework names it; "" when the message does not say."""


def explain(error: BaseException) -> Cause | None:
    """Returns the cause when `error` means that memory ran out, else None."""
    seen: BaseException | None = error
    found: Cause | None = None
    while seen is not None:
        if isinstance(seen, OutOfMemory):
            found = found or _cause(str(seen))  # what lies behind it says more
        elif isinstance(seen, MemoryError) or type(seen).__name__ == "ResourceExhaustedError" or mentions(str(seen)):
            return _cause(str(seen))
        seen = seen.__cause__ or seen.__context__
    return found


def let_through(error: BaseException) -> None:
    """Raises what says that memory ran out once more, where any other error is an answer: of a model, a layer, a trial.

    Raises:
        BaseException: `error` itself.
    """
    if explain(error) is not None:
        raise error


def mentions(text: str) -> bool:
    """Whether a message or log says that memory ran out."""
    return _SIGNS.search(text) is not None


def _cause(text: str) -> Cause:
    shape, size, named = _SHAPE.search(text), _SIZE.search(text), _OPERATOR.search(text)
    operator = next((group for group in named.groups() if group), "") if named else ""
    where = f" in operator {operator}" if operator else ""
    dimensions = [int(part) for part in shape.group(1).replace(" ", "").split(",") if part] if shape else None
    if dimensions:
        sentence = f"memory ran out while allocating a tensor of shape {dimensions}{where}."
    elif size:
        sentence = f"memory ran out while allocating {int(size.group(1)):,} bytes{where}."
    else:
        sentence = f"memory ran out{where}."
    return Cause(sentence, dimensions, int(size.group(1)) if size else None, operator)


Mechanism = Literal["limit", "kill", "host"]
"""The job's own limit; a kill from outside, as the kernel's when memory runs out; the machine's memory."""


@dataclass(frozen=True)
class BatchInterval:
    """Where the largest batch that fits lies, in rows."""

    low: int
    high: int


@dataclass(frozen=True)
class HostAccount:
    """Who had the machine's memory; all but `other_jobs` in bytes."""

    available_bytes: int
    floor_bytes: int
    """Kept free: below so much available memory a job is ended."""
    usable_bytes: int
    this_job_bytes: int
    other_jobs: int
    """How many more were running."""
    other_jobs_bytes: int
    app_bytes: int
    """The app and its worker servers."""
    rest_bytes: int
    """Other programs."""


@dataclass(frozen=True)
class Change:
    """A setting to change."""

    setting: str
    to: int | None
    """None where no number can be told."""


@dataclass(frozen=True)
class ShortageReport:
    """The report under "oom" of a job's answer. A worker gives what it knows; the parent fills in the rest."""

    tensor_shape: Shape | None = None
    tensor_bytes: int | None = None
    operator: str = ""
    tensor_from: Literal["error", "expected"] | None = None
    """Whether the framework named the tensor, or it is the largest one expected in this phase."""
    weight_bytes: int | None = None
    """Of a model whose weights alone are too much."""
    mechanism: Mechanism | None = None
    """None while nothing has run out."""
    certain: bool = True
    """Whether memory is known to be the cause; False for a death that may have another."""
    phase: str = ""
    peak_bytes: int = 0
    limit_bytes: int = 0
    batch_size: int | None = None
    largest_batch_estimate: BatchInterval | None = None
    largest_samples_estimate: int | None = None
    """Rows that are expected to fit with their outputs, in batches of this size; None where they are not the trouble."""
    advice: str = ""
    change: tuple[Change, ...] = ()
    host: HostAccount | None = None
    """Where the machine ran out."""


def named_by(cause: Cause, batch_size: int | None = None) -> ShortageReport:
    """What a worker knows from the framework's message."""
    shape = None if cause.tensor_shape is None else tuple(cause.tensor_shape)
    return ShortageReport(tensor_shape=shape, operator=cause.operator, batch_size=batch_size)


def shortage_of(result: JobResult) -> ShortageReport | None:
    """The report of a job that memory ran out for; None without one."""
    return fitting(ShortageReport, result.value["oom"]) if result.value.get("oom") else None
