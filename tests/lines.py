"""Marks which lines of the engine ran, in every process of a run: forks, sandboxes, processes that end by `os._exit`.

A byte for each statement lies in a map that all processes share; what a job runs is marked in a map of its own. Nothing is
written by the process that runs: what it marked is there however it ended, and a sandbox that may open no file marks all the same.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import importlib.abc
import importlib.machinery
import json
import mmap
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

PACKAGE = "stethoscope"
_MAP_SHARED, _MAP_FIXED, _MAP_FAILED = 1, 16, ctypes.c_void_p(-1).value
_RUNS_A_JOB = f"{PACKAGE}.jobs.worker.child"


@dataclass(frozen=True)
class Line:
    """A line of the engine on which a statement begins."""

    module: str
    number: int


def prepare(root: Path, folder: Path) -> None:
    """Lays out the map of all statements of the engine under `root`, none of them marked."""
    modules: dict[str, tuple[int, list[int]]] = {}
    size = 0
    for path in sorted((root / PACKAGE).rglob("*.py")):
        numbers = [statement.lineno for _, statement in _statements(ast.parse(path.read_bytes()))]
        modules[str(path)] = (size, numbers)
        size += len(numbers)
    size += -size % mmap.PAGESIZE
    (folder / "jobs").mkdir(parents=True)
    (folder / "marks").write_bytes(bytes(size))
    (folder / "map.json").write_text(json.dumps({"root": str(root), "size": size, "modules": modules}), "utf-8")


def install(folder: str) -> None:
    """From here on, modules of the engine mark what they run; nothing happens where the map is gone."""
    if not Path(folder, "map.json").exists():
        return
    read = json.loads(Path(folder, "map.json").read_text("utf-8"))
    with Path(folder, "marks").open("r+b") as file:
        marks = mmap.mmap(file.fileno(), read["size"])
    vars(builtins)["__marks__"] = marks
    sys.meta_path.insert(0, _Finder(Path(folder), read["modules"], marks))


def lines_of(folder: Path) -> dict[Line, list[int]]:
    """Each line of the engine with the places of its statements in a map."""
    read = json.loads((folder / "map.json").read_text("utf-8"))
    lines: dict[Line, list[int]] = {}
    for path, (offset, numbers) in read["modules"].items():
        module = str(Path(path).relative_to(read["root"]))
        for place, number in enumerate(numbers, offset):
            lines.setdefault(Line(module, number), []).append(place)
    return lines


def ran(lines: dict[Line, list[int]], *maps: Path) -> set[Line]:
    """The lines that are marked in any of these maps."""
    marked = {place for path in maps for place, byte in enumerate(path.read_bytes()) if byte}
    return {line for line, places in lines.items() if not marked.isdisjoint(places)}


def _statements(tree: ast.AST) -> Iterator[tuple[list[ast.stmt], ast.stmt]]:
    """Every statement but docstrings and imports from the future, with the block that it stands in."""
    for node in ast.walk(tree):
        for block in (getattr(node, field, None) for field in ("body", "orelse", "finalbody")):
            if isinstance(block, list):
                yield from ((block, one) for one in block if isinstance(one, ast.stmt) and not _is_no_statement(one))


def _is_no_statement(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return isinstance(node.value.value, str)
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, offset: int, jobs: _Jobs) -> None:
        super().__init__(name, path)
        self._offset, self._jobs = offset, jobs

    def get_code(self, fullname: str) -> CodeType:
        # Compiled each time: what is kept beside the source marks nothing.
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        places = {id(statement): place for place, (_, statement) in enumerate(_statements(tree), self._offset)}
        for block in {id(block): block for block, _ in _statements(tree)}.values():
            block[:] = [made for statement in block for made in _marked(statement, places.get(id(statement)))]
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        if module.__name__ == _RUNS_A_JOB:
            runs = module.run

            def run(folder: Path, *descriptors: int) -> None:
                self._jobs.begin(folder.name)
                runs(folder, *descriptors)

            vars(module)["run"] = run


def _marked(statement: ast.stmt, place: int | None) -> Iterable[ast.stmt]:
    if place is None:
        return (statement,)
    mark = ast.parse(f"__marks__[{place}] = 1").body[0]
    for node in ast.walk(mark):
        ast.copy_location(node, statement)
    return mark, statement


class _Jobs:
    """Gives a job a map of its own, at the address of the one that all share."""

    def __init__(self, folder: Path, marks: mmap.mmap) -> None:
        self._folder, self._size = folder / "jobs", len(marks)
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(marks))

    def begin(self, job_id: str) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        descriptor = os.open(self._folder / job_id, os.O_RDWR | os.O_CREAT)
        os.ftruncate(descriptor, self._size)
        access = mmap.PROT_READ | mmap.PROT_WRITE
        if libc.mmap(self._address, self._size, access, _MAP_SHARED | _MAP_FIXED, descriptor, 0) == _MAP_FAILED:
            raise OSError(ctypes.get_errno(), "no map for the lines of a job")
        os.close(descriptor)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, folder: Path, modules: dict[str, Any], marks: mmap.mmap) -> None:
        self._modules, self._jobs = modules, _Jobs(folder, marks)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] != PACKAGE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.origin in self._modules:
            spec.loader = _Loader(name, spec.origin, self._modules[spec.origin][0], self._jobs)
        return spec
