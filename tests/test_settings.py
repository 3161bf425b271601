from __future__ import annotations

import os
from pathlib import Path

import pytest

from stethoscope.errors import BadSetting
from stethoscope.settings import PREFIX, Settings, settings, table

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def fresh():
    settings.cache_clear()
    yield
    settings.cache_clear()


def test_the_documented_table_is_the_class():
    assert table() in (PROJECT / "docs" / "settings.md").read_text("utf-8")


def test_every_setting_says_what_it_means():
    assert all(field.description for field in Settings.model_fields.values())


def test_a_size_may_have_a_unit(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}MAX_UPLOAD_BYTES", "500MB")
    assert settings().max_upload_bytes == 500_000_000


def test_a_senseless_value_names_its_variable(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}JOB_SLOTS", "many")
    with pytest.raises(BadSetting, match="STETHOSCOPE_JOB_SLOTS"):
        settings()


def test_settings_do_not_change_under_a_running_server():
    with pytest.raises(ValueError, match="frozen"):
        settings().job_slots = 3  # type: ignore[misc]


def test_folders_of_logs_are_separated_as_in_path(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}LOG_FOLDERS", f"/logs{os.pathsep}{os.pathsep}~/runs")
    assert settings().log_folders == (Path("/logs"), Path.home() / "runs")
    settings.cache_clear()
    monkeypatch.setenv(f"{PREFIX}LOG_FOLDERS", "logs")
    with pytest.raises(BadSetting, match="LOG_FOLDERS"):
        settings()
