"""Keras' JSON as layers and calls: every layout that Keras wrote, and sentences for what is no description."""

from __future__ import annotations

from typing import Any

import pytest

from stethoscope.errors import TooLarge, UnreadableFile
from stethoscope.models.containers import damage
from stethoscope.models.formats.keras_model.keras_config import Ref, as_shape, parse_network, refs_in, resolve
from tests.tables import each


def nested(depth: int) -> dict[str, Any]:
    model: dict[str, Any] = {"class_name": "Dense", "config": {"name": "end", "units": 1}}
    for at in range(depth):
        model = {"class_name": "Sequential", "config": {"name": f"m{at}", "layers": [model]}}
    return model


@each(
    ("data", "error", "says"),
    [
        ([], UnreadableFile, "got list"),
        ({"config": {}}, UnreadableFile, "got dict"),
        ({"class_name": "Model", "config": "none"}, UnreadableFile, "has no config"),
        ({"class_name": "Model", "config": {"layers": [{"config": {}}]}}, UnreadableFile, r"layer 0 .*class name"),
        (
            {"class_name": "Model", "config": {"name": "m", "layers": [{"class_name": "Dense", "name": "a"}] * 2}},
            UnreadableFile,
            "layers of model 'm'",
        ),
        (
            {"class_name": "Model", "config": {"layers": [{"class_name": "A"}] * (damage.MAX_LAYERS + 1)}},
            TooLarge,
            "declares",
        ),
        (nested(damage.MAX_DEPTH // 4 + 2), TooLarge, "nested more than"),
    ],
)
def test_what_is_no_description_is_a_sentence(data: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        parse_network("m.keras", data)


@each("config", [{"units": 3}, {"layers": "none"}, {"layers": ["odd"]}])
def test_a_subclassed_model_has_no_network(config: dict[str, Any]) -> None:
    assert parse_network("m.keras", {"class_name": "Mine", "config": config}) is None


def test_a_chain_of_keras_1_reads_one_layer_after_the_other() -> None:
    layers = [{"class_name": name, "config": {"name": name.lower()}} for name in ("Input", "Dense", "Relu")]
    network = parse_network("m.h5", {"class_name": "Sequential", "config": layers})
    assert network is not None
    assert (network.name, network.sequential) == ("sequential", True)
    assert [[ref.name for call in entry.calls for ref in call.refs()] for entry in network.entries] == [
        [],
        ["input"],
        ["dense"],
    ]
    empty = parse_network("m.h5", {"class_name": "Sequential", "config": {"layers": []}})
    assert empty is not None
    assert (empty.entries, empty.inputs, empty.outputs) == ([], None, None)


def tensor(name: str, shape: Any, history: Any = None) -> dict[str, Any]:
    where = [name, 0, 0] if history is None else history
    return {"class_name": "__keras_tensor__", "config": {"shape": shape, "dtype": "float32", "keras_history": where}}


@each(
    ("value", "expected"),
    [
        (tensor("a", [None, 3]), Ref("a", 0, 0, (None, 3), "float32")),
        (tensor("a", "odd", ["a", "x", 1]), Ref("a", 0, 1, None, "float32")),
        (tensor("a", [], "none"), None),
        (tensor("a", [], ["a"]), None),
        ({"class_name": "__slice__", "config": {"start": 1, "stop": None, "step": 2}}, slice(1, None, 2)),
        ({"class_name": "__tuple__", "items": [1, ["a", 0, 0]]}, (1, Ref("a", 0, 0))),
        ({"class_name": "__ellipsis__"}, ...),
        ({"start": None, "stop": 3, "step": None}, slice(None, 3, None)),
        ({"axis": 1, "x": ["a", 0, 2]}, {"axis": 1, "x": Ref("a", 0, 2)}),
        (["a", 0, 0], Ref("a", 0, 0)),
        (["unknown", 0, 0], ["unknown", 0, 0]),
        (["a", True, 0], ["a", True, 0]),
        ("word", "word"),
    ],
)
def test_values_of_a_call_are_read_back(value: Any, expected: Any) -> None:
    assert resolve(value, {"a"}) == expected


def test_what_is_nested_without_end_is_left_out() -> None:
    value: Any = "end"
    for _ in range(damage.MAX_DEPTH + 5):
        value = [value]
    found = resolve(value, set())
    while isinstance(found, list):
        (found,) = found
    assert found is None


@each(
    ("node", "args", "kwargs"),
    [
        ([["a", 0, 0, {}]], [Ref("a", 0, 0)], {}),
        ([["a", 0, 0, {}], ["b", 1, 0, {}]], [[Ref("a", 0, 0), Ref("b", 1, 0)]], {}),
        ([["a", 0, 0, {"mask": ["b", 0, 0]}]], [Ref("a", 0, 0)], {"mask": Ref("b", 0, 0)}),
        ({"x": ["a", 0, 0, {"axis": 1}], "y": 2}, [{"x": Ref("a", 0, 0), "y": 2}], {"axis": 1}),
        ([["_CONSTANT_VALUE", -1, 5.0, {}]], [5.0], {}),
        ("odd", ["odd"], {}),
        ({"args": [["a", 0, 0]], "kwargs": {"axis": 1}}, [Ref("a", 0, 0)], {"axis": 1}),
    ],
)
def test_calls_of_both_layouts_are_read(node: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    layers = [{"class_name": "Dense", "name": name, "config": {}} for name in "ab"]
    called = {"class_name": "Add", "name": "c", "config": {}, "inbound_nodes": [node]}
    config = {"layers": [*layers, called], "input_layers": [["a", 0, 0]], "output_layers": [["c", 0, 0]]}
    network = parse_network("m.h5", {"class_name": "Functional", "config": config})
    assert network is not None
    (call,) = network.entries[2].calls
    assert (call.args, call.kwargs) == (args, kwargs)
    assert call.modern is (isinstance(node, dict) and "args" in node)
    assert list(refs_in(network.outputs)) == [Ref("c", 0, 0)]


@each(
    ("value", "shape"),
    [
        ([None, 3], (None, 3)),
        ((2, 3), (2, 3)),
        ([], ()),
        ({"class_name": "__tuple__", "items": [None, 4]}, (None, 4)),
        ({"class_name": "TensorShape", "items": [2]}, (2,)),
        ({"class_name": "Other", "items": [2]}, None),
        ([True, 3], None),
        ([-1, 3], None),
        (["3"], None),
        (7, None),
        (None, None),
    ],
)
def test_shapes_are_lists_of_sizes(value: Any, shape: Any) -> None:
    assert as_shape(value) == shape
