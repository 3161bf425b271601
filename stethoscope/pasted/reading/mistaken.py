"""A model, a script or a notebook given where a message belongs: said with the command that takes it."""

from __future__ import annotations

import json
import re
from pathlib import PurePath

from stethoscope.errors import BadInput

_MODELS = {".keras", ".h5", ".hdf5", ".tflite", ".onnx", ".pb", ".safetensors", ".pt", ".pth"}
_SCRIPTS = {".py", ".ipynb"}
_MAGIC = (b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"\x1f\x8b", b"\x89PNG", b"\x80\x02", b"\x80\x04")
_LOOKED_AT = 65_536
_PROGRAM = re.compile(rb"^(?:import [\w.]+|from [\w.]+ import |def \w+\(|class \w+[(:]|if __name__ == )", re.MULTILINE)
_COMPLAINS = re.compile(
    rb"^\S{0,80}(?:Error|Exception|Warning)\b|Traceback|^\s{0,8}File \"|^Killed|error:|\bE0000\b|^[IWEF]\d{4} ",
    re.MULTILINE,
)


def check_is_message(given: bytes, name: str = "") -> None:
    """Lets text pass that may be a message.

    Raises:
        BadInput: it is a model or a program; its text names the command for it.
    """
    called = name or "standard input"
    suffix = PurePath(name).suffix.lower()
    start = given[:_LOOKED_AT]
    binary = start.startswith(_MAGIC) or start[4:8] == b"TFL3" or b"\x00" in start[:4_096]
    if suffix in _MODELS or (binary and not _utf16(start)):
        raise BadInput(
            f"{called}: expected an error message as text, got a file like a model. For a model: stethoscope describe "
            f"{name or 'MODEL'}, or stethoscope check {name or 'MODEL'}."
        )
    if suffix in _SCRIPTS or _is_notebook(start) or (len(_PROGRAM.findall(start)) > 2 and not _COMPLAINS.search(start)):
        raise BadInput(
            f"{called}: expected an error message, got a program. For a script or a notebook: stethoscope check "
            f"{name or 'train.py'}. To explain what it ends with: python {name or 'train.py'} 2>&1 | stethoscope explain."
        )


def _utf16(start: bytes) -> bool:
    return start[:2] in (b"\xff\xfe", b"\xfe\xff")


def _is_notebook(start: bytes) -> bool:
    head = start.lstrip()[:2_000]
    if not head.startswith(b"{") or b'"cells"' not in head:
        return False
    try:
        return isinstance(json.loads(start), dict)
    except (ValueError, RecursionError):
        return b'"cell_type"' in start
