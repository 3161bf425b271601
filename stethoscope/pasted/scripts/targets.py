"""Whether the targets of a `fit` are one label, or one number, for each row."""

from __future__ import annotations

from stethoscope.pasted.scripts.labels import fed
from stethoscope.pasted.scripts.splits import cut_from
from stethoscope.pasted.scripts.values import Attribute, Call, Const, Cut, Element, Items, Made, Value

_SAME = frozenset({"array", "asarray", "astype", "ravel", "flatten", "copy", "to_numpy", "squeeze"})


def one_for_each_row(fit: Call) -> bool:
    """Whether there is one label for each row for certain: a column of a table, or class numbers of a data set."""
    known = fed(fit).labels
    if known is not None:
        return (
            known.kind == "integer" and known.call is not None and known.call.method in ("load_data", "fit_transform")
        )
    value = fit.argument("y", 1)
    for _ in range(10):
        if isinstance(value, Attribute) and value.name == "values":
            value = value.of
        elif isinstance(value, Made) and value.call.method in ("astype", "to_numpy", "array", "asarray"):
            value = value.call.receiver or (value.call.args[0] if value.call.args else None)
        elif whole := cut_from(value):
            value = whole
        else:
            break
    return (
        isinstance(value, Element)
        and isinstance(value.key, Const)
        and isinstance(value.key.value, str)
        and isinstance(value.of, Made)
        and value.of.call.name.startswith(("pandas.read_", "pandas.get_dummies"))
    )


def one_number_for_each_row(fit: Call) -> bool:
    """Whether the targets are a list that is filled with one number at a time: `y.append(series[i])`."""
    value = fit.argument("y", 1)
    for _ in range(10):
        if isinstance(value, Made) and value.call.method in _SAME:
            value = value.call.receiver or (value.call.args[0] if value.call.args else None)
        elif whole := cut_from(value):
            value = whole
        elif isinstance(value, Element) and isinstance(value.key, Cut):
            value = value.of
        else:
            break
    held = [*value.items, *value.more] if isinstance(value, Items) else []
    return bool(held) and all(isinstance(one, Element) and not _cuts(one.key) for one in held)


def _cuts(key: Value | None) -> bool:
    return isinstance(key, Cut) or (isinstance(key, Items) and any(isinstance(one, Cut) for one in key.items))
