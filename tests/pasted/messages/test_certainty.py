"""Certain is said only where the text proves the cause: neighbours that read nearly the same are not told so.

`certainty.json` holds the texts by kind: those of another cause (or of one that they do not prove), those that say their
cause, and what the cause of the latter may not claim.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stethoscope.pasted.reading.explaining import explain

TEXTS = json.loads(Path(__file__).with_name("certainty.json").read_text("utf-8"))


@pytest.mark.parametrize("kind", TEXTS["not_proved"])
def test_what_the_text_does_not_prove_is_not_told_with_certainty(kind):
    answer = explain(TEXTS["not_proved"][kind])
    assert (answer.kind, answer.certainty) != (kind, "certain"), answer.cause


@pytest.mark.parametrize("kind", TEXTS["proved"])
def test_what_the_text_proves_is_told_with_certainty(kind):
    answer = explain(TEXTS["proved"][kind])
    assert (answer.kind, answer.certainty) == (kind, "certain"), answer.cause


@pytest.mark.parametrize("kind", TEXTS["not_in_the_cause"])
def test_the_cause_is_not_that_of_the_neighbour(kind):
    assert TEXTS["not_in_the_cause"][kind] not in explain(TEXTS["proved"][kind]).cause


def test_a_version_that_pip_asks_for_is_no_missing_package():
    answer = explain("tensorflow 2.4.0 requires h5py~=2.10.0, but you'll have h5py 3.1.0 which is incompatible.")
    assert answer.kind == "versions-conflict"
