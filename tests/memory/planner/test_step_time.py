"""Seconds of a step: what they are made of, held against arithmetic by hand."""

from __future__ import annotations

import pytest

from stethoscope.architecture.model_shape import model_shape
from stethoscope.memory.planner.parallelism import Division, Workload
from stethoscope.memory.planner.presets import DEVICES, device
from stethoscope.memory.planner.speeds import SPEEDS
from stethoscope.memory.planner.states import Layout, optimizer, precision
from stethoscope.memory.planner.step_time import assumptions, link_bytes_per_s, step_time
from tests.memory.planner.architectures import dense_stack
from tests.tables import each


def time(
    batch: int, layout: Layout, *, training: bool = True, target: str = "a100-40", sent: int = 0, numbers="float32"
):
    shape = model_shape(dense_stack([4096, 4096], inputs=4096))
    work = Workload(shape, precision(numbers), optimizer("sgd") if training else None, batch)
    return step_time(work, layout, Division(work, layout.tensor), device(target), sent_bytes=sent)


def test_a_large_batch_takes_its_operations_and_a_small_one_its_weights():
    weights = 2 * (4096 * 4096 + 4096)
    assert time(65_536, Layout()).computing_s == pytest.approx(3 * 2 * weights * 65_536 / (0.5 * 156e12), rel=0.01)
    assert time(1, Layout()).computing_s == pytest.approx(3 * 4 * weights / (0.8 * 1555e9), rel=0.01)


def test_what_is_trained_is_read_and_written_once_a_step():
    weights = 2 * (4096 * 4096 + 4096)
    assert time(64, Layout()).update_s == pytest.approx(12 * weights / (0.8 * 1555e9))
    assert time(64, Layout(), training=False).update_s == 0


def test_the_batch_is_divided_and_the_exchange_is_not():
    one, eight = time(65_536, Layout()), time(65_536, Layout(data=8), sent=300_000_000)
    assert eight.computing_s == pytest.approx(one.computing_s / 8, rel=0.01)
    assert eight.exchange_s == pytest.approx(0.001 + 6.6e-6 + 14 * 0.6e-6)
    assert eight.update_s == one.update_s
    assert eight.total_s == eight.computing_s + eight.exchange_s + eight.update_s


def test_a_split_layer_waits_for_the_others_in_every_pass():
    two = time(1, Layout(tensor=2), sent=0)
    assert two.exchange_s == pytest.approx(2 * (6.6e-6 + 2 * 0.6e-6))  # a pair of layers, forward and backward
    assert time(1, Layout(tensor=2), training=False).exchange_s == pytest.approx(6.6e-6 + 2 * 0.6e-6)


def test_between_hosts_it_is_the_network():
    card, core = device("a100-40"), device("tpu-v3")
    assert link_bytes_per_s(Layout(data=8), card) == 300e9
    assert link_bytes_per_s(Layout(data=16), card) == 25e9
    assert link_bytes_per_s(Layout(data=16), core) == link_bytes_per_s(Layout(data=8), core)


def test_bfloat16_is_no_faster_where_the_card_has_none():
    assert SPEEDS["t4"].flops("mixed_bfloat16") == SPEEDS["t4"].flops("float32")
    assert SPEEDS["t4"].flops("mixed_float16") > SPEEDS["t4"].flops("float32")
    assert SPEEDS["a100-40"].flops("bfloat16") == 2 * SPEEDS["a100-40"].flops("float32")


@each("name", DEVICES)
def test_every_preset_has_a_speed(name):
    speed = SPEEDS[name]
    assert 1e12 <= speed.float32_flops <= speed.half_flops
    assert speed.link_bytes_per_s < speed.memory_bytes_per_s


def test_the_assumptions_carry_their_numbers():
    work = Workload(model_shape(dense_stack([10], inputs=10)), precision("float32"), None, 1)
    told = assumptions(work, device("t4"))
    assert "8.1 TFLOP/s" in told and "320 GB/s" in told and "15.75 GB/s" in told
    assert "a100-40" in assumptions(work, device("7GB"))
