"""The cases that diagnosis is measured on: complete, told apart, and the same each time they are built."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.frameworks import Later

# Both import Keras.
case: Any = Later("benchmarks.diagnosis_cases.case")
catalogue: Any = Later("benchmarks.diagnosis_cases.catalogue")


def test_every_given_program_is_there(shared_dir: Path) -> None:
    given = {entry["id"] for entry in json.loads((shared_dir / "cases" / "cases.json").read_text())["cases"]}
    assert {one.id for one in catalogue.chosen("given")} == given


def test_cases_name_known_faults_and_are_split() -> None:
    cases = catalogue.all_cases().values()
    assert all(one.faults and one.faults <= case.FAULTS and not one.faults & one.neutral for one in cases)
    assert {one.split for one in cases} == {case.GIVEN, case.DEV, case.HELD_OUT}
    with pytest.raises(ValueError, match="faults"):
        case.case("x", "", "typo", lambda faulty, random: None, case.DEV)


def test_a_written_case_holds_both_programs_and_only_the_defect_differs(tmp_path: Path) -> None:
    place = catalogue.write(catalogue.all_cases()["one-softmax-ten-classes"], tmp_path)
    facts = json.loads((place / "case.json").read_text())
    assert facts["faults"] == ["activation", "architecture", "labels"]
    faulty, repaired = (np.load(place / variant / "data.npz") for variant in ("faulty", "repaired"))
    assert np.array_equal(faulty["x"], repaired["x"])
    assert np.array_equal(faulty["y"], repaired["y"])
    fits = {(place / variant / "fit.json").read_text() for variant in ("faulty", "repaired")}
    assert len(fits) == 1
    assert (place / "faulty" / "model.keras").stat().st_size < (place / "repaired" / "model.keras").stat().st_size


def test_the_same_seed_gives_the_same_program() -> None:
    one = catalogue.all_cases()["all-linear"]
    first, again, other = one.build(True, 3), one.build(True, 3), one.build(True, 4)
    assert all(np.array_equal(a, b) for a, b in zip(first.model.get_weights(), again.model.get_weights(), strict=True))
    assert np.array_equal(first.arrays["x"], again.arrays["x"])
    assert not np.array_equal(first.arrays["x"], other.arrays["x"])
