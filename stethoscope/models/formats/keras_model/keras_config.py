"""Keras' JSON description of a model → layers, calls and nested models, for the Keras 3 and the Keras 1/2 layouts.

Nothing is deserialised: the result is plain data. Layouts read: `Sequential` (a list in Keras 1 and 2.0, a dict since),
`Model`/`Functional` with `inbound_nodes` as nested lists (Keras 1/2) or as args/kwargs with `__keras_tensor__` (Keras 3).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage
from stethoscope.models.formats.keras_model.keras_builtins import is_builtin_class
from stethoscope.types import Shape


@dataclass(frozen=True)
class Ref:
    """A tensor: output `tensor` of call `node` of the entry `name`, with the shape and dtype the file recorded, if any."""

    name: str
    node: int
    tensor: int
    shape: Shape | None = None
    dtype: str = ""


@dataclass
class Call:
    """One use of a layer: `args` and `kwargs` with a `Ref` in place of each tensor."""

    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)
    modern: bool = False
    """Whether it is noted in Keras 3's way, with args and kwargs."""

    def refs(self) -> list[Ref]:
        """Every tensor it reads, in order."""
        return list(refs_in([self.args, self.kwargs]))

    def operands(self, class_name: str) -> list[Ref]:
        """The tensors it computes with, without those that only mask; query, value and key of attention in that order."""
        told = {name: value for name, value in self.kwargs.items() if "mask" not in name}
        if class_name not in _ATTENTION:
            return list(refs_in([self.args, told]))
        told |= dict(zip(_QUERIED, self.args, strict=False))
        return list(refs_in([told.get(name) for name in _QUERIED]))


_ATTENTION = ("MultiHeadAttention", "GroupedQueryAttention")
_QUERIED = ("query", "value", "key")
"""The first arguments of their `call`; Keras 3 and Keras 2 go on with masks, each with its own."""


@dataclass
class Entry:
    """One layer, operation or nested model of a network."""

    name: str
    class_name: str
    module: str | None
    registered_name: str | None
    config: dict[str, Any]
    build_config: dict[str, Any]
    calls: list[Call] = field(default_factory=list)
    network: Network | None = None

    @property
    def trainable(self) -> bool:
        """Its own flag; a frozen parent freezes it too."""
        return self.config.get("trainable") is not False


@dataclass
class Network:
    """A Sequential or functional model. `outputs` and `inputs` are structures (lists, dicts) of `Ref`."""

    name: str
    class_name: str
    sequential: bool
    entries: list[Entry]
    inputs: Any
    outputs: Any
    config: dict[str, Any]
    build_config: dict[str, Any]

    @property
    def trainable(self) -> bool:
        """The model's own flag."""
        return self.config.get("trainable") is not False


def parse_network(subject: str, data: Any, depth: int = 0) -> Network | None:
    """Returns the network that `data` (a serialized model) describes, or None when it is a subclassed model.

    Raises:
        UnreadableFile: it is not a description of a Keras model.
        TooLarge: nested deeper, or with more layers, than `limits` allow.
    """
    if depth > damage.MAX_DEPTH // 4:
        raise TooLarge(f"{subject}: models are nested more than {damage.MAX_DEPTH // 4} deep. No model needs that.")
    if not isinstance(data, dict) or not isinstance(data.get("class_name"), str):
        raise UnreadableFile(
            f"{subject}: expected a Keras model description, got {type(data).__name__}. Save the model again."
        )
    class_name, config = data["class_name"], data.get("config")
    if isinstance(config, list):
        config = {"name": data.get("name") or "sequential", "layers": config}
    if not isinstance(config, dict):
        raise UnreadableFile(f"{subject}: model {class_name!r} has no config. Save the model again.")
    layers = config.get("layers")
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        return None
    if len(layers) > damage.MAX_LAYERS:
        raise TooLarge(f"{subject}: declares {len(layers):,} layers, expected at most {damage.MAX_LAYERS:,}.")
    functional = "input_layers" in config and "output_layers" in config
    names = {_name_of(layer, index) for index, layer in enumerate(layers)}
    if len(names) != len(layers):
        raise UnreadableFile(
            f"{subject}: two layers of model {config.get('name')!r} have the same name. Rename one and save again."
        )
    entries = [_entry(subject, layer, index, names, depth) for index, layer in enumerate(layers)]
    name = str(config.get("name") or class_name.lower())
    build = _dict(data.get("build_config"))
    if functional:
        inputs, outputs = (resolve(config[key], names) for key in ("input_layers", "output_layers"))
        return Network(name, class_name, False, entries, inputs, outputs, config, build)
    _chain(entries)
    first, last = (Ref(entries[0].name, 0, 0), Ref(entries[-1].name, 0, 0)) if entries else (None, None)
    return Network(name, class_name, True, entries, first, last, config, build)


def resolve(value: Any, names: set[str], depth: int = 0) -> Any:
    """Returns `value` with serialized tensors as `Ref`, slices as `slice`, tuples as tuples."""
    if depth > damage.MAX_DEPTH:
        return None
    if isinstance(value, dict):
        kind, config = value.get("class_name"), value.get("config")
        if kind == "__keras_tensor__" and isinstance(config, dict):
            return _keras_tensor(config)
        if kind == "__slice__" and isinstance(config, dict):
            return slice(*(resolve(config.get(key), names, depth + 1) for key in ("start", "stop", "step")))
        if kind == "__tuple__":
            return tuple(resolve(item, names, depth + 1) for item in _list(value.get("items")))
        if kind == "__ellipsis__":
            return ...
        if set(value) == {"start", "stop", "step"}:
            return slice(*(resolve(value[key], names, depth + 1) for key in ("start", "stop", "step")))
        return {key: resolve(item, names, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        if _is_ref(value, names):
            return Ref(value[0], value[1], value[2])
        return [resolve(item, names, depth + 1) for item in value]
    return value


def refs_in(value: Any) -> Iterator[Ref]:
    """Yields every `Ref` of a structure, in order."""
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from refs_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from refs_in(item)


def _entry(subject: str, layer: dict[str, Any], index: int, names: set[str], depth: int) -> Entry:
    class_name = layer.get("class_name")
    if not isinstance(class_name, str):
        raise UnreadableFile(f"{subject}: layer {index} has no class name. Save the model again.")
    config = layer.get("config")
    network = None
    if isinstance(config, list) or (isinstance(config, dict) and isinstance(config.get("layers"), list)):
        network = parse_network(subject, layer, depth + 1)
    entry = Entry(
        name=_name_of(layer, index),
        class_name=_own_name(class_name),
        module=_text(layer.get("module")),
        registered_name=_text(layer.get("registered_name")),
        config=_dict(config),
        build_config=_dict(layer.get("build_config")),
        network=network,
    )
    for node in _list(layer.get("inbound_nodes")):
        entry.calls.append(_call(node, names))
    return entry


def _own_name(class_name: str) -> str:
    """Keras 2 registered a few classes of its own as "Custom>Name", and `.h5` files call them that."""
    own = class_name.startswith("Custom>") and is_builtin_class(class_name, None, None)
    return class_name.removeprefix("Custom>") if own else class_name


def _call(node: Any, names: set[str]) -> Call:
    if isinstance(node, dict) and "args" in node:
        return Call(_list(resolve(node["args"], names)), _dict(resolve(node.get("kwargs"), names)), modern=True)
    # Keras 1/2: the structure of the first argument; each tensor carries the call's keyword arguments as a fourth item.
    kwargs: dict[str, Any] = {}
    first = _first_ref(node, names)
    if first is not None and len(first) > 3:
        kwargs = _dict(resolve(first[3], names))
    structure = resolve(_constants(node), names)
    if isinstance(structure, list) and len(structure) == 1:
        structure = structure[0]
    return Call([structure], kwargs)


def _constants(node: Any) -> Any:
    if isinstance(node, list) and len(node) >= 3 and node[0] == "_CONSTANT_VALUE":
        return node[2]
    return (
        [_constants(item) for item in node] if isinstance(node, list) and node and isinstance(node[0], list) else node
    )


def _first_ref(node: Any, names: set[str], depth: int = 0) -> list[Any] | None:
    if depth > 8:
        return None
    if isinstance(node, list):
        if _is_ref(node, names):
            return node
        items: Any = node
    elif isinstance(node, dict):
        items = node.values()
    else:
        return None
    for item in items:
        found = _first_ref(item, names, depth + 1)
        if found is not None:
            return found
    return None


def _is_ref(value: list[Any], names: set[str]) -> bool:
    return (
        len(value) in (3, 4)
        and isinstance(value[0], str)
        and value[0] in names
        and all(isinstance(number, int) and not isinstance(number, bool) for number in value[1:3])
    )


def _keras_tensor(config: dict[str, Any]) -> Ref | None:
    history = config.get("keras_history")
    if not isinstance(history, list) or len(history) < 3:
        return None
    shape = as_shape(config.get("shape"))
    numbers = [number if isinstance(number, int) else 0 for number in history[1:3]]
    return Ref(str(history[0]), numbers[0], numbers[1], shape, str(config.get("dtype") or ""))


def _chain(entries: list[Entry]) -> None:
    for before, entry in itertools.pairwise(entries):
        entry.calls = [Call([Ref(before.name, 0, 0)])]
    if entries:
        entries[0].calls = []


def as_shape(value: Any) -> Shape | None:
    """Returns a JSON list of sizes as a shape, or None when it is not one."""
    if isinstance(value, dict) and value.get("class_name") in ("__tuple__", "TensorShape"):
        value = value.get("items", value.get("config"))
    if not isinstance(value, list | tuple):
        return None
    if all(size is None or (isinstance(size, int) and not isinstance(size, bool) and size >= 0) for size in value):
        return tuple(value)
    return None


def _name_of(layer: dict[str, Any], index: int) -> str:
    config = layer.get("config")
    inner = config.get("name") if isinstance(config, dict) else None
    return str(layer.get("name") or inner or f"{layer.get('class_name')}_{index}")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
