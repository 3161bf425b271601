"""What a module of this project imports, and which tests are nearest to a change; see `definitions` for what a recorded answer rests on."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PACKAGES = ("stethoscope", "dashboard", "pages", "sample_models", "benchmarks", "tools", "tests")
_FROM = re.compile(r"^[ \t]*from ([\w.]+) import (?:\(([^)]*)\)|([^\n]*))", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import ([\w., ]+)", re.MULTILINE)
_DISCOVERS = re.compile(r"\bdiscover\(sys\.modules\[__name__\]")


@functools.cache
def path_of(module: str, root: Path = PROJECT) -> Path | None:
    """The file of a module of this project, or of its state in `root`; None for anything else."""
    if module.split(".")[0] not in PACKAGES:
        return None
    place = root.joinpath(*module.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def name_of(path: Path, root: Path = PROJECT) -> str:
    """The module that a file of this project is."""
    parts = path.resolve().relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imports_of(module: str, root: Path = PROJECT) -> frozenset[str]:
    """The modules of this project that a module imports, also inside its functions.

    The packages above it are run when it is imported; a package that finds its modules by looking imports all of them.
    """
    path = path_of(module, root)
    if path is None:
        return frozenset()
    text = path.read_text("utf-8")
    found: set[str] = set()
    for package, several, one in _FROM.findall(text):
        names = (word.split()[0] for word in (several or one.split("#")[0]).split(",") if word.strip())
        found |= {package} | {f"{package}.{name}" for name in names}
    for names in _IMPORT.findall(text):
        found |= {word.split()[0] for word in names.split(",") if word.strip()}
    if _DISCOVERS.search(text):
        found |= {f"{module}.{beside.stem}" for beside in path.parent.glob("*.py")}
    parents = module.split(".")
    found |= {".".join(parents[:depth]) for depth in range(1, len(parents))}
    return frozenset(name for name in found - {module} if path_of(name, root))


def nearest_tests(changed: Iterable[Path], root: Path = PROJECT) -> dict[Path, int]:
    """Test files by their distance from what changed, the nearest first.

    0: the test itself changed; 1: it is named after a module that did; 2: it imports one; 3: it imports what imports one.
    """
    paths = [path for path in changed if path.relative_to(root).parts[0] in PACKAGES]
    modules = {name_of(path, root) for path in paths}
    ranks: dict[Path, int] = {}
    for test in sorted((root / "tests").rglob("test_*.py")):
        imported = imports_of(name_of(test, root), root)
        if test in paths:
            ranks[test] = 0
        elif any(_mirrors(test, module) for module in modules):
            ranks[test] = 1
        elif imported & modules:
            ranks[test] = 2
        elif any(imports_of(one, root) & modules for one in imported if not one.startswith("tests")):
            ranks[test] = 3
    return dict(sorted(ranks.items(), key=lambda item: item[1]))


def _mirrors(test: Path, module: str) -> bool:
    """Whether a test is named after a module: tests/room/test_thing.py; pages are named by their numbers, and found by looking."""
    *rooms, name = module.split(".")
    if rooms == ["pages"] and test.stem in ("test_pages", "test_navigation"):
        return True
    return test.stem == f"test_{name}" and (test.parent.name in (*rooms, "tests"))
