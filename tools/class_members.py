"""Writes which attributes the classes of Keras 3, Keras 2 and TensorFlow have: what a reader of messages holds a name against.

`python -m tools.class_members` reads the sources of the packages, runs none of them, and writes `stethoscope/pasted/raised/members.txt`:
for each class its bases and its own methods, properties, and what its methods set on `self`.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "stethoscope" / "pasted" / "raised" / "members.txt"
_PACKAGES = {
    "keras": ("keras", ("src",)),
    "tf-keras": ("tf_keras", ("src",)),
    "tensorflow": (
        "tensorflow",
        (
            "python/data/ops",
            "python/framework",
            "python/ops",
            "python/distribute",
            "python/eager",
            "python/module",
            "python/trackable",
            "python/training",
            "python/types",
        ),
    ),
}
_LEFT_OUT = (
    "_test.py",
    "/test_util",
    "/backend/jax",
    "/backend/torch",
    "/backend/numpy",
    "/backend/openvino",
    "/gen_",
    "/ragged/ragged_test",
)


OUTSIDE = "(set from outside)"
"""Under this name stand attributes that others set."""


def lines() -> list[str]:
    """The table: a line of versions, then one for each class: package, name, bases, own attributes."""
    found: dict[tuple[str, str], str] = {}
    outside: dict[str, set[str]] = {package: set() for package in _PACKAGES}
    for package, (module, folders) in _PACKAGES.items():
        spec = importlib.util.find_spec(module)
        if spec is None or not spec.submodule_search_locations:
            continue
        root = Path(spec.submodule_search_locations[0])
        for folder in folders:
            for path in sorted((root / folder).rglob("*.py")):
                if not any(part in path.as_posix() for part in _LEFT_OUT):
                    tree = ast.parse(path.read_text("utf-8"))
                    outside[package] |= set(_from_outside(tree))
                    for name, bases, own in _classes(tree):
                        if own or bases:
                            found.setdefault((package, name), f"{package}\t{name}\t{','.join(bases)}\t{','.join(own)}")
    for package, names in outside.items():
        found[package, OUTSIDE] = f"{package}\t{OUTSIDE}\t\t{','.join(sorted(names))}"
    versions = " ".join(f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES)
    return [f"# {versions}", *(found[key] for key in sorted(found))]


def _from_outside(tree: ast.AST) -> Iterator[str]:
    """What is set on an object by somebody else: model.history by a callback."""
    for node in ast.walk(tree):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) != "self":
                yield target.attr


def _classes(tree: ast.AST) -> Iterator[tuple[str, list[str], list[str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not node.name.endswith("Test"):
            bases = [
                ast.unparse(base).rpartition(".")[2]
                for base in node.bases
                if isinstance(base, ast.Name | ast.Attribute)
            ]
            yield node.name, [base for base in bases if base != "object"], sorted(set(_own(node)))


def _own(node: ast.ClassDef) -> Iterator[str]:
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not child.name.startswith("__"):
                yield child.name
            for part in ast.walk(child):
                target = (
                    part.targets[0]
                    if isinstance(part, ast.Assign)
                    else part.target
                    if isinstance(part, ast.AnnAssign)
                    else None
                )
                for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "self":
                        yield one.attr
        elif isinstance(child, ast.Assign):
            yield from (one.id for one in child.targets if isinstance(one, ast.Name))


def main() -> None:
    """Writes the table."""
    TARGET.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    print(f"{TARGET}: {len(lines())} lines")


if __name__ == "__main__":
    main()
