"""What lives in a package is found by looking: one thing in a file, or several."""

from __future__ import annotations

import importlib

import pytest

from stethoscope.discover import discover


@pytest.fixture
def found_in(tmp_path, monkeypatch):
    """Writes a package of these modules, and returns what `discover` finds in it."""

    def found(name, **modules):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").touch()
        for module, text in modules.items():
            (folder / f"{module}.py").write_text(f"from types import SimpleNamespace as Step\n{text}\n")
        importlib.invalidate_caches()
        return discover(importlib.import_module(name), "STEP", "id")

    monkeypatch.syspath_prepend(tmp_path)
    return found


def test_a_file_holds_one_or_several_and_any_file_is_looked_into(found_in):
    found = found_in(
        "steps_to_find", axes="STEPS = (Step(id='add'), Step(id='remove'))", drawing="", yours="STEP = Step(id='yours')"
    )
    assert list(found) == ["add", "remove", "yours"]


@pytest.mark.parametrize("second", ["STEP = Step(id='add')", "STEPS = (Step(id='other'), Step(id='add'))"])
def test_an_id_that_is_taken_is_refused(found_in, second):
    with pytest.raises(ValueError, match="'add' is already taken"):
        found_in(f"taken_{len(second)}", axes="STEP = Step(id='add')", yours=second)
