"""Published worked examples of model states, to the digit."""

from __future__ import annotations

import pytest

from stethoscope.errors import BadSetting
from stethoscope.memory.planner.states import (
    OPTIMIZERS,
    PRECISIONS,
    Precision,
    compiled_optimizer,
    optimizer,
    precision,
    state_bytes,
)
from tests.tables import each

BILLION = 10**9
PAPERS = {
    "deepspeed": Precision("deepspeed", "2Ψ + 2Ψ + 12Ψ", 2, 2, 4, 4, 2, 0, "arXiv 1910.02054, section 3.1"),
    "megatron": Precision("megatron", "float32 gradients", 2, 4, 4, 4, 2, 0, "Megatron Core, Distributed Optimizer"),
    "megatron_16": Precision(
        "megatron_16", "16-bit gradients", 2, 2, 4, 8, 2, 0, "Megatron Core, Distributed Optimizer"
    ),
    "float32": PRECISIONS["float32"],
}


@each(("stage", "gigabytes"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.88)])
def test_zero_paper_figure_1(stage, gigabytes):
    parameters = 75 * BILLION // 10
    found = state_bytes(parameters, parameters, PAPERS["deepspeed"], optimizer("adam"), zero_stage=stage, devices=64)
    assert found.total / 1e9 == pytest.approx(gigabytes, abs=0.05 if stage < 3 else 0.005)


@each(
    ("devices", "stage", "gigabytes"),
    [
        (1, 1, 120),
        (4, 1, 52.5),
        (16, 1, 35.6),
        (64, 1, 31.4),
        (256, 1, 30.4),
        (1024, 1, 30.1),
        (4, 2, 41.3),
        (16, 2, 21.6),
        (64, 2, 16.6),
        (256, 2, 15.4),
        (1024, 2, 15.1),
        (4, 3, 30),
        (16, 3, 7.5),
        (64, 3, 1.88),
        (256, 3, 0.47),
        (1024, 3, 0.12),
    ],
)
def test_zero_paper_table_1(devices, stage, gigabytes):
    parameters = 75 * BILLION // 10
    found = state_bytes(
        parameters, parameters, PAPERS["deepspeed"], optimizer("adam"), zero_stage=stage, devices=devices
    )
    assert found.total / 1e9 == pytest.approx(gigabytes, rel=0.01, abs=0.05 if gigabytes > 2 else 0.005)


@each(
    ("name", "alone", "shared"),
    [
        ("megatron_16", 20, lambda d: 4 + 16 / d),
        ("megatron", 18, lambda d: 6 + 12 / d),
        ("float32", 16, lambda d: 8 + 8 / d),
    ],
)
@each("devices", [1, 2, 8, 64])
def test_megatron_bytes_per_parameter(name, alone, shared, devices):
    count = 64_000
    adam = optimizer("adam")
    assert state_bytes(count, count, PAPERS[name], adam).total == alone * count
    distributed = state_bytes(count, count, PAPERS[name], adam, zero_stage=1, devices=devices)
    assert distributed.total == shared(devices) * count


@each(
    ("name", "per_parameter"),
    [
        ("adam", 16),
        ("adamw", 16),
        ("sgd", 8),
        ("momentum", 12),
        ("rmsprop", 12),
        ("adagrad", 12),
        ("lion", 12),
        ("adafactor", 12),
        ("amsgrad", 20),
    ],
)
def test_keras_float32_bytes_per_parameter(name, per_parameter):
    assert state_bytes(1000, 1000, precision("float32"), optimizer(name)).total == per_parameter * 1000


@pytest.mark.parametrize("name", ["mixed_float16", "mixed_bfloat16"])
def test_keras_mixed_precision_does_not_halve_the_states(name):
    adam = optimizer("adam")
    assert state_bytes(1000, 1000, precision(name), adam) == state_bytes(1000, 1000, precision("float32"), adam)


def test_pure_bfloat16_halves_everything():
    assert state_bytes(1000, 1000, precision("bfloat16"), optimizer("adam")).total == 8 * 1000


def test_inference_and_frozen_weights_have_no_states():
    assert state_bytes(1000, 1000, precision("float32"), None).total == 4000
    part = state_bytes(1000, 10, precision("float32"), optimizer("adam"))
    assert (part.weights, part.gradients, part.optimizer) == (4000, 40, 80)


@each("devices", [1, 2, 3, 7, 64])
@each("name", PRECISIONS)
@each("kind", OPTIMIZERS)
def test_each_zero_stage_needs_no_more_than_the_one_before(devices, name, kind):
    totals = [
        state_bytes(1001, 1001, precision(name), optimizer(kind), zero_stage=stage, devices=devices).total
        for stage in range(4)
    ]
    assert totals == sorted(totals, reverse=True)


def test_a_compiled_optimizer_counts_what_its_settings_add():
    assert compiled_optimizer("SGD", {"momentum": 0.0}).slots == 0
    assert compiled_optimizer("SGD", {"momentum": 0.9}).slots == 1
    assert compiled_optimizer("Adam", {"amsgrad": True, "use_ema": True}).slots == 4
    assert compiled_optimizer("RMSprop", {"centered": True, "momentum": 0.1}).slots == 3
    assert compiled_optimizer("AdamW", {"gradient_accumulation_steps": 4}).slots == 3
    assert compiled_optimizer("MyOwn", {}) is None


def test_nonsense_is_refused_with_what_is_known():
    with pytest.raises(BadSetting, match="adamw"):
        optimizer("adamm")
    with pytest.raises(BadSetting, match="mixed_bfloat16"):
        precision("fp8")
