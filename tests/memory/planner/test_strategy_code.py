"""Programs to copy: valid Python that names only what the installed TensorFlow and Keras have."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from stethoscope.architecture.model_shape import model_shape
from stethoscope.memory.planner.plan import Settings, plan
from stethoscope.memory.planner.presets import device
from stethoscope.memory.planner.states import OPTIMIZERS, PRECISIONS
from stethoscope.memory.planner.strategy_code import layout_rules, strategy_codes
from stethoscope.memory.planner.tensor_parallel import tensor_split
from tests.memory.planner.architectures import dense_stack, residual_network, transformer
from tests.tables import each

MODELS = {
    "transformer": transformer(blocks=3, hidden=64, heads=8, vocabulary=96),
    "residual": residual_network(),
    "dense": dense_stack([64, 64, 8]),
}


def package(name: str) -> Path:
    return Path(importlib.util.find_spec(name).submodule_search_locations[0])  # finds it, does not import it


def exports(init: Path) -> set[str]:
    tree = ast.parse(init.read_text())
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def names_in(code: str, root: str) -> set[str]:
    """Dotted names that begin with `root`."""
    found = set()
    for start in ast.walk(ast.parse(code)):
        node, parts = start, []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id == root and parts:
            found.add(".".join(reversed(parts)))
    return found


def exists(dotted: str, folder: Path) -> bool:
    *parents, last = dotted.split(".")
    for parent in parents:
        if not (folder / parent).is_dir():
            return False
        folder /= parent
    return last in exports(folder / "__init__.py") or (folder / last).is_dir()


def every_code(training: bool):
    for name, model in MODELS.items():
        shape = model_shape(model)
        for target in ("t4", "tpu-v3"):
            for count in (1, 4, 16):
                for numbers in ("float32", "mixed_bfloat16"):
                    asked = Settings(device(target), count, training, precision=numbers)
                    for item in plan(shape, asked):
                        for code in strategy_codes(item, asked, shape, "model.keras"):
                            yield name, item, code


@pytest.mark.parametrize("training", [True, False])
def test_every_program_is_python_and_names_what_exists(training):
    tensorflow, keras = package("tensorflow") / "_api" / "v2", package("keras")
    seen = {"tf": set(), "keras": set()}
    for _, item, code in every_code(training):
        ast.parse(code.code)
        assert code.runs_on and code.title, item.kind
        assert item.available, item.kind
        for root in seen:
            seen[root] |= names_in(code.code, root)
    assert {"distribute.MirroredStrategy", "distribute.TPUStrategy", "distribute.OneDeviceStrategy"} <= seen["tf"]
    assert {"distribution.LayoutMap", "distribution.DeviceMesh", "distribution.DataParallel"} <= seen["keras"]
    for dotted in seen["tf"] - {"data.Dataset.from_tensor_slices"}:  # a class's own function
        assert exists(dotted, tensorflow), f"tf.{dotted}"
    for dotted in seen["keras"]:
        assert exists(dotted, keras), f"keras.{dotted}"


@each("name", OPTIMIZERS)
def test_every_optimizer_has_a_class(name):
    asked = Settings(device("t4"), optimizer=name)
    shape = model_shape(MODELS["dense"])
    code = strategy_codes(plan(shape, asked)[0], asked, shape)[0].code
    (called,) = (dotted for dotted in names_in(code, "keras") if dotted.startswith("optimizers."))
    assert exists(called, package("keras"))


@each("name", PRECISIONS)
def test_a_policy_is_set_for_what_is_no_default(name):
    asked = Settings(device("t4"), precision=name)
    shape = model_shape(MODELS["dense"])
    code = strategy_codes(plan(shape, asked)[0], asked, shape)[0].code
    is_policy = name != "float32"
    assert ("set_dtype_policy" in code) == is_policy
    assert ("load_model" in code) == (not is_policy)  # a loaded file keeps the policy it was saved with


def first_code(kind, **options):
    shape = model_shape(MODELS[options.pop("model", "transformer")])
    asked = Settings(device(options.pop("device", "t4")), **options)
    item = next(item for item in plan(shape, asked) if item.layout.family == kind)
    return strategy_codes(item, asked, shape, 'my "model".keras')


def test_devices_decide_the_strategy():
    assert first_code("single")[0].title == "OneDeviceStrategy"
    assert first_code("data", devices=4)[0].title == "MirroredStrategy"
    assert '"/GPU:3"' in first_code("data", devices=4)[0].code
    (training,) = first_code("data", devices=16)
    assert training.title == "keras.distribution.DataParallel"
    assert "several machines" in training.note
    predicting = first_code("data", devices=16, training=False)
    assert [code.title for code in predicting] == ["MirroredStrategy", "keras.distribution.DataParallel"]
    assert "2 machines" in predicting[0].note
    assert first_code("data", devices=8, device="tpu-v3")[0].title == "TPUStrategy"
    assert "initialize_tpu_system" in first_code("data", devices=8, device="tpu-v3")[0].code
    assert {code.title for code in first_code("data", devices=4)} >= {"keras.distribution.DataParallel"}


def test_settings_reach_the_program():
    code = first_code("data", devices=4, optimizer="lion", batch_size=96)[0].code
    assert "keras.optimizers.Lion()" in code
    assert "batch_size=96" in code
    assert 'load_model("my \\"model\\".keras")' in code
    assert "model.predict" in first_code("data", devices=4, training=False)[0].code


def test_what_tensorflow_has_not_is_said():
    for kind in ("zero2", "pipeline"):
        assert first_code(kind, devices=8) == ()
    assert "JAX backend only" in first_code("tensor", devices=4)[0].note


@pytest.mark.usefixtures("sure")
def test_recomputation_has_no_program():
    shape = model_shape(transformer(blocks=12, hidden=64, heads=8, sequence=256))
    roomy = plan(shape, Settings(device("1TB"), batch_size=64))[0].bytes_per_device.total
    asked = Settings(device(str(int(roomy * 0.2))), batch_size=64)
    recomputed = next(item for item in plan(shape, asked) if item.kind == "single+recompute")
    assert recomputed.fits
    assert strategy_codes(recomputed, asked, shape) == ()


def test_other_formats_are_not_loaded_as_keras():
    shape = model_shape(transformer().__class__(**{**vars(transformer()), "format_id": "onnx"}))
    asked = Settings(device("t4"), training=False)
    assert "load_model" not in strategy_codes(plan(shape, asked)[0], asked, shape, "m.onnx")[0].code


def test_layout_rules_match_each_split_variable_once_and_nothing_else():
    shape = model_shape(transformer(blocks=12, hidden=64, heads=8, vocabulary=96))
    rules, left_out = layout_rules(shape, tensor_split(shape, 4))
    assert not left_out
    assert len(rules) == 1 + 7 + 2 + 1  # one rule for all twelve blocks
    wanted = {
        "embed/embeddings": ("model", None),
        "block_11_attention/query/kernel": (None, "model", None),
        "block_3_attention/value/bias": ("model", None),
        "block_0_attention/attention_output/kernel": ("model", None, None),
        "outer/block_10_wide/kernel": (None, "model"),
        "block_7_wide/bias": ("model",),
        "block_7_narrow/kernel": ("model", None),
    }
    copied = ["block_7_narrow/bias", "block_0_norm_1/gamma", "block_0_attention/attention_output/bias"]
    for path, axes in wanted.items():
        assert [found for key, found in rules if re.fullmatch(key, path)] == [axes], path
    for path in copied:
        assert not [key for key, _ in rules if re.fullmatch(key, path)], path


def test_layers_that_differ_only_by_number_but_not_in_treatment_keep_their_own_rules():
    shape = model_shape(dense_stack([64, 64, 6]))
    rules, _ = layout_rules(shape, tensor_split(shape, 4))
    for path in ("dense_0/kernel", "dense_1/kernel"):
        assert len([key for key, _ in rules if re.fullmatch(key, path)]) == 1
    assert not [key for key, _ in rules if re.fullmatch(key, "dense_2/kernel")]
