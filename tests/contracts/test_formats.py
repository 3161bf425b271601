"""What every format owes, found by looking: a new file in `formats/` is held to this without a line here."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sample_models import BUILT
from stethoscope.codec import decode, plain
from stethoscope.data.dummy import dummy_feed
from stethoscope.errors import StethoscopeError
from stethoscope.models.formats import all_formats, detect
from stethoscope.tasks.describe import Description
from stethoscope.types import Architecture, ModelFile
from tests.models.formats import weights_files

MANIFEST = [row for row in json.loads((BUILT / "manifest.json").read_text()) if row.get("kind") != "data"]
SAMPLES = {entry["file"]: entry for entry in MANIFEST}
FORMATS = all_formats()
SMALLEST = {
    entry["format_id"]: entry["file"]
    for entry in sorted(MANIFEST, key=lambda entry: (not entry["file"].endswith(".zip"), -entry["size_bytes"]))
    if entry["expectations"].get("consistent") and not entry["expectations"].get("needs_trust")
}
"""The file of each format that is run: the last of it, one that lies there unpacked where there is one."""


@pytest.fixture(scope="module")
def described() -> dict[str, Architecture]:
    return {name: FORMATS[entry["format_id"]].describe(ModelFile.at(BUILT / name)) for name, entry in SAMPLES.items()}


@pytest.mark.parametrize("kind", FORMATS.values(), ids=FORMATS)
def test_a_format_says_who_it_is_and_has_a_sample(kind):
    assert kind.title and kind.hint
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in kind.extensions)
    assert kind.worker in ("light", "tensorflow")
    if kind.only_weights:
        assert kind.id in weights_files.MAKERS, "add a maker of files of this format"
    else:
        assert [entry for entry in MANIFEST if entry["format_id"] == kind.id], "add a sample model of this format"


@pytest.mark.parametrize("name", SAMPLES)
def test_content_decides_not_the_suffix(name, tmp_path):
    disguised = tmp_path / "model.jpg"
    shutil.copyfile(BUILT / name, disguised)
    assert detect(ModelFile.at(disguised)).id == SAMPLES[name]["format_id"]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_description_is_whole(name, described):
    found = described[name]
    assert found.parameters == SAMPLES[name]["parameters"]
    assert found.framework_version
    assert found.display_format
    assert found.inputs
    assert found.outputs
    assert found.layers
    paths = [layer.path for layer in found.layers]
    assert len(paths) == len(set(paths)), "layer paths are unique"
    assert {source for source, _ in found.edges} <= set(paths)
    assert sum(layer.parameters for layer in found.layers) == found.parameters
    if found.trainable_parameters is not None:
        assert 0 <= found.trainable_parameters <= found.parameters


@pytest.mark.parametrize("name", SAMPLES)
def test_the_description_survives_json(name, described):
    text = json.dumps(plain(Description.of(described[name], 1)), allow_nan=False)
    again = decode(Description, json.loads(text))
    assert plain(again) == json.loads(text) and again.architecture.layers == again.layers


@pytest.mark.parametrize("name", SAMPLES)
def test_the_skeleton_keeps_the_graph_and_leaves_the_weights_out(name):
    kind = FORMATS[SAMPLES[name]["format_id"]]
    drawn, content = kind.skeleton(ModelFile.at(BUILT / name))
    assert Path(drawn).suffix
    assert "/" not in drawn
    assert 0 < len(content) < 4 * (BUILT / name).stat().st_size


@pytest.mark.parametrize("kind", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 64, b"hello", b"PK\x03\x04" + bytes(60), b"\x89HDF\r\n\x1a\n", b"\x08\x08" * 40]
)
def test_foreign_bytes_are_no_exception(kind, content, tmp_path):
    path = tmp_path / "file.bin"
    path.write_bytes(content)
    file = ModelFile.at(path)
    if content and kind.sniff(file):
        with pytest.raises(StethoscopeError):
            kind.describe(file)


@pytest.mark.parametrize("name", SMALLEST.values(), ids=SMALLEST)
def test_its_program_runs_as_it_stands_and_answers_as_its_runner(name, described, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = ModelFile.at(shutil.copyfile(BUILT / name, name))
    if name.endswith(".zip"):
        shutil.unpack_archive(name, Path(name).stem)
    kind, architecture = FORMATS[SAMPLES[name]["format_id"]], described[name]
    batch = dummy_feed(architecture, architecture.inputs, 2, 0)
    program = kind.program(name, architecture)
    held = {"batch": batch, "results": [], "np": np}
    exec(compile("\n".join((*program.imports, *program.load, *program.call)), kind.id, "exec"), held)
    (answered,) = held["results"]
    got = list(answered.values()) if isinstance(answered, dict) else answered
    (tmp_path / "scratch").mkdir()
    with kind.open(file, tmp_path / "scratch") as runner:
        expected = runner.predict(batch)
    for values in expected.values():
        assert any(np.shape(one) == values.shape and np.allclose(one, values, atol=1e-5) for one in (*got, got))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_cut_file_is_a_sentence_that_names_it(name, tmp_path):
    whole = (BUILT / name).read_bytes()
    for share in (0.1, 0.5, 0.95):
        path = tmp_path / f"cut{Path(name).suffix}"
        path.write_bytes(whole[: int(len(whole) * share)])
        file = ModelFile.at(path)
        try:
            detect(file).describe(file)
        except StethoscopeError as error:
            assert path.name in str(error)
            assert "\n" not in str(error)
