"""The page Script: a script in the address, its findings, its patches; hostile text stays text."""

from __future__ import annotations

from stethoscope.jobs.store import store
from stethoscope.types import UploadKind
from tests.dashboard.visiting import HOSTILE, ME, badges, keys, open_page, said, text
from tests.pasted.scripts.specimens import removed_argument


def stored(tmp_path, content, name="train.py"):
    path = tmp_path / "stored"
    path.write_text(content)
    return store().add_file(path, name, ME)


def test_a_script_by_link_shows_its_findings_with_line_and_patch(app, tmp_path):
    entry = stored(tmp_path, removed_argument.FAULTY)
    assert entry.kind is UploadKind.SCRIPT
    shown = open_page(app, "script", script=entry.id)
    assert "1 high" in {label.lower() for label in badges(shown)}
    assert f"train.py:{removed_argument.LINE}" in text(shown)
    assert any(code.language == "diff" and "+++ b/train.py" in code.value for code in shown.code)


def test_a_script_that_cannot_be_read_says_its_line(app, tmp_path):
    assert "train.py:2" in said(open_page(app, "script", script=stored(tmp_path, "import keras\nx = (\n").id))


def test_a_script_of_before_is_offered_and_hostile_text_stays_text(app, tmp_path):
    entry = stored(tmp_path, f"import keras\nkeras.optimizers.Adam(lr='''{HOSTILE}''')\n", f"{HOSTILE}.py")
    assert f"script-{entry.id}" in keys(open_page(app, "script"))
    app.query_params["script"] = entry.id
    shown = text(open_page(app, "script", script=entry.id))
    assert "<img" not in shown.replace("\\<", "") or "`" in shown
