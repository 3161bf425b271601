"""What can be tried for a model follows from its file and the present settings."""

from __future__ import annotations

from stethoscope.memory.alternatives import alternatives, together
from stethoscope.memory.run_settings import RunSettings
from stethoscope.types import Architecture, Layer, TensorSpec


def architecture(format_id: str = "keras", batch: int | None = None, dtype: str = "float32") -> Architecture:
    return Architecture(
        format_id, "", 1, 1, (TensorSpec("x", (batch, 4), "float32"),), (), (Layer("a", "Dense", None, 1, 1, dtype),)
    )


def test_each_alternative_changes_one_thing():
    present = RunSettings(batch_size=32, call="predict")
    found, untried = alternatives(present, architecture(), 128)
    assert untried == ()
    assert {item.kind for item in found} == {"call", "xla", "batch", "precision", "length"}
    assert len({item.id for item in found}) == len(found)
    for item in found:
        old, new = present.to_json(), item.settings.to_json()
        changed = [name for name in old if old[name] != new[name]]
        assert len(changed) + (item.open_size is not None) == 1, item


def test_a_graph_offers_its_batch_only():
    found, untried = alternatives(RunSettings(), architecture("onnx"), None)
    assert {item.kind for item in found} == {"batch"}
    assert {item.kind for item in untried} == {"call", "xla", "precision", "length"}
    assert all(item.reason for item in untried)


def test_a_fixed_batch_is_not_lowered():
    found, untried = alternatives(RunSettings(), architecture("tflite", batch=1), None)
    assert found == ()
    assert "batch" in {item.kind for item in untried}


def test_only_the_kinds_wanted():
    found, untried = alternatives(RunSettings(), architecture(), None, ["precision"])
    assert {item.kind for item in found} == {"precision"}
    assert untried == ()


def test_changes_of_different_kinds_go_together():
    present = RunSettings(call="call")
    found, _ = alternatives(present, architecture(), None)
    by_id = {item.id: item for item in found}
    both = together(present, [by_id["call-function"], by_id["precision-bfloat16"]])
    assert both is not None
    assert (both.settings.call, both.settings.precision) == ("function", "bfloat16")
    assert "bfloat16" in both.changes_outputs
    assert together(present, [by_id["call-function"], by_id["call-predict"]]) is None
