"""What changed between two states of a DVC repository, and the version of its data in a few characters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.logs.dvc import DataVersion, DvcProject, Stage, differ

ChangeKind = Literal["data", "code", "output", "stage", "parameter", "metric"]
"""No stage makes "data"; a stage makes "output"."""
_VERSIONED: tuple[ChangeKind, ...] = ("data", "code", "output")


@dataclass(frozen=True)
class Change:
    """One difference between two states."""

    kind: ChangeKind
    what: str
    """A path, a stage's name, or a value's file and name."""
    before: Any
    """The version (for data, code and output a `DataVersion`), command or value; None where there was none."""
    after: Any

    @property
    def text(self) -> str:
        """The change in one sentence."""
        if self.before is None or self.after is None:
            state = "was added" if self.before is None else "is gone"
            return f"{self.kind.capitalize()} {self.what} {state}."
        if isinstance(self.before, DataVersion) and isinstance(self.after, DataVersion):
            return f"{self.kind.capitalize()} {self.what}: {_version(self.before)} → {_version(self.after)}."
        difference = ""
        if self.kind == "metric":
            difference = f" ({self.after - self.before:+.4g})"
        return f"{self.kind.capitalize()} {self.what}: {self.before} → {self.after}{difference}."


def compare(before: DvcProject, after: DvcProject) -> tuple[Change, ...]:
    """Every difference: data first, then code, outputs, stages, parameters and metrics, each by name.

    Versions hashed in different ways (DVC before and after 3.0) cannot be compared and are no change.
    """
    found: list[Change] = []
    for kind in _VERSIONED:
        found.extend(_data_changes(kind, _versions(before, kind), _versions(after, kind)))
    found.extend(_stage_changes(before.stages, after.stages))
    found.extend(_value_changes("parameter", parameters_of(before), parameters_of(after)))
    found.extend(_value_changes("metric", before.metrics, after.metrics))
    return tuple(found)


def data_of(project: DvcProject) -> tuple[DataVersion, ...]:
    """The data that results rest on, by path."""
    return tuple(_versions(project, "data").values())


def version_of(data: Sequence[DataVersion]) -> str:
    """Eight characters that are the same exactly when the data is; empty where there is none."""
    content = "\n".join(f"{one.path}\t{one.algorithm}\t{one.hash}" for one in data)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8] if data else ""


def _versions(project: DvcProject, kind: ChangeKind) -> dict[str, DataVersion]:
    """Versions of one kind by path. What a stage read is what its results rest on, whatever a .dvc file says now."""
    made = {one.path: one for stage in project.stages for one in stage.outputs}
    used = {one.path: one for stage in project.stages for one in stage.dependencies if one.path not in made}
    if kind == "output":
        found = made
    elif kind == "code":
        found = {path: one for path, one in used.items() if one.is_code}
    else:
        found = {one.path: one for one in project.data if one.path not in made}
        found |= {path: one for path, one in used.items() if not one.is_code}
    return dict(sorted(found.items()))


def _data_changes(
    kind: ChangeKind, before: Mapping[str, DataVersion], after: Mapping[str, DataVersion]
) -> Iterator[Change]:
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old is None or new is None or differ(old, new):
            yield Change(kind, path, old, new)


def _stage_changes(before: Sequence[Stage], after: Sequence[Stage]) -> Iterator[Change]:
    old = {stage.name: stage.command for stage in before}
    new = {stage.name: stage.command for stage in after}
    yield from _value_changes("stage", old, new)


def _value_changes(kind: ChangeKind, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        # 1, 1.0 and True are one value to Python; NaN is none to itself.
        if repr(old) != repr(new) and not (old == new and isinstance(old, bool) == isinstance(new, bool)):
            yield Change(kind, name, old, new)


def parameters_of(project: DvcProject) -> dict[str, Any]:
    """Those the stages ran with; of a repository without stages, the files' own."""
    used: dict[str, Any] = {}
    for stage in project.stages:
        used |= stage.parameters
    return used or dict(project.parameters)


def _version(one: DataVersion) -> str:
    parts = [one.hash[:8] or "no hash"]
    if one.files is not None:
        parts.append(f"{one.files:,} files")
    if one.size_bytes is not None:
        parts.append(f"{one.size_bytes:,} bytes")
    return parts[0] + (f" ({', '.join(parts[1:])})" if parts[1:] else "")
