"""Components of one server share one list of names: a second one of a name would be drawn in place of the first."""

from __future__ import annotations

from tests.conftest import PROJECT

DASHBOARD = PROJECT / "dashboard"


def test_only_one_module_registers_components_under_the_name_of_their_folder():
    callers = [path for path in DASHBOARD.rglob("*.py") if "components.v2" in path.read_text("utf-8")]
    assert callers == [DASHBOARD / "components.py"]


def test_every_component_folder_is_used_by_its_own_module():
    folders = [path.parent for path in DASHBOARD.rglob("component.html")]
    assert len(folders) > 5
    unused = [folder for folder in folders if "component(FOLDER" not in (folder / "__init__.py").read_text("utf-8")]
    assert unused == []
