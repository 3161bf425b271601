"""The tables of names, held against what is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stethoscope.pasted.scripts.names import exists, first_missing, parameters, versions
from stethoscope.pasted.scripts.renames import REMARKS, RENAMED, today
from stethoscope.pasted.scripts.rules.deprecated_name import DEPRECATED
from tools.script_api import TARGET


def test_what_is_called_gone_is_gone_and_what_takes_its_place_is_there():
    # GradientTape and legacy modules are looked up as a whole: all names of today are in the table.
    assert not [new for new in RENAMED.values() if not exists(new)]
    assert not [old for old in RENAMED if not first_missing(old)]
    assert not [old for old, new in DEPRECATED.items() if not exists(old) or not exists(new)]
    assert not [name for name in REMARKS if not name.startswith(("keras.", "tensorflow."))]


def test_a_name_is_found_again_by_its_last_part():
    missing = "keras.layers.recurrent"
    assert today("keras.layers.recurrent.LSTM", missing).name == "keras.layers.LSTM"
    assert today(
        "tensorflow.keras.layers.experimental.preprocessing.Rescaling", "tensorflow.keras.layers.experimental"
    ).name == ("tensorflow.keras.layers.Rescaling")
    assert not today("keras.layers.Highway", "keras.layers.Highway").name


def test_the_table_knows_arguments():
    assert "learning_rate" in (parameters("keras.optimizers.Adam") or ())
    assert "units" in (parameters("tensorflow.keras.layers.Dense") or ())


@pytest.mark.sweep
def test_the_table_is_that_of_the_installed_packages():
    code = "from tools.script_api import lines; print(chr(10).join(lines()))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TARGET.parents[4]
    )
    assert done.stdout == TARGET.read_text("utf-8"), f"run python -m tools.script_api ({versions()})"
