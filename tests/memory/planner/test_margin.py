"""What may be said of a device, given how wrong a plan may be."""

from __future__ import annotations

from stethoscope.memory.planner.margin import margin, verdict
from stethoscope.memory.planner.parallelism import BytesPerDevice
from stethoscope.memory.planner.plan import Settings, plan
from tests.memory.planner.test_plan import MODELS, small

GIB = 1 << 30


def test_it_fits_only_beyond_the_error():
    planned = BytesPerDevice(GIB // 4, GIB // 4, GIB // 2, GIB, 0)
    around = margin(planned)
    assert verdict(planned, 2 * GIB + around.short_bytes) == "fits"
    assert verdict(planned, 2 * GIB + around.short_bytes - 1) == "too_near"
    assert verdict(planned, 2 * GIB - around.over_bytes) == "too_near"
    assert verdict(planned, 2 * GIB - around.over_bytes - 1) == "does_not_fit"


def test_what_is_computed_is_less_sure_than_what_is_kept():
    kept, computed = BytesPerDevice(GIB, 0, 0, 0, 0), BytesPerDevice(0, 0, 0, GIB, 0)
    assert margin(kept).short_bytes < margin(computed).short_bytes


def test_what_is_too_near_stands_between_what_fits_and_what_does_not():
    alone = next(item for item in plan(MODELS["transformer"], Settings(small(GIB))) if item.kind == "single")
    planned = alone.bytes_per_device.total
    found = plan(MODELS["transformer"], Settings(small(planned), devices=4))
    order = [("fits", "too_near", "does_not_fit").index(item.verdict) for item in found]
    assert order == sorted(order)
    near = next(item for item in found if item.kind == "single")
    assert (near.verdict, near.fits, near.headroom_bytes) == ("too_near", False, 0)
