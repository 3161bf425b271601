"""The models of trained_models.py, once for all tests here."""

from __future__ import annotations

import pytest

from tests.training.placement.trained_models import save_all


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    return save_all(tmp_path_factory.mktemp("placement"))
