"""Which stored arrays belong to which layer, in the two layouts Keras uses: by class (`.keras`) and by layer name (`.h5`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from stethoscope.models.containers.hdf5 import StoredArray, Tree
from stethoscope.models.formats.keras_model.keras_config import Network
from stethoscope.models.formats.keras_model.keras_shapes import is_operation

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
    all_arrays: int = 0


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
    stored = Stored(all_arrays=len(tree.arrays))
    if network is not None:
        _by_class(network, tree, "", "", modern, stored)
    claimed = {array.path for arrays in stored.by_path.values() for array in arrays}
    for path, array in tree.arrays.items():
        if path not in claimed and is_parameter(array):
            stored.leftover.setdefault(_owner(path), []).append(array)
    return stored


def by_name(network: Network, tree: Tree) -> Stored:
    """Reads the layout of `.h5`: one group per top-level layer; nested models keep theirs flattened in one group."""
    stored = Stored(all_arrays=len(tree.arrays))
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
