"""What a YOLO data set says about itself: data.yaml, classes.txt, obj.names, Darknet's obj.data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from stethoscope.data import bounds
from stethoscope.models.containers import damage

_YAML_BYTES = 1 << 20
_NAMES_FILES = (
    "classes.txt",
    "obj.names",
    "class.names",
    "classes.names",
    "coco.names",
    "labels.txt",
    "_darknet.labels",
    "predefined_classes.txt",
)
_ALIASES = re.compile(r"(?m)(^|[\s\[{,:])[&*][A-Za-z0-9_]+")


@dataclass(frozen=True)
class Settings:
    """Names by class number, and the form of key points."""

    names: Mapping[int, str] = field(default_factory=dict)
    keypoints: tuple[int, int] | None = None
    source: str = ""
    """The file they came from."""


def is_settings_file(name: str) -> bool:
    """Whether a text file names classes rather than marking an image."""
    last = PurePosixPath(name).name.lower()
    return last in _NAMES_FILES or last.endswith(".names")


def from_yaml(text: str, source: str) -> Settings | None:
    """Reads data.yaml; None where it is YAML of another kind.

    Raises:
        ValueError: it is damaged, or uses anchors, which could expand without end.
    """
    if len(text) > _YAML_BYTES:
        raise ValueError("it is larger than any list of classes")
    if _ALIASES.search(text):
        raise ValueError("it uses anchors or aliases; write the values out")
    import yaml

    try:
        value = yaml.safe_load(text)
    except damage.yaml() as error:
        raise ValueError("it is no valid YAML: " + " ".join(str(error).split())[:120]) from error
    if not isinstance(value, Mapping) or not ({"names", "nc"} & set(value)):
        return None
    return Settings(_names(value), _keypoints(value.get("kpt_shape")), source)


def from_lines(text: str, source: str) -> Settings:
    """Reads one class name a line."""
    lines = [line.strip() for line in text.splitlines()]
    return Settings({number: line for number, line in enumerate(lines[: bounds.MAX_CLASSES]) if line}, None, source)


def looks_like_settings(heads: Iterable[tuple[str, bytes]]) -> bool:
    """Whether some YAML begins like a data.yaml."""
    return any(re.search(rb"(?m)^\s*(names|nc)\s*:", head) for _, head in heads)


def _names(value: Mapping[Any, Any]) -> dict[int, str]:
    names = value.get("names")
    found: dict[int, str] = {}
    if isinstance(names, Mapping):
        for number, name in list(names.items())[: bounds.MAX_CLASSES]:
            if isinstance(number, int) or (isinstance(number, str) and number.isdecimal()):
                found[int(number)] = str(name)
    elif isinstance(names, list):
        found = {number: str(name) for number, name in enumerate(names[: bounds.MAX_CLASSES])}
    if not found and isinstance(value.get("nc"), int):
        found = {number: f"class {number}" for number in range(min(value["nc"], bounds.MAX_CLASSES))}
    return found


def _keypoints(value: Any) -> tuple[int, int] | None:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int) for part in value):
        count, width = value
        if 0 < count < 10_000 and width in (2, 3):
            return count, width
    return None
