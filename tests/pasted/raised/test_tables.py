"""What the frameworks raise and what their classes have, from the tables made of the installed packages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stethoscope.pasted.raised.members import PACKAGES, members, owner, packages_with
from stethoscope.pasted.raised.table import place_of, sites
from stethoscope.pasted.reading.explaining import explain
from tests.conftest import PROJECT
from tools import class_members, raise_sites

SAID = "The number of filters must be evenly divisible by the number of groups. Received: groups=3, filters=10."


def test_a_message_is_placed_and_its_values_are_read():
    place = place_of(SAID, "")
    assert place is not None and "base_conv" in place.site.raises
    assert place.values == {"groups": "3", "filters": "10"} and place.share == 1


def test_a_message_that_is_cut_or_worded_a_little_otherwise_is_placed_still():
    place = place_of(SAID.replace("Received: groups=3, filters=10.", "Got: 3"), "ValueError")
    assert place is not None and "base_conv" in place.site.raises


@pytest.mark.parametrize("said", ["", "must be", "x" * 4_000, "The number of filters", "Received: " * 400])
def test_words_that_say_little_are_placed_nowhere(said):
    assert place_of(said, "") is None


def test_another_exception_is_another_place():
    assert place_of(SAID, "KeyError") is None


def test_every_place_has_words_to_know_it_by():
    assert len(sites()) > 5_000
    assert not [site for site in sites() if len(site.anchor) < 8 or not site.raises]


def test_a_placed_message_is_never_certain_and_gives_way_to_a_kind():
    placed = explain(f"ValueError: {SAID}")
    assert placed.kind == "library-check" and placed.certainty == "likely"
    assert {"groups", "filters"} <= {reading.name for reading in placed.read}
    known = explain("ValueError: No such layer: dense_5. Existing layers are: ['dense'].")
    assert known.kind == "no-such-layer"


def test_members_come_from_the_bases_too():
    assert "get_weights" in members("keras", "Dense") and "get_output_at" not in members("keras", "Sequential")
    assert "get_output_at" in members("tf-keras", "Sequential")
    assert packages_with("Sequential") == ("keras", "tf-keras") and packages_with("NoSuchClass") == ()
    assert owner("fit_on_texts", ("Model", "Tokenizer")) == "Tokenizer" and owner("no_such", ("Model",)) == ""


def test_a_class_that_is_taken_out_of_itself_ends():
    assert members("keras", "NoSuchClass") == frozenset() and all(members(one, "Layer") for one in PACKAGES[:2])


def test_what_another_library_raised_is_not_told_as_if_it_were_tensorflow():
    of_torch = (
        'Traceback (most recent call last):\n  File "/home/ada/train.py", line 3, in <module>\n    x = model(x)\n'
        '  File "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 9, in _call\n    return f(x)\n'
        "TypeError: 'NoneType' object is not iterable\n"
    )
    assert explain(of_torch).kind is None
    assert explain(of_torch.replace("torch/nn", "keras/src")).kind == "none-taken"


@pytest.mark.sweep
@pytest.mark.parametrize("tool", [raise_sites, class_members])
def test_the_tables_are_those_of_the_installed_packages(tool):
    code = f"from {tool.__name__} import lines; print(chr(10).join(lines()))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=590
    )
    assert done.stdout == tool.TARGET.read_text("utf-8"), f"run python -m {tool.__name__}"
