"""A layer's settings, made readable: what a person or a check wants to see of a serialized config."""

from __future__ import annotations

from typing import Any

_NOISE = frozenset(
    {"name", "module", "registered_name", "shared_object_id", "build_config", "compile_config", "layers"}
)
_MAX_ITEMS = 64
_MAX_TEXT = 400


def readable_config(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the config without Keras' bookkeeping: objects as {"class_name", "config"}, functions by name, long lists cut."""
    return {key: _value(item, 0) for key, item in config.items() if key not in _NOISE and item is not None}


def dtype_name(policy: Any) -> str:
    """The dtype a layer computes in: of a dtype or policy in any of Keras' notations, "float32" when not given."""
    if isinstance(policy, dict):
        config = policy.get("config")
        if isinstance(config, dict):
            policy = config.get("name") or config.get("dtype")
        else:
            policy = config if isinstance(config, str) else policy.get("name")
    if not isinstance(policy, str) or not policy:
        return "float32"
    if "_from_" in policy:
        policy = policy.split("_from_", 1)[1]
    return str(policy).removeprefix("mixed_")


def _value(value: Any, depth: int) -> Any:
    if depth > 12:
        return "…"
    if isinstance(value, str):
        return value if len(value) <= _MAX_TEXT else value[:_MAX_TEXT] + "…"
    if isinstance(value, list | tuple):
        items = [_value(item, depth + 1) for item in value[:_MAX_ITEMS]]
        return items if len(value) <= _MAX_ITEMS else [*items, f"… {len(value):,} items"]
    if isinstance(value, dict):
        return _mapping(value, depth)
    return value


def _mapping(value: dict[str, Any], depth: int) -> Any:
    kind, config = value.get("class_name"), value.get("config")
    if kind in ("DTypePolicy", "Policy"):
        return dtype_name(value)
    if kind == "__tuple__":
        return _value(value.get("items"), depth + 1)
    if kind in ("__lambda__",):
        return "Python lambda"
    if kind == "function" and isinstance(config, str):
        return config
    if isinstance(kind, str):
        inner = config if isinstance(config, dict) else {}
        name = {"name": inner["name"]} if isinstance(inner.get("name"), str) else {}
        return {
            "class_name": kind,
            "config": {**name, **{k: _value(v, depth + 1) for k, v in inner.items() if k not in _NOISE}},
        }
    return {key: _value(item, depth + 1) for key, item in list(value.items())[:_MAX_ITEMS]}
