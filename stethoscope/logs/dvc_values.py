"""Parameter and metric files that a dvc.yaml names: JSON, YAML and TOML, as they are now. Programs are not run for them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stethoscope.logs.yaml_file import MAX_YAML_BYTES, flatten, read_yaml

_MAX_FILES = 1_000
_PLACEHOLDER = re.compile(r"\$\{\s*([\w.\-\[\]]+)\s*\}")


def parameters_of(root: Path, pipelines: Mapping[str, Mapping[str, Any]], problems: list[str]) -> dict[str, Any]:
    """Values by "file:dotted.name" of every parameter file of the pipelines (by folder); params.yaml always is one.

    Args:
        root: the repository; nothing outside it is opened.
        pipelines: contents of dvc.yaml files by their folder below `root`.
        problems: gets a sentence for each file that cannot be read.
    """
    found: dict[str, Any] = {}
    for folder, content in (pipelines or {"": {}}).items():
        names = ["params.yaml", *_strings(content.get("params"))]
        for stage in _stages(content):
            for item in _list(stage.get("params")):
                names.extend(item if isinstance(item, Mapping) else ())
        for path in _resolved(root, folder, names, {}, problems, required=False):
            values = read_values(path)
            if values is None:
                problems.append(f"{path.relative_to(root).as_posix()} is damaged or of an unknown kind")
            for name, value in flatten(values or {}).items():
                found[f"{path.relative_to(root).as_posix()}:{name}"] = value
    return found


def metrics_of(root: Path, pipelines: Mapping[str, Mapping[str, Any]], problems: list[str]) -> dict[str, float]:
    """Numbers by "file:dotted.name" of every metric file of the pipelines. See `parameters_of`."""
    found: dict[str, float] = {}
    for folder, content in pipelines.items():
        names = list(_strings(content.get("metrics")))
        for stage in _stages(content):
            names.extend(_strings(stage.get("metrics")))
        for path in _resolved(root, folder, names, _variables(root, folder, content), problems, required=True):
            values = read_values(path)
            if values is None:
                problems.append(f"{path.relative_to(root).as_posix()} is damaged or of an unknown kind")
            for name, value in numbers(values or {}).items():
                found[f"{path.relative_to(root).as_posix()}:{name}"] = value
    return found


def numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """The numbers among nested values by dotted name; NaN and infinities are numbers, truth values are not."""
    found = {}
    for name, value in flatten(values).items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                found[name] = float(value)
            except OverflowError:
                continue
    return found


def read_values(path: Path) -> dict[str, Any] | None:
    """The mapping a JSON, YAML or TOML file holds; None when it holds none, is damaged, too large or of another kind."""
    if path.suffix.lower() in (".yaml", ".yml"):
        return read_yaml(path)
    reader = {".json": json.loads, ".toml": tomllib.loads}.get(path.suffix.lower())
    if reader is None or path.is_symlink() or not path.is_file():
        return None
    try:
        if path.stat().st_size > MAX_YAML_BYTES:
            return None
        value = reader(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return {str(name): item for name, item in value.items()} if isinstance(value, Mapping) else None


def _stages(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    stages = content.get("stages")
    for stage in stages.values() if isinstance(stages, Mapping) else ():
        body = stage.get("do", stage) if isinstance(stage, Mapping) else None
        if isinstance(body, Mapping):
            yield body


def _variables(root: Path, folder: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """Values that `${name}` stands for: params.yaml, then what "vars" names or holds."""
    base = _inside(root, folder, "params.yaml")
    found = flatten(read_values(base) or {}) if base else {}
    for item in _list(content.get("vars")):
        if isinstance(item, Mapping):
            found |= flatten(item)
        elif isinstance(item, str) and (path := _inside(root, folder, item.split(":")[0])):
            found |= flatten(read_values(path) or {})
    return found


def _resolved(
    root: Path, folder: str, names: list[str], variables: Mapping[str, Any], problems: list[str], *, required: bool
) -> Iterator[Path]:
    """Existing files inside the repository, each once."""
    seen: set[Path] = set()
    for name in names[:_MAX_FILES]:
        plain = _PLACEHOLDER.sub(lambda match: str(variables.get(match[1], match[0])), str(name))
        path = _inside(root, folder, plain)
        if path is None:
            problems.append(f"{plain[:200]} lies outside the repository and was not opened")
        elif path.is_file() and path not in seen:
            seen.add(path)
            yield path
        elif required and not path.is_file():
            problems.append(f"{plain[:200]} is named in dvc.yaml, but not there")


def _inside(root: Path, folder: str, name: str) -> Path | None:
    """A path below the repository; None for one that leaves it, by its name or by a link on the way."""
    try:
        base, path = root.resolve(), (root / folder / name).resolve()
        path.is_file()  # a name too long for the file system is found out here
    except (OSError, ValueError, RuntimeError):
        return None
    return root / path.relative_to(base) if path.is_relative_to(base) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, (str, Mapping)) else []


def _strings(value: Any) -> Iterator[str]:
    """Paths in a list whose items are paths, or mappings from a path to its settings."""
    for item in _list(value):
        yield from item if isinstance(item, Mapping) else [item] if isinstance(item, str) else []
