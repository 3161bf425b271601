"""Between `DataAbout` and JSON: what workers say about data, and what pages read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from stethoscope.codec import plain
from stethoscope.data.dataset import DataAbout, DataField, FieldKind, Problem, Role
from stethoscope.types import Shape

_KINDS, _ROLES = frozenset(get_args(FieldKind)), frozenset(get_args(Role))


def about_to_json(about: DataAbout) -> dict[str, Any]:
    """What data says about itself as JSON values; null for a size that differs."""
    return {
        "reader_id": about.reader_id,
        "title": about.title,
        "rows": about.rows,
        "rows_exact": about.rows_exact,
        "fields": [
            {
                "name": one.name,
                "kind": one.kind,
                "dtype": one.dtype,
                "shape": None if one.shape is None else list(one.shape),
                "role": one.role,
                "unit": one.unit,
                "details": plain(one.details),
            }
            for one in about.fields
        ],
        "classes": list(about.classes),
        "splits": list(about.splits),
        "problems": [{"where": one.where, "sentence": one.sentence} for one in about.problems],
        "problem_count": about.problem_count,
        "notes": list(about.notes),
    }


def about_from_json(value: Mapping[str, Any]) -> DataAbout:
    """The inverse of `about_to_json`.

    Raises:
        KeyError, TypeError, ValueError: `value` does not have that shape.
    """
    return DataAbout(
        reader_id=str(value["reader_id"]),
        title=str(value["title"]),
        rows=int(value["rows"]),
        rows_exact=bool(value["rows_exact"]),
        fields=tuple(_field(one) for one in value["fields"]),
        classes=tuple(str(one) for one in value["classes"]),
        splits=tuple(str(one) for one in value["splits"]),
        problems=tuple(Problem(str(one["where"]), str(one["sentence"])) for one in value["problems"]),
        problem_count=int(value["problem_count"]),
        notes=tuple(str(one) for one in value["notes"]),
    )


def _field(value: Mapping[str, Any]) -> DataField:
    kind, role = value["kind"], value["role"]
    if kind not in _KINDS or role not in _ROLES:
        raise ValueError(f"a field of the kind {kind!r} in the role {role!r}")
    shape: Shape | None = (
        None if value["shape"] is None else tuple(None if size is None else int(size) for size in value["shape"])
    )
    return DataField(
        str(value["name"]), kind, str(value["dtype"]), shape, role, str(value["unit"]), dict(value["details"])
    )
