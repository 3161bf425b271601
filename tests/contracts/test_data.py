"""What every reader of data, every step and every method of attribution owes, found by looking."""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sample_models import BUILT
from stethoscope.activations import attributions
from stethoscope.data import all_readers, recognise
from stethoscope.data.preprocessing import all_steps
from stethoscope.discover import discover
from stethoscope.errors import StethoscopeError
from stethoscope.types import ModelFile
from tests.exploring import examples

ROOT = Path(__file__).resolve().parents[2]
MODELS = [row["file"] for row in json.loads((BUILT / "manifest.json").read_text()) if row.get("format_id")]
READERS = all_readers()
SUFFIXES = sorted({".xml", ".zip", *(suffix for reader in READERS.values() for suffix in reader.extensions)})
STEPS = all_steps()
METHODS = discover(attributions, "METHOD", "id")


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_reader_says_who_it_is(reader):
    assert reader.title
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in reader.extensions)
    assert reader.title in (ROOT / "docs" / "data.md").read_text(), "name it in docs/data.md"


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=400), suffix=st.sampled_from(SUFFIXES))
def test_foreign_bytes_never_make_a_reader_stumble(tmp_path, content, suffix):
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    file = ModelFile.at(path)
    for reader in READERS.values():
        assert reader.sniff(file) in (True, False)
    try:
        opened = recognise(file).open(file, 1 << 28, {})
    except StethoscopeError as error:
        assert path.name in str(error)
        return
    with opened as data:
        assert len(data.samples(range(3))) <= data.about.rows


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_no_data(name):
    with pytest.raises(StethoscopeError, match="expected data"):
        recognise(ModelFile.at(BUILT / name))


def test_a_packed_model_is_no_data(tmp_path):
    path = tmp_path / "model.tflite.gz"
    path.write_bytes(gzip.compress((BUILT / "digits_cnn.tflite").read_bytes()))
    with pytest.raises(StethoscopeError, match="expected data"):
        recognise(ModelFile.at(path))


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_step_says_what_it_does_and_how(step):
    assert step.title
    module = importlib.import_module(type(step).__module__)
    assert step in getattr(module, "STEPS", ()) or module.STEP is step
    assert type(step).__name__.lower() == step.id.replace("_", "")
    assert inspect.getdoc(type(step)), "its first line is shown beside the step"
    assert step.title in (ROOT / "docs" / "data.md").read_text(), "name it in docs/data.md"


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_method_names_its_source(method):
    assert method.title
    assert method.about
    assert method.source
    assert method.title in (ROOT / "docs" / "activations.md").read_text(), "name it in docs/activations.md"
