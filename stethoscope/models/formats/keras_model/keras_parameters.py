"""How many parameters each layer has and how many of them are trained: from the weights file, else from the config.

Which stored arrays belong to which layer, in the two layouts Keras uses: by class (`.keras`) and by layer name (`.h5`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from stethoscope.errors import TooLarge
from stethoscope.models.containers import damage
from stethoscope.models.containers.hdf5 import StoredArray, Tree
from stethoscope.models.formats.keras_model.keras_builtins import is_builtin
from stethoscope.models.formats.keras_model.keras_config import Entry, Network
from stethoscope.models.formats.keras_model.keras_shapes import Flows, is_operation
from stethoscope.models.formats.keras_model.keras_spatial_shapes import Shapes, inner_layer
from stethoscope.models.formats.keras_model.keras_weight_rules import Weights
from stethoscope.models.formats.keras_model.keras_weights import expected_weights

_SLACK_BYTES = 256 << 20
_ITEM_BYTES = 4
_STATISTICS = (
    "moving_mean",
    "moving_variance",
    "running_mean",
    "running_std",
    "running_var",
    "vector_u",
    "moving_stddev",
    "renorm_",
)


@dataclass
class Counts:
    """(total, trainable) by layer path, the weights each layer should have, and what does not fit."""

    by_path: dict[str, tuple[int, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Layers whose parameters neither the config nor the weights tell."""
    from_settings: list[str] = field(default_factory=list)
    """Layers that should have parameters, of which the file stores none."""


def count_parameters(subject: str, network: Network, flows: Flows, stored: Stored | None, modern: bool) -> Counts:
    """Counts every layer's parameters.

    Raises:
        TooLarge: a layer's config asks for more than the budget, or far more than the file stores.
    """
    counts = Counts()
    _count(subject, network, flows, stored, modern, "", network.trainable, counts)
    return counts


def _count(
    subject: str,
    network: Network,
    flows: Flows,
    stored: Stored | None,
    modern: bool,
    prefix: str,
    trained: bool,
    counts: Counts,
) -> None:
    for entry in network.entries:
        path = prefix + entry.name
        if entry.network is not None:
            inner = trained and entry.trainable
            _count(subject, entry.network, flows, stored, modern, path + "/", inner, counts)
            continue
        flow = flows.get(path)
        shapes: Shapes = flow.inputs if flow is not None and flow.inputs else [None]
        expected: Weights | None = [] if is_operation(entry) or entry.class_name == "Lambda" else None
        if expected is None and is_builtin(entry):
            expected = expected_weights(entry.class_name, entry.config, shapes, modern)
        arrays = stored.by_path.get(path) if stored is not None else None
        _check_budget(subject, path, entry, expected, arrays, stored)
        counts.by_path[path] = _layer(path, entry, expected, arrays, trained and entry.trainable, counts)


def _layer(
    path: str, entry: Entry, expected: Weights | None, arrays: list[StoredArray] | None, trained: bool, counts: Counts
) -> tuple[int, int]:
    wanted = None if expected is None else sum(weight.count for weight in expected)
    frozen = None if expected is None else sum(weight.count for weight in expected if not weight.trainable)
    if expected and arrays and inner_layer(entry.config) and _stored_twice(expected, arrays):
        return _split(wanted or 0, frozen or 0, trained)
    if arrays or (arrays is not None and not wanted):
        total = sum(array.count for array in arrays)
        if wanted is not None and wanted != total:
            counts.warnings.append(
                f"Layer {path!r} ({entry.class_name}) should have {wanted:,} parameters by its settings, the weights file holds {total:,}."
            )
            frozen = None
        if frozen is None:
            frozen = sum(array.count for array in _not_trained(entry, arrays))
        return _split(total, frozen, trained)
    if wanted is None:
        counts.unknown.append(path)
        return 0, 0
    if wanted:
        counts.from_settings.append(path)
    return _split(wanted, frozen or 0, trained)


def _not_trained(entry: Entry, arrays: list[StoredArray]) -> list[StoredArray]:
    """Statistics among stored weights: by name in `.h5` files, by Keras' order (trained ones first) in `.keras` files."""
    named = [array for array in arrays if any(word in array.path for word in _STATISTICS)]
    if named or "BatchNormalization" not in entry.class_name:
        return named
    trained = [entry.config.get("scale", True), entry.config.get("center", True)].count(True)
    return arrays[trained:]


def _split(total: int, frozen: int, trained: bool) -> tuple[int, int]:
    return total, total - frozen if trained else 0


def _stored_twice(expected: Weights, arrays: list[StoredArray]) -> bool:
    """Whether a wrapper stores weights of the layer inside it a second time, as SpectralNormalization does."""
    spare = [array.shape for array in arrays]
    for weight in expected:
        if weight.shape not in spare:
            return False
        spare.remove(weight.shape)
    return all(any(shape == weight.shape for weight in expected) for shape in spare)


def _check_budget(
    subject: str,
    path: str,
    entry: Entry,
    expected: Weights | None,
    arrays: list[StoredArray] | None,
    stored: Stored | None,
) -> None:
    declared = sum(weight.count for weight in expected or ()) * _ITEM_BYTES
    held = sum(array.size_bytes for array in arrays or ())
    limit = damage.MAX_WEIGHT_BYTES if stored is None else min(damage.MAX_WEIGHT_BYTES, _SLACK_BYTES + 4 * held)
    if declared > limit:
        raise TooLarge(
            f"{subject}: layer {path!r} ({entry.class_name}) asks for {declared // _ITEM_BYTES:,} parameters ({declared:,} bytes), "
            f"the file stores {held:,} bytes for it. Building it would use up the memory; check the layer's settings."
        )


_CONTAINERS = ("layers", "_layer_checkpoint_dependencies", "_self_tracked_trackables")
_NOT_PARAMETERS = re.compile(
    r"(^|/)(optimizer|_optimizer|optimizer_weights|metrics|_metrics|compiled_metrics|compiled_loss|compile_metrics|_compile_metrics"
    r"|_?seed_generator|_?random_generator|_?loss_tracker)(/|$)"
)


@dataclass
class Stored:
    """Arrays by layer path. A path that is missing was not found in the file; an empty list means a layer without weights."""

    by_path: dict[str, list[StoredArray]] = field(default_factory=dict)
    leftover: dict[str, list[StoredArray]] = field(default_factory=dict)
    """Parameters that belong to no layer of the config: a model's own, or a subclass's attributes; by group."""


def snake_case(name: str) -> str:
    """Keras' own rule for turning a class name into a key. Source: keras.src.utils.naming.to_snake_case."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def is_parameter(array: StoredArray) -> bool:
    """Whether an array counts as a parameter: not optimizer, metric or random-generator state."""
    if _NOT_PARAMETERS.search(array.path):
        return False
    return not (array.shape == () and re.search(r"(^|/)[^/]*(tracker|metric)[^/]*(/|$)", array.path))


def by_class(network: Network | None, tree: Tree, modern: bool) -> Stored:
    """Reads the layout of `.keras`: `layers/<class>_<k>/…/vars/<i>`; everything is leftover for a subclassed model."""
    stored = Stored()
    if network is not None:
        _by_class(network, tree, "", "", modern, stored)
    claimed = {array.path for arrays in stored.by_path.values() for array in arrays}
    for path, array in tree.arrays.items():
        if path not in claimed and is_parameter(array):
            stored.leftover.setdefault(_owner(path), []).append(array)
    return stored


def by_name(network: Network, tree: Tree) -> Stored:
    """Reads the layout of `.h5`: one group per top-level layer; nested models keep theirs flattened in one group."""
    stored = Stored()
    groups: dict[str, list[StoredArray]] = {}
    tops = {entry.name for entry in network.entries}
    for path, array in tree.arrays.items():
        if not is_parameter(array):
            continue
        owner = next((top for top in _prefixes(path) if top in tops), None)
        groups.setdefault(owner or _owner(path), []).append(array)
    present = set(tree.groups)
    for entry in network.entries:
        if entry.name in present or entry.name in groups:
            arrays = groups.pop(entry.name, [])
            if entry.network is None:
                stored.by_path[entry.name] = arrays
            else:
                _flattened(entry.network, entry.name, arrays, stored)
    for owner, arrays in groups.items():
        stored.leftover.setdefault(owner, []).extend(arrays)
    return stored


def _prefixes(path: str) -> Iterator[str]:
    """Layer names may hold slashes: "a/b/kernel:0" may belong to layer "a" or "a/b"."""
    parts = path.split("/")
    for end in range(len(parts), 0, -1):
        yield "/".join(parts[:end])


def _owner(path: str) -> str:
    head = path.rsplit("/", 1)[0] if "/" in path else ""
    return re.sub(r"(^|/)vars$", "", head)


def _by_class(network: Network, tree: Tree, group: str, prefix: str, modern: bool, stored: Stored) -> None:
    container = next((name for name in _CONTAINERS if _join(group, name) in tree.group_set), None)
    if container is None:
        return
    base = _join(group, container)
    named = {tree.names[vars_]: vars_[: -len("/vars")] for vars_ in tree.names if _is_child(vars_, base)}
    used: dict[str, int] = {}
    entries = network.entries
    if network.sequential and entries and entries[0].class_name == "InputLayer":
        entries = entries[1:]
    for entry in entries:
        if modern and is_operation(entry):
            continue
        key = snake_case(entry.class_name)
        count = used.get(key, 0)
        used[key] = count + 1
        place = named.get(entry.name) or _join(base, f"{key}_{count}" if count else key)
        if place not in tree.group_set:
            continue
        path = prefix + entry.name
        if entry.network is not None:
            _by_class(entry.network, tree, place, path + "/", modern, stored)
        else:
            stored.by_path[path] = [array for array in tree.under(place) if is_parameter(array)]


def _is_child(path: str, base: str) -> bool:
    return path.startswith(base + "/") and path.endswith("/vars") and path.count("/") == base.count("/") + 2


def _join(head: str, tail: str) -> str:
    return f"{head}/{tail}" if head else tail


def _flattened(network: Network, prefix: str, arrays: list[StoredArray], stored: Stored) -> None:
    """Gives a nested model's arrays to its layers by the layer names in their paths; the rest is leftover."""
    leaves: dict[str, str] = {}
    _leaves(network, prefix + "/", leaves)
    for path in leaves.values():
        stored.by_path.setdefault(path, [])
    for array in arrays:
        parts = array.path.split("/")[1:-1]
        found = next((leaves[part] for part in reversed(parts) if part in leaves), None)
        if found is None:
            found = next(
                (leaves[part] for part in (re.sub(r"_\d+$", "", p) for p in reversed(parts)) if part in leaves), None
            )
        if found is None:
            stored.leftover.setdefault(prefix, []).append(array)
        else:
            stored.by_path[found].append(array)


def _leaves(network: Network, prefix: str, leaves: dict[str, str]) -> None:
    for entry in network.entries:
        if entry.network is not None:
            _leaves(entry.network, f"{prefix}{entry.name}/", leaves)
        else:
            leaves.setdefault(entry.name, prefix + entry.name)
