"""Threads of ONNX Runtime and LiteRT."""

from __future__ import annotations

import pytest

from sample_models import BUILT
from stethoscope import devices
from stethoscope.models.formats.onnx_model.onnx_runner import OnnxRunner
from stethoscope.types import ModelFile


@pytest.fixture(autouse=True)
def as_before():
    yield
    devices.choose(None)


def test_what_is_chosen_holds_until_something_else_is():
    assert devices.chosen() == devices.DEFAULT
    devices.choose(1)
    assert devices.chosen() == 1
    devices.choose(None)
    assert devices.chosen() == devices.DEFAULT


def test_a_session_is_made_with_them(tmp_path):
    devices.choose(1)
    with OnnxRunner(ModelFile.at(BUILT / "digits_cnn.onnx"), tmp_path) as runner:
        assert runner._session.get_session_options().intra_op_num_threads == 1
