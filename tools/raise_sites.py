"""Writes what the installed frameworks say when they raise: a table for messages that no kind of its own knows.

`python -m tools.raise_sites` reads the sources of the packages, runs none of them, and writes
`stethoscope/pasted/raised/sites.txt`: for each `raise` with a text, what raises it, the condition above it, and the text with the
expressions that stand in it. A test compares the two, so a new version of a package is noticed.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "stethoscope" / "pasted" / "raised" / "sites.txt"
_PACKAGES = {
    "keras": ("keras", "src"),
    "tf-keras": ("tf_keras", "src"),
    "tensorflow": ("tensorflow", "python", "lite/python"),
    "tf2onnx": ("tf2onnx", "."),
    "ai-edge-litert": ("ai_edge_litert", "."),
}
"""Distribution → the module, and its folders that users' calls end in."""
_LEFT_OUT = re.compile(
    r"_test\.py$|/tests?/|test_util|/testing/|_pb2\.py$|/tpu/ops/|/autograph/pyct/|/debug/|/tools/|/experimental/numpy|"
    r"/backend/(?:jax|torch|numpy|openvino)/|/gen_\w+\.py$|/dtensor/|/compiler/|/legacy/(?:examples|benchmarks)|/benchmarks?/"
)
_EXPORTS = {"keras_export", "tf_export", "keras_core_export"}
_LEAST_FIXED = 18
"""Characters that have to be the same in every such message, in one piece, to know it by."""
_MOST_CONDITION = 110
_MOST_EXPRESSION = 40
_MOST_TEXT = 400
OPEN, CLOSE = "⟪", "⟫"


@dataclass(frozen=True, order=True)
class Site:
    """A place that raises."""

    text: str
    raises: str
    exception: str
    condition: str

    @property
    def line(self) -> str:
        """Its line in the table."""
        return "\t".join((self.exception, self.raises, self.condition, self.text))


def lines() -> list[str]:
    """The table: a line of versions, then one for each place, those of the same text once."""
    found: dict[str, Site] = {}
    for _, (module, *folders) in _PACKAGES.items():
        spec = importlib.util.find_spec(module)
        if spec is None or not spec.submodule_search_locations:
            continue
        root = Path(spec.submodule_search_locations[0])
        for folder in folders:
            for path in sorted((root / folder).rglob("*.py")):
                name = path.relative_to(root.parent).as_posix()
                if not _LEFT_OUT.search(name):
                    for site in _sites(path, name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")):
                        found.setdefault(site.text, site)
    versions = " ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES)
    return [f"# {versions}", *(site.line for site in sorted(found.values()))]


def _sites(path: Path, module: str) -> Iterator[Site]:
    try:
        tree = ast.parse(path.read_text("utf-8"))
    except SyntaxError:
        return
    yield from _Reader(module).read(tree)


class _Reader:
    """Goes through a module, and remembers what it is in."""

    def __init__(self, module: str) -> None:
        self.module = module

    def read(self, tree: ast.AST) -> Iterator[Site]:
        yield from self._body(tree, self.module, "", {})

    def _body(self, node: ast.AST, where: str, condition: str, texts: dict[str, ast.expr]) -> Iterator[Site]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                public = _exported(child)
                own = {} if not isinstance(child, ast.ClassDef) else texts
                yield from self._body(child, public or f"{where}.{child.name}", "", dict(own))
            elif isinstance(child, ast.If):
                test = _short(child.test, _MOST_CONDITION)
                for part in child.body:
                    yield from self._statement(part, where, test, texts)
                for part in child.orelse:
                    other = f"not ({test})" if not isinstance(part, ast.If) else condition
                    yield from self._statement(part, where, other, texts)
            else:
                yield from self._statement(child, where, condition, texts)

    def _statement(self, node: ast.AST, where: str, condition: str, texts: dict[str, ast.expr]) -> Iterator[Site]:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            texts[node.targets[0].id] = node.value
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            exception = _short(node.exc.func, 60).rpartition(".")[2]
            text = next((told for one in node.exc.args if _known(told := _text(one, texts))), "")
            if text:
                yield Site(text, where, exception, "" if len(condition) > _MOST_CONDITION + 6 else condition)
        elif isinstance(node, ast.If | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            holder = ast.Module(body=[node], type_ignores=[])
            yield from self._body(holder, where, condition, texts)
        elif isinstance(node, ast.Call) and _short(node.func, 40).endswith(("make_sure", "make_sure_ops")):
            if len(node.args) > 1 and _known(text := _text(node.args[1], texts)):
                yield Site(text, where, "ValueError", f"not ({_short(node.args[0], _MOST_CONDITION)})")
        else:
            yield from self._body(node, where, condition, texts)


def _known(text: str) -> bool:
    fixed = max((part.strip() for part in re.split(f"{OPEN}[^{CLOSE}]*{CLOSE}", text)), key=len, default="")
    return len(fixed) >= _LEAST_FIXED and fixed.count(" ") >= 2


def _text(node: ast.expr, texts: dict[str, ast.expr], depth: int = 0) -> str:
    """The text of an expression, what is filled in between ⟪ and ⟫."""
    if depth > 12:
        return ""
    told = "".join(_parts(node, texts, depth))
    told = re.sub(r"\s+", " ", told).strip()
    if len(told) <= _MOST_TEXT:
        return told
    kept = told[:_MOST_TEXT]
    return kept.rpartition(OPEN if kept.count(OPEN) > kept.count(CLOSE) else " ")[0]


def _parts(node: ast.expr, texts: dict[str, ast.expr], depth: int) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value.replace("\t", " ")
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield _open(part.value)
            else:
                yield from _parts(part, texts, depth + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(node.left, texts, depth + 1)
        yield from _parts(node.right, texts, depth + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        yield _filled(_text(node.left, texts, depth + 1), r"%(?:\(\w+\))?[-#0 +]*\d*(?:\.\d+)?[sdrifgxXeE]", values)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        values = [*node.args, *(word.value for word in node.keywords)]
        yield _filled(_text(node.func.value, texts, depth + 1), r"\{[^{}]*\}", values)
    elif isinstance(node, ast.Name) and node.id in texts:
        yield from _parts(texts[node.id], {}, depth + 1)
    else:
        yield _open(node)


def _filled(text: str, pattern: str, values: list[ast.expr]) -> str:
    left = iter(values)
    return re.sub(pattern, lambda _: _open(next(left, None)), text)


def _open(node: ast.expr | None) -> str:
    told = "" if node is None else _short(node, 200)
    told = re.sub(r"^(?:str|repr|type|list|tuple|len)\((.*)\)$", r"\1", told).removeprefix("self.")
    plain = len(told) <= _MOST_EXPRESSION and re.fullmatch(r"[A-Za-z_][\w.]*", told)
    return f"{OPEN}{told if plain else ''}{CLOSE}"


def _short(node: ast.AST, most: int) -> str:
    told = re.sub(r"\s+", " ", ast.unparse(node))
    return told if len(told) <= most else f"{told[: most - 1]}…"


def _exported(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and _short(mark.func, 60).rpartition(".")[2] in _EXPORTS:
            names = [
                one.value for one in ast.walk(mark) if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            if names:
                first = names[0]
                return first if first.startswith("keras") else f"tf.{first}"
    return ""


def main() -> None:
    """Writes the table."""
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(lines())} lines")


if __name__ == "__main__":
    main()
