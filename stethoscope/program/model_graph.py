"""Edits of how a serialised Keras model is connected: layers put in, taken out and moved, in Sequential and Functional configs.

Keras 3 refers to a tensor by {"class_name": "__keras_tensor__", "config": {"keras_history": [layer, node, index]}},
Keras 2 by [layer, node, index, arguments].
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stethoscope.errors import CannotRun
from stethoscope.program.model_config import Entry, is_model, layer_at, name_of, structure, walk, with_config
from stethoscope.program.setup import Setup

Place = tuple[str, int, int]
"""(layer, node, index): which output of which call of which layer."""


def with_layer(setup: Setup, kind: str, settings: Mapping[str, Any], *, before: str = "", after: str = "") -> Setup:
    """A copy with a new layer of class `kind` before or after another; behind the input when neither is named.

    Raises:
        CannotRun: no such layer, or one that reads several tensors.
    """
    config = structure(setup)
    _insert(config, kind, dict(settings), before, after)
    return with_config(setup, config)


def without_layer(setup: Setup, path: str) -> Setup:
    """A copy without the layer, what read it reading its input instead.

    Raises:
        CannotRun: no such layer, an input, or one that reads several tensors.
    """
    config = structure(setup)
    _remove(config, path)
    return with_config(setup, config)


def with_layer_moved(setup: Setup, path: str, *, before: str = "", after: str = "") -> Setup:
    """A copy with the layer in another place of the same model."""
    config = structure(setup)
    entry = copy.deepcopy(layer_at(config, path))
    _remove(config, path)
    _insert(config, str(entry["class_name"]), entry["config"], before, after)
    return with_config(setup, config)


def last_with_weights(setup: Setup) -> str:
    """The path of the last layer with a kernel.

    Raises:
        CannotRun: there is none.
    """
    found = [path for path, entry in walk(structure(setup)) if "kernel_initializer" in entry["config"]]
    if not found:
        raise CannotRun("The model: expected a layer with a kernel, got none. Nothing was changed.")
    return found[-1]


def before(config: Entry, path: str) -> str:
    """The path of the layer that `path` reads.

    Raises:
        CannotRun: it reads none, or several.
    """
    parent, prefix, name = _parent(config, path)
    if is_sequential(parent):
        names = [name_of(entry) for entry in parent["config"]["layers"]]
        sources = names[: names.index(name)][-1:]
    else:
        sources = list(dict.fromkeys(place[0] for place in refs(layer_at(config, path).get("inbound_nodes"))))
    if len(sources) != 1:
        raise CannotRun(f"Layer {path!r}: expected one layer before it, got {len(sources)}. Nothing was changed.")
    return prefix + sources[0]


def after(config: Entry, path: str) -> str:
    """The path of the only layer that reads `path`; "" when there is none or more than one."""
    parent, prefix, name = _parent(config, path)
    entries = parent["config"]["layers"]
    if is_sequential(parent):
        names = [name_of(entry) for entry in entries]
        readers = names[names.index(name) + 1 :][:1]
    else:
        readers = [
            name_of(entry) for entry in entries if any(place[0] == name for place in refs(entry.get("inbound_nodes")))
        ]
    return prefix + readers[0] if len(readers) == 1 else ""


def is_sequential(model: Entry) -> bool:
    """Whether a model's layers are a plain list."""
    return str(model.get("class_name")) == "Sequential" or not any(
        "inbound_nodes" in entry for entry in model["config"]["layers"]
    )


def refs(value: Any) -> Iterator[Place]:
    """Every tensor that nodes refer to, in order."""
    found: list[Place] = []

    def note(place: Place) -> Place:
        found.append(place)
        return place

    replaced(value, note)
    yield from found


def replaced(value: Any, change: Callable[[Place], Place]) -> Any:
    """A copy of nodes (or of an output list) in which every reference is what `change` makes of it."""
    if isinstance(value, dict):
        if value.get("class_name") == "__keras_tensor__":
            settings = value["config"]
            history = list(change(_place(settings["keras_history"])))
            return {**value, "config": {**settings, "keras_history": history}}
        return {key: replaced(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if _is_reference(value):
            extra = [replaced(item, change) for item in value[3:]]
            return [*change(_place(value)), *extra]
        return [replaced(item, change) for item in value]
    return value


def _is_reference(value: list[Any] | tuple[Any, ...]) -> bool:
    if len(value) not in (3, 4) or not isinstance(value[0], str):
        return False
    whole = all(isinstance(item, int) and not isinstance(item, bool) for item in value[1:3])
    return whole and (len(value) == 3 or isinstance(value[3], dict))


def _place(value: Any) -> Place:
    return str(value[0]), int(value[1]), int(value[2])


def _parent(config: Entry, path: str) -> tuple[Entry, str, str]:
    """Returns (the model that holds the layer, its path with a slash, the layer's name)."""
    layer_at(config, path)
    outer = max(
        (found for found, entry in walk(config) if is_model(entry) and path.startswith(found + "/")),
        key=len,
        default="",
    )
    if not outer:
        return config, "", path
    return layer_at(config, outer), outer + "/", path[len(outer) + 1 :]


def _insert(config: Entry, kind: str, settings: dict[str, Any], before: str, after: str) -> None:
    if not before and not after:
        after = _only_input(config)
    parent, _, name = _parent(config, before or after) if before or after else (config, "", "")
    entries: list[Entry] = parent["config"]["layers"]
    own = str(settings.get("name") or "") or _free_name(entries, kind)
    fresh: Entry = {"class_name": kind, "config": {**settings, "name": own}}
    if any("module" in entry for entry in entries):
        fresh = {"module": "keras.layers", **fresh, "registered_name": None}
    place = next((index for index, entry in enumerate(entries) if name_of(entry) == name), -1)
    if not is_sequential(parent):
        fresh |= {"name": own, "inbound_nodes": []}
        if before:
            _connect_before(entries[place], fresh)
        else:
            _connect_after(parent, entries[place], fresh)
    entries.insert(place if before else place + 1, fresh)


def _connect_before(entry: Entry, fresh: Entry) -> None:
    """The new layer reads what the entry read, call by call; the entry reads the new layer."""
    for number, node in enumerate(entry["inbound_nodes"]):
        if len(list(refs(node))) != 1:
            raise CannotRun(f"Layer {name_of(entry)!r}: expected one tensor to read, got several. Nothing was changed.")
        fresh["inbound_nodes"].append(_plain_node(node))
        entry["inbound_nodes"][number] = replaced(node, lambda _, number=number: (name_of(fresh), number, 0))  # type: ignore[misc]


def _connect_after(parent: Entry, entry: Entry, fresh: Entry) -> None:
    """Whatever read the entry's first output reads the new layer."""
    name, own = name_of(entry), name_of(fresh)
    modern = _modern(parent)
    for number in range(max(1, len(entry.get("inbound_nodes") or ()))):
        fresh["inbound_nodes"].append(_node((name, number, 0), modern))

    def redirect(place: Place) -> Place:
        return (own, place[1], 0) if place[0] == name and place[2] == 0 else place

    for other in parent["config"]["layers"]:
        if other is not entry and "inbound_nodes" in other:
            other["inbound_nodes"] = replaced(other["inbound_nodes"], redirect)
    parent["config"]["output_layers"] = replaced(parent["config"].get("output_layers"), redirect)


def _remove(config: Entry, path: str) -> None:
    parent, _, name = _parent(config, path)
    entries: list[Entry] = parent["config"]["layers"]
    entry = next(item for item in entries if name_of(item) == name)
    if entry["class_name"] == "InputLayer" or len(entries) < 2:
        raise CannotRun(f"Layer {path!r}: expected a layer that can go, got the model's input. Nothing was changed.")
    entries.remove(entry)
    if is_sequential(parent):
        for key in ("batch_input_shape", "batch_shape"):
            if key in entry["config"] and entries[0]["class_name"] != "InputLayer":
                entries[0]["config"].setdefault(key, entry["config"][key])
        return
    sources: list[Place] = []
    for node in entry["inbound_nodes"]:
        read = list(refs(node))
        if len(read) != 1:
            raise CannotRun(f"Layer {path!r}: expected it to read one tensor, got {len(read)}. Nothing was changed.")
        sources.append(read[0])

    def redirect(place: Place) -> Place:
        return sources[place[1]] if place[0] == name else place

    for other in entries:
        if "inbound_nodes" in other:
            other["inbound_nodes"] = replaced(other["inbound_nodes"], redirect)
    parent["config"]["output_layers"] = replaced(parent["config"].get("output_layers"), redirect)


def _only_input(config: Entry) -> str:
    inputs = [name_of(entry) for entry in config["config"]["layers"] if entry["class_name"] == "InputLayer"]
    if len(inputs) > 1:
        raise CannotRun(f"The model: expected one input, got {len(inputs)}. Name the layer to put it behind.")
    tokens = [path for path, entry in walk(config) if entry["class_name"] in ("Embedding", "TextVectorization")]
    if tokens:
        raise CannotRun(f"The model: expected numbers as input, got tokens for {tokens[0]!r}. Nothing was changed.")
    return inputs[0] if inputs else ""


def _free_name(entries: list[Entry], kind: str) -> str:
    stem = "".join("_" + letter.lower() if letter.isupper() else letter for letter in kind).lstrip("_") + "_added"
    taken, name, number = {name_of(entry) for entry in entries}, stem, 1
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    return name


def _modern(parent: Entry) -> bool:
    return any(
        isinstance(node, dict) for entry in parent["config"]["layers"] for node in entry.get("inbound_nodes") or ()
    )


def _node(place: Place, modern: bool) -> Any:
    """A call with one tensor. The shape is not said: Keras reads the tensor's own."""
    if not modern:
        return [[*place, {}]]
    tensor = {"shape": [None], "dtype": "float32", "keras_history": list(place)}
    return {"args": [{"class_name": "__keras_tensor__", "config": tensor}], "kwargs": {}}


def _plain_node(node: Any) -> Any:
    return _node(next(refs(node)), isinstance(node, dict))
