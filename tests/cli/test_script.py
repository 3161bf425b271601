"""`check` of a training script: alone, pasted, beside its model; the patched copy."""

from __future__ import annotations

import json
import subprocess
import sys

from sample_models import BUILT
from tests.pasted.scripts.specimens import last_layer, removed_argument

FAULTY_MODEL = BUILT / "cancer_softmax_one_unit.keras"


def test_a_script_is_told_by_its_content_and_a_grave_finding_fails_the_gate(commands, tmp_path):
    script, patched = tmp_path / "train.py", tmp_path / "patched.py"
    script.write_text(removed_argument.FAULTY)
    done = commands.run("check", script, "--json", "--patch", patched, "--sarif", tmp_path / "r.sarif")
    assert done.returncode == 1, done.stderr
    value = json.loads(done.stdout)
    (finding,) = value["findings"]
    assert (finding["check_id"], finding["where"]) == ("script-removed-argument", f"train.py:{removed_argument.LINE}")
    assert finding["fix"]["kind"] == "script-patch" and finding["fix"]["code"].startswith("--- a/train.py")
    (result,) = json.loads((tmp_path / "r.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("train.py", removed_argument.LINE)
    assert patched.read_text() == removed_argument.SOUND and script.read_text() == removed_argument.FAULTY
    assert commands.run("check", patched).returncode == 0
    again = commands.run("check", script, "--patch", patched)
    assert again.returncode == 2 and patched.read_text() == removed_argument.SOUND


def test_text_from_standard_input_is_read(commands, tmp_path):
    code = (
        "import sys; from stethoscope.cli.start import main; sys.argv = ['stethoscope', 'check', '-', '--json']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=removed_argument.FAULTY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["findings"][0]["where"] == f"pasted.py:{removed_argument.LINE}"


def test_what_cannot_be_read_is_one_line_and_exit_code_2(commands, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import keras\nmodel = (\n")
    done = commands.run("check", script)
    assert done.returncode == 2 and "train.py:2" in done.stderr
    assert commands.run("check", script, script).returncode == 2
    assert commands.run("check", FAULTY_MODEL, "--patch", tmp_path / "out.py").returncode == 2


def test_a_model_and_its_script_give_one_card_for_one_cause(commands, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(last_layer.FAULTY)
    done = commands.run("check", FAULTY_MODEL, script, "--only", "softmax-one-unit", "--json")
    assert done.returncode == 1, done.stderr
    (card,) = json.loads(done.stdout)["findings"]
    assert card["check_id"] == "softmax-one-unit"
    symptoms = [item for item in card["evidence"] if item["kind"] == "symptom"]
    assert [item["check_id"] for item in symptoms] == ["script-last-layer"]
    assert any(item["kind"] == "excerpt" and item["language"] == "diff" for item in card["evidence"])
