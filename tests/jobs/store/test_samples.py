from __future__ import annotations

import json

import pytest

from stethoscope.errors import BadSetting, NotFound
from stethoscope.jobs.store import SAMPLES_OWNER, register_samples
from tests.jobs.store.conftest import files_in


@pytest.fixture
def folder(tmp_path):
    built = tmp_path / "built"
    (built / "net").mkdir(parents=True)
    (built / "digits.keras").write_bytes(b"k")
    (built / "digits.tflite").write_bytes(b"t")
    (built / "net" / "saved_model.pb").write_bytes(b"s")
    rows = [
        {"file": "digits.keras", "title": "Digits", "behaviour": "healthy", "description": "Reads digits."},
        {"file": "digits.tflite", "title": "Digits on a phone", "behaviour": "", "description": ""},
        {"file": "net", "title": "A folder", "behaviour": "", "description": ""},
        {"file": "built-on-demand.keras", "title": "Big", "behaviour": "", "description": ""},
    ]
    (built / "manifest.json").write_text(json.dumps(rows))
    return built


def test_samples_are_shared_read_only_entries_with_fixed_ids(make_store, folder):
    store = make_store()
    found = register_samples(store, folder)
    assert [entry.id for entry in found] == ["sample-digits", "sample-digits-tflite", "sample-net"]
    digits = store.get("sample-digits")
    assert (digits.title, digits.behaviour, digits.sample, digits.owner) == ("Digits", "healthy", True, SAMPLES_OWNER)
    assert {entry.id for entry in store.list(SAMPLES_OWNER)} == {entry.id for entry in found}
    for change in (store.remove, store.set_trusted):
        with pytest.raises(NotFound):
            change("sample-digits", SAMPLES_OWNER)
    assert store.usage("ada").used_bytes == 0


def test_registering_again_changes_nothing_and_follows_the_manifest(make_store, folder, tmp_path):
    store = make_store()
    before = register_samples(store, folder)
    again = register_samples(store, folder)
    assert [(entry.id, entry.sha256) for entry in again] == [(entry.id, entry.sha256) for entry in before]
    assert len(files_in(tmp_path / "store")) == 3
    (folder / "digits.keras").write_bytes(b"better")
    (folder / "manifest.json").write_text(json.dumps([{"file": "digits.keras", "title": "Digits 2"}]))
    register_samples(store, folder)
    assert [entry.title for entry in store.list(SAMPLES_OWNER)] == ["Digits 2"]
    assert store.get("sample-digits").path.read_bytes() == b"better"
    assert len(files_in(tmp_path / "store")) == 1


def test_no_samples_built_is_no_error(make_store, tmp_path):
    assert register_samples(make_store(), tmp_path / "nowhere") == ()


@pytest.mark.parametrize("text", ["{", '{"file": "a"}', '[{"title": "no file"}]'])
def test_a_broken_manifest_is_said(make_store, folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(BadSetting, match=r"manifest\.json"):
        register_samples(make_store(), folder)
