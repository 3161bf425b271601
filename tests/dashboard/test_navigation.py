from __future__ import annotations

import pytest

from dashboard import navigation

GOOD = '"""Does it work?"""\nPAGE = {"title": "Works", "section": "Behaviour", "url_path": "works", "icon": ""}\nraise SystemExit("never run")\n'


def _write(folder, name, text=GOOD):
    (folder / name).write_text(text)
    return folder / name


def test_a_file_is_a_page_and_is_not_run_to_know_it(tmp_path):
    _write(tmp_path, "20_works.py")
    _write(tmp_path, "10_first.py", GOOD.replace("works", "first"))
    _write(tmp_path, "__init__.py", "")
    pages = navigation.page_files(tmp_path)
    assert [page.url_path for page in pages] == ["first", "works"]
    assert pages[1].question == "Does it work?"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace('"""Does it work?"""', ""), "question"),
        (lambda text: text.replace("PAGE", "OTHER"), "PAGE"),
        (lambda text: text.replace("Behaviour", "Elsewhere"), "section"),
        (lambda text: text.replace('"works"', '"Works/x"'), "url_path"),
        (lambda text: text.replace('"icon": ""', '"icon": ":material/home:"'), "icon"),
        (lambda text: text.replace('"icon": ""', '"colour": "red"'), "PAGE with"),
    ],
)
def test_a_page_that_breaks_the_rules_is_named(tmp_path, change, reason):
    path = _write(tmp_path, "10_x.py", change(GOOD))
    with pytest.raises(ValueError, match=reason) as caught:
        navigation.read_page(path)
    assert "10_x.py" in str(caught.value)


def test_two_pages_cannot_share_an_address(tmp_path):
    _write(tmp_path, "10_a.py")
    _write(tmp_path, "20_b.py")
    with pytest.raises(ValueError, match="works"):
        navigation.page_files(tmp_path)


def test_our_pages_follow_the_rules():
    assert navigation.page_files()[0].url_path == "overview"
