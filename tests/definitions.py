"""What a definition of this project rests on: the functions, classes and constants that may run when it does.

Read from the syntax, without docstrings, comments and layout, and without the place of a module: a thing that is moved to
another file is the same thing. Whatever could be reached in a way that is not read here is taken whole: a package that finds
its modules by looking, a module that is handed on as an object, a name that a module does not define, what happens while a
module is imported. Names that a function binds itself are its own, and what is taken of another module counts the same
whether it is written with the module in front or without.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stethoscope.discover import plural
from tests import scopes
from tests.sources import PACKAGES, PROJECT, path_of

Node = tuple[str, str]
"""A module and the name of something in it.

`IMPORTED` for what happens while it is imported, `TEXT` for its docstring, `WHOLE` for all of it.
"""
IMPORTED, TEXT, WHOLE = "<imported>", "<text>", "<whole>"
_MODULE = re.compile(rf"\b(?:{'|'.join(PACKAGES)})(?:\.\w+)+\b")
_CACHE = PROJECT / ".pytest_cache" / "definitions.json"
_new: set[str] = set()
"""Modules that were read in this run."""
_LOOKS_AROUND = {"__subclasses__", "globals", "vars", "__getattr__"}
_PLAIN_DECORATORS = {
    "dataclass",
    "dataclasses",
    "contextmanager",
    "contextlib",
    "cache",
    "functools",
    "lru_cache",
    "runtime_checkable",
    "final",
    "overload",
}
"""Decorators that tell nobody else of what they decorate."""


@dataclass(frozen=True)
class Definition:
    """A statement of a module, as read.

    Attributes:
        digest: changes with what it does.
        bare: names that it uses as they are.
        dotted: (name, attribute) of each name that it asks for an attribute.
        around: whether it looks at the modules or names beside it.
        sought: the names that it has `discover` look for in those modules; where it looks around otherwise, there are none.
    """

    digest: str
    bare: list[str]
    dotted: list[tuple[str, str]]
    around: bool
    sought: list[str]


@dataclass(frozen=True)
class Module:
    """What a module defines, by name; what it imports, as (module, name) by the name it has here."""

    definitions: dict[str, list[Definition]]
    imports: dict[str, list[tuple[str, str]]]
    text: str
    """The digest of its docstring."""


def fingerprint(modules: Iterable[str], *, sought: Iterable[Node] = (), closed: Iterable[str] = ()) -> str:
    """Changes with those modules, with what is sought in others, and with all that they rest on.

    The `closed` modules do not look at the modules beside them.
    """
    nodes = reached([*((module, WHOLE) for module in modules), *sought], closed=closed)
    lines = {_line(node, frozenset(closed)) for node in nodes}
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def reached(nodes: Iterable[Node], *, closed: Iterable[str] = ()) -> frozenset[Node]:
    """Those definitions and all that they rest on."""
    seen, waiting, shut = set[Node](), list(nodes), frozenset(closed)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += _rests_on(node, shut)
    return frozenset(seen)


@functools.cache
def _line(node: Node, closed: frozenset[str]) -> str:
    """A definition with the names it uses, each with what it stands for here."""
    return f"{_digest(node)} {' '.join(sorted({_digest(other) for other in _rests_on(node, closed)}))}"


@functools.cache
def _digest(node: Node) -> str:
    module, name = node
    read = _module(module)
    parts = [read.text] if name in (TEXT, WHOLE) else []
    return hashlib.sha256(" ".join([*parts, *(one.digest for one in _parts(node))]).encode()).hexdigest()[:20]


def _parts(node: Node) -> list[Definition]:
    return _module(node[0]).definitions.get(node[1], [])


@functools.cache
def _rests_on(node: Node, closed: frozenset[str]) -> tuple[Node, ...]:
    module, name = node
    read, found = _module(module), set[Node]()
    if name == WHOLE:
        found |= {(module, one) for one in read.definitions}
    packages = module.split(".")
    found |= {(".".join(packages[:depth]), IMPORTED) for depth in range(1, len(packages) + 1)}
    for part in _parts(node):
        if part.sought and module not in closed:
            found |= {
                node
                for beside in _beside(module)
                for name in _names(beside) & set(part.sought)
                for node in [(beside, TEXT), (beside, IMPORTED), *_defined(beside, name)]
            }
        elif part.around and module not in closed:
            found |= {(module, WHOLE)} | {(beside, WHOLE) for beside in _beside(module)}
        for used in part.bare:
            found |= _meant(module, used, "")
        for used, attribute in part.dotted:
            found |= _meant(module, used, attribute)
    return tuple(sorted(found - {node}))


def _beside(module: str) -> Iterator[str]:
    """The modules of a package."""
    path = path_of(module)
    if path is not None and path.name == "__init__.py":
        yield from (f"{module}.{one.stem}" for one in path.parent.glob("*.py") if one.name != "__init__.py")


def _names(module: str) -> set[str]:
    read = _module(module)
    return {*read.definitions, *read.imports}


def _meant(module: str, name: str, attribute: str) -> set[Node]:
    """What a name stands for in a module; with the attribute that it is asked for, where it may be a module itself."""
    read = _module(module)
    found: set[Node] = {(module, name)} if name in read.definitions else set()
    for place, original in read.imports.get(name, ()):
        inner = f"{place}.{original}" if original else place
        if path_of(inner) and not (original and original in _module(place).definitions):
            if attribute:
                found |= (
                    {(f"{inner}.{attribute}", WHOLE)} if path_of(f"{inner}.{attribute}") else _defined(inner, attribute)
                )
            else:
                found |= {(inner, WHOLE)} | {(beside, WHOLE) for beside in _beside(inner)}
        elif path_of(place):
            found |= _defined(place, original)
    return found


def _defined(module: str, name: str) -> set[Node]:
    """Where a name that is imported from a module is defined; all of the module if that cannot be told."""
    read = _module(module)
    if name in read.definitions:
        return {(module, name)}
    return _meant(module, name, "") if name in read.imports else {(module, WHOLE)}


@functools.cache
def _module(module: str) -> Module:
    path = path_of(module)
    if path is None:
        return Module({}, {}, "")
    content = path.read_bytes()
    state = hashlib.sha256(content).hexdigest()
    kept = _cache().get(module)
    if kept is None or kept["state"] != state:
        kept = _cache()[module] = asdict(_read(ast.parse(content), module)) | {"state": state}
        _new.add(module)
    definitions = {name: [Definition(**one) for one in several] for name, several in kept["definitions"].items()}
    return Module(
        definitions, {name: [tuple(one) for one in places] for name, places in kept["imports"].items()}, kept["text"]
    )


@functools.cache
def _cache() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(_CACHE.read_text("utf-8"))
        if kept.pop("reader", None) == _reader():
            return dict(kept)
    return {}


@functools.cache
def _reader() -> str:
    readers = (Path(__file__), Path(scopes.__file__))
    return hashlib.sha256(b"".join(path.read_bytes() for path in readers)).hexdigest()


def keep() -> None:
    """Keeps what was read for the next run."""
    if not _new:
        return
    with contextlib.suppress(OSError):
        _CACHE.parent.mkdir(exist_ok=True)
        written = _CACHE.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(_cache() | {"reader": _reader()}), "utf-8")
        written.replace(_CACHE)


def _read(tree: ast.Module, module: str) -> Module:
    definitions: dict[str, list[Definition]] = {}
    text = ast.get_docstring(tree) or ""
    body = [node for node in tree.body if not _is_for_types(node)]
    imports: dict[str, list[tuple[str, str]]] = {}
    for node in body:
        for part in ast.walk(node):
            for name, place in _imported(part, module):
                imports.setdefault(name, []).append(place)
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_text(node):
            continue
        read = _definition(node, imports)
        names = _names_of(node)
        for name in [*names, *([] if names and not _tells_others(node) else [IMPORTED])]:
            definitions.setdefault(name, []).append(read)
    return Module(definitions, imports, hashlib.sha256(_placeless(text).encode()).hexdigest()[:20])


def _placeless(text: str) -> str:
    """A text that names a module of this project, with its last name only."""
    return _MODULE.sub(lambda match: match[0].rpartition(".")[2], text)


def _is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imported(node: ast.AST, module: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """(the name here, (module, the name there)) of what a statement imports; "" there for a module itself."""
    if isinstance(node, ast.ImportFrom):
        assert not node.level, f"{module}: imports are absolute"
        yield from ((one.asname or one.name, (node.module or "", one.name)) for one in node.names)
    elif isinstance(node, ast.Import):
        yield from ((one.asname or one.name.split(".")[0], (one.name, "")) for one in node.names)


def _names_of(node: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, ast.AugAssign):
        return []
    names, defined = scopes.module_names(node)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return defined
    return sorted({*(name.id for name in names if isinstance(name.ctx, ast.Store)), *defined})


def _tells_others(node: ast.stmt) -> bool:
    """Whether a definition does something while its module is imported, besides defining its names."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        roots = {part.id for one in node.decorator_list for part in ast.walk(one) if isinstance(part, ast.Name)}
        return bool(node.decorator_list) and not (roots & _PLAIN_DECORATORS)
    return not isinstance(node, (ast.Assign, ast.AnnAssign)) or any(
        isinstance(target, (ast.Subscript, ast.Attribute)) for target in getattr(node, "targets", [])
    )


def _definition(node: ast.stmt, imports: dict[str, list[tuple[str, str]]]) -> Definition:
    names, _ = scopes.module_names(node)
    own = {id(name) for name in names}
    attributes = [part for part in ast.walk(node) if isinstance(part, ast.Attribute) and id(part.value) in own]
    dotted = {(part.value.id, part.attr) for part in attributes if isinstance(part.value, ast.Name)}
    values = {id(part.value) for part in attributes}
    bare = {name.id for name in names if id(name) not in values}
    bare |= {
        name
        for part in ast.walk(node)
        for name, _ in _imported(part, "")
        if isinstance(part, (ast.Import, ast.ImportFrom))
    }
    looks = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)} | bare
    around = bool(looks & _LOOKS_AROUND) or ("sys", "modules") in dotted
    sought = [
        name
        for part in ast.walk(node)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "discover"
        for argument in part.args[1:2]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        for name in (argument.value, plural(argument.value))
    ]
    digest = hashlib.sha256(ast.dump(_Plain(node, names, imports).visit(node)).encode()).hexdigest()[:20]
    return Definition(digest, sorted(bare), sorted(dotted), around, sought)


class _Plain(ast.NodeTransformer):
    """Leaves docstrings out, where in this project something is, and by which name it was imported."""

    def __init__(self, node: ast.stmt, names: list[ast.Name], imports: dict[str, list[tuple[str, str]]]) -> None:
        self._own = {id(name) for name in names}
        self._modules, self._originals = dict[str, str](), dict[str, str]()
        for name, places in imports.items():
            place, original = places[0]
            if len(places) == 1 and original and place.split(".")[0] in PACKAGES:
                if path_of(f"{place}.{original}"):
                    self._modules[name] = f"{place}.{original}"
                else:
                    self._originals[name] = original
        self._taken = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        self._taken |= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        self._homes: dict[str, set[str]] = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and (module := self._module(part.value)):
                self._homes.setdefault(part.attr, set()).add(module)

    def _module(self, node: ast.AST) -> str:
        """The module of this project that an expression is, where it is written as a name that was imported."""
        return self._modules.get(node.id, "") if isinstance(node, ast.Name) and id(node) in self._own else ""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        module = self._module(node.value)
        if not module:
            return self.generic_visit(node)
        if len(self._homes[node.attr]) > 1:
            return ast.Name(f"{module.rpartition('.')[2]}.{node.attr}", node.ctx)
        return ast.Name(f".{node.attr}" if node.attr in self._taken else node.attr, node.ctx)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._originals.get(node.id, node.id), node.ctx) if id(node) in self._own else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if _is_text(node) else self.generic_visit(node)

    def visit_Pass(self, node: ast.Pass) -> ast.AST | None:
        """A body that is empty without it stays as empty."""
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if (node.module or "").split(".")[0] in PACKAGES else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            node.value = _placeless(node.value)
        return node
