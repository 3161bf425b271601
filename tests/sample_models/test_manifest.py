"""The manifest tells the truth about the files beside it. No framework is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sample_models.build import BUILT, all_recipes, refresh_texts
from sample_models.catalogue import write_readme
from sample_models.training_runs import FILE as LOG
from stethoscope.models.formats import all_formats, detect
from stethoscope.types import ModelFile
from tests.tables import each

MANIFEST: list[dict[str, Any]] = json.loads((BUILT / "manifest.json").read_text())
MODELS = [sample for sample in MANIFEST if sample.get("kind") != "data"]
SAMPLES = each(("name", "sample"), [(sample["id"], sample) for sample in MODELS])
LARGEST_BYTES = 1_500_000
ALL_BYTES = 6_000_000


def test_every_small_recipe_is_built_and_no_file_is_left_over() -> None:
    assert [sample["id"] for sample in MODELS] == [name for name, recipe in all_recipes().items() if not recipe.big]
    named = {sample["file"] for sample in MANIFEST} | {sample.get("data") for sample in MANIFEST} - {None}
    present = {file.name for file in BUILT.iterdir() if file.is_file()} - {"manifest.json", ".gitignore", LOG}
    assert present == named


def test_all_files_together_are_small_enough_to_commit() -> None:
    sizes = [file.stat().st_size for file in BUILT.iterdir() if file.is_file()]
    assert max(sizes) <= LARGEST_BYTES
    assert sum(sizes) <= ALL_BYTES


@SAMPLES
def test_an_entry_agrees_with_its_recipe_and_its_file(name: str, sample: dict[str, Any]) -> None:
    recipe = all_recipes()[sample["id"]]
    assert (sample["title"], sample["behaviour"], sample["parameters"]) == (
        recipe.title,
        recipe.behaviour,
        recipe.parameters,
    )
    assert sample["expectations"] == json.loads(json.dumps(dict(recipe.expectations)))
    assert sample["findings"] == list(recipe.findings)
    assert sample["big"] is False
    assert sample["size_bytes"] == (BUILT / sample["file"]).stat().st_size


@SAMPLES
def test_the_engine_recognises_and_describes_a_sample(name: str, sample: dict[str, Any]) -> None:
    file = ModelFile.at(BUILT / sample["file"])
    kind = detect(file)
    assert kind.id == sample["format_id"]
    assert kind.id in all_formats()
    architecture = kind.describe(file)
    assert architecture.parameters == sample["parameters"]
    assert {hazard.rule for hazard in architecture.hazards} == (
        {sample["expectations"]["hazard"]} if sample["expectations"].get("needs_trust") else set()
    )


@SAMPLES
def test_words_for_users_are_whole_sentences(name: str, sample: dict[str, Any]) -> None:
    assert sample["title"]
    assert sample["behaviour"].endswith(".")
    assert sample["description"].endswith(".")


@each("name", sorted({sample["data"] for sample in MODELS} - {None}))
def test_sample_data_opens_without_pickle_and_has_one_row_per_example(name: str) -> None:
    with np.load(BUILT / name, allow_pickle=False) as arrays:
        assert len({len(arrays[key]) for key in arrays}) == 1
        assert all(np.isfinite(arrays[key]).all() for key in arrays)


def test_the_readme_is_the_one_the_manifest_gives(tmp_path: Path) -> None:
    write_readme(list(all_recipes().values()), MANIFEST, tmp_path / "README.md")
    assert (tmp_path / "README.md").read_text() == (BUILT.parent / "README.md").read_text()


def test_updating_the_texts_changes_nothing_when_recipes_did_not_change(tmp_path: Path) -> None:
    for file in BUILT.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    refresh_texts(tmp_path)
    assert json.loads((tmp_path / "manifest.json").read_text()) == MANIFEST
