"""What a script says of its labels: class numbers, one-hot rows, numbers, and how many classes."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.values import (
    Attribute,
    Call,
    Const,
    Cut,
    Either,
    Element,
    Function,
    Items,
    Made,
    Value,
    number,
    text,
)

LabelKind = Literal["integer", "one_hot", "number"]
_KNOWN: dict[str, tuple[LabelKind, int | None]] = {
    "mnist": ("integer", 10),
    "fashion_mnist": ("integer", 10),
    "cifar10": ("integer", 10),
    "cifar100": ("integer", 100),
    "imdb": ("integer", 2),
    "reuters": ("integer", 46),
    "boston_housing": ("number", None),
    "california_housing": ("number", None),
}
"""keras.io/api/datasets."""
_SKLEARN: dict[str, tuple[LabelKind, int | None]] = {
    "load_iris": ("integer", 3),
    "load_wine": ("integer", 3),
    "load_digits": ("integer", 10),
    "load_breast_cancer": ("integer", 2),
    "load_diabetes": ("number", None),
    "fetch_california_housing": ("number", None),
}
_ONE_HOT = frozenset({"to_categorical", "one_hot", "get_dummies", "label_binarize"})
_SAME = frozenset(
    {
        "astype",
        "reshape",
        "ravel",
        "flatten",
        "squeeze",
        "copy",
        "to_numpy",
        "array",
        "asarray",
        "expand_dims",
        "cast",
        "convert_to_tensor",
        "constant",
        "float32",
        "int32",
        "int64",
        "stack",
        "list",
        "asfarray",
        "ascontiguousarray",
        "Series",
    }
)
_PIPELINE = frozenset(
    {
        "batch",
        "shuffle",
        "repeat",
        "prefetch",
        "cache",
        "take",
        "skip",
        "with_options",
        "padded_batch",
        "apply",
        "shard",
    }
)
_MOST_STEPS = 40


@dataclass(frozen=True)
class Labels:
    """What labels are."""

    kind: LabelKind
    classes: int | None
    why: str
    """What says so, in the script's own words."""
    call: Call | None = None
    """The call that made them so."""


def labels_of(value: Value | None) -> Labels | None:
    """What labels are, or None where the script does not say it for certain."""
    for _ in range(_MOST_STEPS):
        if isinstance(value, Either):
            found = [labels_of(one) for one in value.made_of]
            first = found[0]
            same = first is not None and all(
                one is not None and one.kind == first.kind and one.classes == first.classes for one in found
            )
            return first if same else None
        if isinstance(value, Made):
            known, value = _of_call(value.call)
            if known is not None or value is None:
                return known
        elif isinstance(value, Attribute) and value.name in ("values", "T", "target"):
            known = _sklearn(value.of) if value.name == "target" else None
            if known is not None:
                return known
            value = value.of
        elif isinstance(value, Element):
            known, value = _of_element(value)
            if known is not None or value is None:
                return known
        else:
            return None
    return None


def _of_call(call: Call) -> tuple[Labels | None, Value | None]:
    name, method = meaning(call.name), call.method
    last = name.rpartition(".")[2] or method
    if last in _ONE_HOT:
        classes = number(call.argument("num_classes", 1) or call.argument("depth", 1))
        if classes is None and call.args:
            inner = labels_of(call.args[0])
            classes = inner.classes if inner is not None else None
        return Labels("one_hot", None if classes is None else int(classes), last, call), None
    if method in ("fit_transform", "transform") and isinstance(call.receiver, Made):
        encoder = call.receiver.call.name.rpartition(".")[2]
        if encoder == "LabelEncoder":
            return Labels("integer", None, "LabelEncoder", call), None
        if encoder in ("OneHotEncoder", "LabelBinarizer"):
            # Two classes give one column with LabelBinarizer: nothing is known without them.
            return (Labels("one_hot", None, encoder, call) if encoder == "OneHotEncoder" else None), None
        return None, None
    if last in _SAME or method in _SAME:
        return None, call.receiver if call.receiver is not None else (call.args[0] if call.args else None)
    return None, None


def _of_element(value: Element) -> tuple[Labels | None, Value | None]:
    place = value.key.value if isinstance(value.key, Const) else None
    owner = value.of
    if isinstance(owner, Made):
        call = owner.call
        last = meaning(call.name).rpartition(".")[2] or call.method
        if last == "train_test_split" and isinstance(place, int) and not call.spread and place // 2 < len(call.args):
            return None, call.args[place // 2]
        if last == "eye":
            classes = number(call.args[0]) if call.args else None
            return Labels("one_hot", None if classes is None else int(classes), "eye", call), None
    if isinstance(owner, Element) and isinstance(owner.of, Made) and place == 1:
        known = _dataset(owner.of.call)
        if known is not None:
            return known, None
    if not isinstance(value.key, Const | Cut):
        return None, None  # a choice of rows, which may leave classes out
    if isinstance(place, str):
        return None, None  # a column of a table
    if isinstance(place, int) and not isinstance(owner, Element | Made):
        return None, None
    return None, owner


def _dataset(call: Call) -> Labels | None:
    parts = meaning(call.name).split(".")
    if len(parts) < 3 or parts[-1] != "load_data":
        return None
    known = _KNOWN.get(parts[-2])
    if known is None:
        return None
    kind, classes = known
    if parts[-2] == "cifar100" and text(call.argument("label_mode", 0)) == "coarse":
        classes = 20
    return Labels(kind, classes, f"{parts[-2]}.load_data()", call)


def _sklearn(value: Value) -> Labels | None:
    if not isinstance(value, Made):
        return None
    last = value.call.name.rpartition(".")[2]
    known = _SKLEARN.get(last)
    return None if known is None else Labels(known[0], known[1], f"{last}()", value.call)


@dataclass(frozen=True)
class Fed:
    """What a call of `fit`, `evaluate` or `predict` is given."""

    x: Value | None
    y: Value | None
    labels: Labels | None
    pipeline: tuple[Call, ...] = ()
    """The steps of a dataset or generator, the last one first."""


def fed(call: Call) -> Fed:
    """What a call of `fit` or `evaluate` reads."""
    x, y = call.argument("x", 0), call.argument("y", 1)
    if y is not None and not (isinstance(y, Const) and y.value is None):
        return Fed(x, y, labels_of(y))
    return of_pipeline(x if x is not None else call.argument("generator", 0))


def of_pipeline(value: Value | None) -> Fed:
    """What a dataset or generator yields."""
    start = value
    steps: list[Call] = []
    unsure = False
    for _ in range(_MOST_STEPS):
        if not isinstance(value, Made):
            break
        call = value.call
        steps.append(call)
        last = meaning(call.name).rpartition(".")[2] or call.method
        if (
            last == "from_tensor_slices"
            and call.args
            and isinstance(call.args[0], Items)
            and len(call.args[0].items) == 2
        ):
            rows, targets = call.args[0].items
            return Fed(rows, targets, None if unsure else labels_of(targets), tuple(steps))
        if last in ("image_dataset_from_directory", "text_dataset_from_directory"):
            return Fed(start, None, None if unsure else _directory(call, "label_mode", "int"), tuple(steps))
        if last in ("flow_from_directory", "flow_from_dataframe"):
            return Fed(start, None, None if unsure else _directory(call, "class_mode", "categorical"), tuple(steps))
        if last == "flow":
            x, y = call.argument("x", 0), call.argument("y", 1)
            return Fed(x, y, None if unsure else labels_of(y), tuple(steps))
        if last == "map":
            function = call.args[0] if call.args else None
            unsure = unsure or not _leaves_labels(function)
        elif last not in _PIPELINE:
            break
        value = call.receiver
    return Fed(start, None, None, tuple(steps))


def _directory(call: Call, name: str, default: str) -> Labels | None:
    mode = call.argument(name)
    said = default if mode is None else text(mode)
    names = call.argument("class_names") or call.argument("classes")
    classes = len(names.items) if isinstance(names, Items) else None
    where = f"{call.method or call.name.rpartition('.')[2]}({name}={said!r})"
    if call.spread or said is None:
        return None
    if said in ("int", "sparse"):
        return Labels("integer", classes, where, call)
    if said == "categorical":
        return Labels("one_hot", classes, where, call)
    if said == "binary":
        return Labels("integer", 2, where, call)
    return None


def _leaves_labels(function: Value | None) -> bool:
    """Whether `lambda x, y: (…, y)` gives the labels as they came."""
    if not isinstance(function, Function):
        return False
    names = [one.arg for one in function.node.args.args]
    if len(names) != 2:
        return False
    body = function.node.body
    ends = (
        [body]
        if isinstance(function.node, ast.Lambda)
        else [one.value for one in ast.walk(function.node) if isinstance(one, ast.Return)]
    )
    stored = {one.id for one in ast.walk(function.node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return names[1] not in stored and all(
        isinstance(end, ast.Tuple)
        and len(end.elts) == 2
        and isinstance(end.elts[1], ast.Name)
        and end.elts[1].id == names[1]
        for end in ends
    )
