"""Tables of cases in one test: every case runs, each failure is named, an empty table proves nothing."""

from __future__ import annotations

import pytest

from tests.tables import Cases, each


def test_every_case_runs_and_those_that_fail_are_named():
    seen = []
    with pytest.raises(pytest.fail.Exception) as failed, Cases() as case:
        for number in (1, 2, 3, 4):
            with case("number", number):
                seen.append(number)
                assert number % 2
    assert seen == [1, 2, 3, 4]
    told = str(failed.value).splitlines()
    assert told[0].startswith("2 of 4")
    assert [line.split(":")[0] for line in told[1:] if line.startswith("number")] == ["number / 2", "number / 4"]


def test_an_empty_table_is_a_failure():
    with pytest.raises(AssertionError), Cases():
        pass


def test_an_error_outside_of_a_case_is_not_hidden():
    with pytest.raises(ZeroDivisionError), Cases() as case:
        with case("one"):
            raise ValueError
        _ = 1 / 0


@each(("left", "right"), [(1, 1), (2, 2)])
def test_each_case_has_a_folder_of_its_own(tmp_path, left, right):
    assert left == right
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()


def test_what_cases_would_share_is_refused():
    with pytest.raises(AssertionError, match="monkeypatch"):

        @each("value", [1])
        def _shares(monkeypatch, value):
            pass
