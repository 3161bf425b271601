"""YAML as trackers write it, read with bounds: plain values only, numbers and truth values as YAML 1.2 has them.

PyYAML alone reads YAML 1.1, in which `1e-3` is a text, `on` a truth value and `010` eight; DVC and people mean 1.2.
Source: yaml.org/spec/1.2.2, section 10.3.2 (core schema).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stethoscope.models.containers import damage

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
