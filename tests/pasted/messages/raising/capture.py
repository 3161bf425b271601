"""Runs what raises, and keeps what a terminal would show, without the places of this machine."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.pasted.messages import raising

FOLDER = Path(__file__).parent
SPECIMENS = FOLDER.parent / "specimens"
ROOT = FOLDER.parents[3]
ALONE: set[str] = set()
"""Kinds that change or end their process."""


def alone(function: Callable[[Path], object]) -> Callable[[Path], object]:
    ALONE.add(function.__name__.replace("_", "-"))
    return function


def kinds() -> dict[str, Callable[[Path], object]]:
    """What raises each kind; it gets an empty folder."""
    found = {}
    for info in pkgutil.iter_modules(raising.__path__):
        if info.name.startswith("raise_"):
            module = importlib.import_module(f"{raising.__name__}.{info.name}")
            for name, function in inspect.getmembers(module, inspect.isfunction):
                if function.__module__ == module.__name__ and not name.startswith("_"):
                    found[name.replace("_", "-")] = function
    return found


def raised(kind: str) -> str:
    """The text that a kind leaves on the terminal."""
    if kind in ALONE:
        command = [sys.executable, "-m", "tests.pasted.messages.raising", "--here", kind]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, errors="replace")
        text = done.stdout + done.stderr
        if done.returncode < 0:
            text += {-9: "Killed\n", -6: "Aborted (core dumped)\n", -11: "Segmentation fault (core dumped)\n"}.get(
                done.returncode, ""
            )
        return _anywhere(text)
    return _anywhere(_captured(kinds()[kind]))


def _captured(function: Callable[[Path], object]) -> str:
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as kept, tempfile.TemporaryDirectory(prefix="pasted-") as folder:
        before, place = [os.dup(1), os.dup(2)], Path.cwd()
        os.dup2(kept.fileno(), 1)
        os.dup2(kept.fileno(), 2)
        os.chdir(folder)
        try:
            function(Path())
        except BaseException:
            sys.stdout.flush()
            sys.stderr.write(traceback.format_exc())
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os.chdir(place)
            for number, saved in zip((1, 2), before, strict=True):
                os.dup2(saved, number)
                os.close(saved)
        kept.seek(0)
        return kept.read().decode(errors="replace")


def _anywhere(text: str) -> str:
    """Without the capture's own frames, and with a place that is nobody's."""
    text = re.sub(r'  File "[^"]*raising/capture\.py", line \d+, in _captured\n    function\(Path\(\)\)\n', "", text)
    text = re.sub(r"\r+\n?|\x08+", "\n", text)
    text = text.replace(str(FOLDER), "/home/ada/project").replace(str(ROOT), "/home/ada")
    text = re.sub(r"/tmp/pasted-\w+", "/home/ada/project", text)
    return re.sub(r"/home/ada/\.venv", "/home/ada/venv", text)


def main(words: list[str]) -> int:
    if words[:1] == ["--here"]:
        sys.stdout.write(_captured(kinds()[words[1]]))
        sys.stdout.flush()
        return 0
    into = SPECIMENS
    if words[:1] == ["--into"]:
        into, words = Path(words[1]), words[2:]
    into.mkdir(exist_ok=True)
    for kind in words or kinds():
        (into / f"{kind}.txt").write_text(raised(kind), "utf-8")
    return 0
