"""Parameter and metric files that a dvc.yaml names: JSON, YAML and TOML, as they are now. Programs are not run for them.

YAML as trackers write it, read with bounds: plain values only, numbers and truth values as YAML 1.2 has them.

PyYAML alone reads YAML 1.1, in which `1e-3` is a text, `on` a truth value and `010` eight; DVC and people mean 1.2.
Source: yaml.org/spec/1.2.2, section 10.3.2 (core schema).
"""

from __future__ import annotations

import functools
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stethoscope.models.containers import damage

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


MAX_YAML_BYTES = 4 << 20
_MAX_DEPTH, _MAX_VISITS, _MAX_NAME = 40, 50_000, 500
_KINDS = {
    "null": (r"(~|null|Null|NULL|)", ("~", "n", "N", "")),
    "bool": (r"([Tt]rue|TRUE|[Ff]alse|FALSE)", tuple("tTfF")),
    "int": (r"([-+]?[0-9]{1,4000}|0o[0-7]{1,4000}|0x[0-9a-fA-F]{1,4000})", tuple("-+0123456789")),
    "float": (
        r"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))",
        tuple("-+.0123456789"),
    ),
}
"""What a plain scalar spells, and what it may begin with, in the order tried."""


class _Loaders(NamedTuple):
    """PyYAML's safe loader, changed in two ways."""

    core: Any
    """With the core schema's numbers."""
    texts: Any
    """Every value stays the text it was written as."""


@functools.cache
def _loaders() -> _Loaders:
    import yaml  # only who reads YAML pays for it

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loaders = _Loaders(*(type(name, (base,), {"yaml_implicit_resolvers": {}}) for name in ("Core", "Texts")))
    for loader in loaders:
        # Merge keys are no part of YAML 1.2, and a few of them can stand for billions of values.
        loader.flatten_mapping = lambda *_: None
    for kind, (pattern, first) in _KINDS.items():
        loaders.core.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"^{pattern}$"), list(first))
    loaders.core.add_constructor("tag:yaml.org,2002:int", _integer)
    loaders.core.add_constructor("tag:yaml.org,2002:float", _real)
    return loaders


def _integer(loader: Any, node: Any) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _real(loader: Any, node: Any) -> float | str:
    """The number; the text of one too large for a double."""
    text = str(loader.construct_scalar(node))
    value = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text if math.isinf(value) and "inf" not in text.lower() else value


def read_yaml(path: Path, *, texts: bool = False) -> dict[str, Any] | None:
    """The mapping a file holds, with names as text.

    None when it holds none, is damaged, larger than `MAX_YAML_BYTES`, nested deeper than 40 or may not be read.

    Args:
        path: the file. A link is not followed.
        texts: leave every value the text it was written as ("007", "null").
    """
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as stream:
            content = stream.read(MAX_YAML_BYTES + 1)
    except OSError:
        return None
    return None if len(content) > MAX_YAML_BYTES else _mapping(content, texts=texts)


def _mapping(content: bytes, *, texts: bool) -> dict[str, Any] | None:
    import yaml

    loader = _loaders().texts if texts else _loaders().core
    try:
        text = content.decode("utf-8-sig")
        if not _is_shallow(text, loader):
            return None
        value = yaml.load(text, loader)
    except damage.yaml():
        return None
    return {str(name): item for name, item in value.items()} if isinstance(value, Mapping) else None


def _is_shallow(text: str, loader: Any) -> bool:
    """Looks before the file is loaded: libyaml's loader ends the process on values nested a hundred thousand deep."""
    import yaml

    depth = 0
    for event in yaml.parse(text, loader):
        if isinstance(event, (yaml.CollectionStartEvent, yaml.CollectionEndEvent)):
            depth += 1 if isinstance(event, yaml.CollectionStartEvent) else -1
            if depth > _MAX_DEPTH:
                return False
    return True


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Leaves of nested mappings and lists by their dotted names: `{"train": {"lr": 1}}` gives `{"train.lr": 1}`.

    Values that aliases repeat are visited each time, so 50,000 visits and 40 levels are the limit. Empty mappings and
    lists have no leaves.
    """
    return dict(_leaves(value, prefix, 0, iter(range(_MAX_VISITS))))


def _leaves(value: Any, name: str, depth: int, visits: Iterator[int]) -> Iterator[tuple[str, Any]]:
    if depth > _MAX_DEPTH or next(visits, None) is None:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            below = f"{name}.{key}" if name else str(key)
            yield from _leaves(item, below[:_MAX_NAME], depth + 1, visits)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{name}.{index}" if name else str(index), depth + 1, visits)
    else:
        yield name, value
