"""Networks of keras.applications are known by their layers, and their range is that of their own preprocess_input."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from stethoscope.evidence.data_fit.expected_input import RANGES, family_of
from tests.frameworks import keras

CASES = {
    "ResNet50": "resnet50",
    "ResNet50V2": "resnet_v2",
    "MobileNet": "mobilenet",
    "Xception": "xception",
    "EfficientNetB0": "efficientnet",
}


@pytest.mark.parametrize("name", CASES)
def test_a_family_is_known(name):
    model = getattr(keras.applications, name)(weights=None, include_top=False)
    # As a base inside another model.
    family = family_of(SimpleNamespace(layers=[SimpleNamespace(path=f"base/{layer.name}") for layer in model.layers]))
    assert family is not None
    made = getattr(keras.applications, CASES[name]).preprocess_input(
        np.array([[[[0, 0, 0], [255, 255, 255]]]], "float32")
    )
    assert RANGES[family.mode] == pytest.approx((made.min(), made.max()), abs=1e-3)


def test_other_networks_are_of_no_family():
    layers = [SimpleNamespace(path=path) for path in ("block1_conv1", "conv2d", "stem_conv1", "dense")]
    assert family_of(SimpleNamespace(layers=layers)) is None
