"""How a script is read: cells, magics, Python 2, damage, bounds, places."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stethoscope.errors import StethoscopeError, TooLarge, UnreadableFile
from stethoscope.pasted.scripts.parsing import parse
from stethoscope.pasted.scripts.patches import diff
from stethoscope.pasted.scripts.review import review, rewritten
from stethoscope.pasted.scripts.source import MOST_BYTES, looks_like_script, read
from tests.pasted.scripts.specimens import removed_argument


def notebook(*cells: str) -> bytes:
    rows = [{"cell_type": "markdown", "source": ["# Title"]}]
    rows += [{"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []} for cell in cells]
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": rows}).encode()


def places(content: bytes, name: str) -> list[tuple[str, str]]:
    return [(one.check_id, one.where) for one in review(content, name).findings]


def test_a_finding_in_a_notebook_names_the_cell_and_the_line_in_it():
    book = notebook("import keras\n", "%matplotlib inline\n!pip install x\n\nkeras.optimizers.Adam(lr=0.01)")
    assert places(book, "a.ipynb") == [("script-removed-argument", "a.ipynb:cell 3:4")]


def test_a_cell_that_is_no_python_is_left_out_and_the_others_are_read():
    book = notebook("import keras", "this is no Python", "%%bash\nls", "keras.optimizers.Adam(lr=0.01)")
    found = review(book, "a.ipynb")
    assert [one.where for one in found.findings] == ["a.ipynb:cell 5:1"]
    assert len(found.seen.left_out) == 1 and "cell 3:1" in found.seen.left_out[0]


def test_a_patch_of_a_notebook_changes_one_cell_and_nothing_else():
    book = notebook("import keras", "model = 1\nkeras.optimizers.Adam(lr=0.01)  # slow\n")
    changed, made, left_out = rewritten(book, "a.ipynb", review(book, "a.ipynb").findings)
    before, after = json.loads(book), json.loads(changed)
    assert (made, left_out) == (1, 0)
    assert after["cells"][2]["source"][1] == "keras.optimizers.Adam(learning_rate=0.01)  # slow\n"
    after["cells"][2]["source"] = before["cells"][2]["source"]
    assert after == before


def test_a_patch_keeps_everything_else_of_a_script():
    text = "import keras\r\n\r\nä = keras.optimizers.Adam( lr = 0.01 ,beta_1=.9 )  # é\r\n"
    changed, made, _ = rewritten(text.encode(), "a.py", review(text.encode(), "a.py").findings)
    assert made == 1
    assert changed.decode() == text.replace("lr =", "learning_rate =", 1)


def test_a_diff_says_where_a_file_ends_without_a_newline():
    before, after = read(b"x = 1", "a.py"), read(b"x = 2", "a.py")
    assert diff(before, after).count("\n\\ ") == 2
    assert diff(read(b"x = 1\n", "a.py"), read(b"x = 2\n", "a.py")).count("\n") == 5


def test_python_2_is_told_and_the_rest_is_read():
    text = (
        b'import keras\nprint "loss", 3\ntry:\n    pass\nexcept IOError, e:\n    pass\nkeras.optimizers.Adam(lr=0.01)\n'
    )
    found = places(text, "old.py")
    assert ("script-python2", "old.py:2") in found and ("script-python2", "old.py:5") in found
    assert ("script-removed-argument", "old.py:7") in found


@pytest.mark.parametrize(
    ("content", "name", "line"),
    [
        (b"import keras\nmodel = (\n", "a.py", 2),
        (b"import keras\n\nx = = 3\n", "a.py", 3),
        (b'{"cells": [}', "a.ipynb", 1),
    ],
)
def test_damage_names_its_line(content, name, line):
    with pytest.raises(UnreadableFile, match=rf"(?::|line ){line}\b"):
        parse(read(content, name))


def test_text_out_of_an_interpreter_or_a_function_is_read():
    prompt = b">>> import keras\n>>> keras.optimizers.Adam(lr=0.01)\n<Adam>\n"
    assert places(prompt, "pasted.py") == [("script-removed-argument", "pasted.py:2")]
    assert places(b"    import keras\n    keras.optimizers.Adam(lr=0.01)\n", "pasted.py")[0][1] == "pasted.py:2"


@pytest.mark.parametrize(
    "content",
    [
        b"(" * 5_000 + b")" * 5_000,
        b"x = " + b"-" * 20_000 + b"1",
        b"x = " + b"1 + " * 2_000 + b"1",
        b"x = 1\n" * 50_000,
        b"x" * (MOST_BYTES + 1),
        b"def f():\n    return f()\n" + b"f()\n" * 10,
        b"def f(n):\n" + b"".join(b"    f(n - 1)\n" for _ in range(60)) + b"f(3)\n",
    ],
)
def test_what_is_too_large_ends_with_an_error_or_an_answer(content):
    try:
        review(content, "a.py")
    except StethoscopeError as error:
        assert isinstance(error, TooLarge | UnreadableFile)


def test_what_looks_like_a_script():
    assert looks_like_script(b"x = 1", "train.py")
    assert looks_like_script(b'{"cells": [], "nbformat": 4}', "train.ipynb")
    assert not looks_like_script(b'{"class_name": "Model"}', "model.json")
    assert not looks_like_script(b"PK\x03\x04\x00\x00", "train.py")
    assert looks_like_script(b"# notes\nimport keras\n", "notes.txt") and not looks_like_script(
        b"a,b\n1,2\n", "rows.txt"
    )


WORDS = removed_argument.FAULTY.split(" ")


@given(st.binary(max_size=300), st.sampled_from(["a.py", "a.ipynb", "-"]))
@example(b'{"cells": [{"cell_type": "code", "source": 3}]}', "a.ipynb")
@example(b'{"cells": {"a": 1}}', "a.ipynb")
@example(b"# coding: rot13\nx", "a.py")
def test_any_bytes_are_read_or_refused(content, name):
    try:
        review(content, name)
    except StethoscopeError as error:
        assert str(error)


@given(st.integers(0, 10_000))
def test_any_words_of_a_script_are_read_or_refused_and_every_patch_parses(seed):
    drawn = random.Random(seed)
    words = list(WORDS)
    for _ in range(drawn.randint(1, 6)):
        place = drawn.randrange(len(words))
        words[place] = drawn.choice([*WORDS, "\n", "=", "*x", "**k", "(", "lambda: 0", "\t", "'"])
    content = " ".join(words).encode()
    try:
        found = review(content, "a.py")
    except StethoscopeError:
        return
    changed, _, _ = rewritten(content, "a.py", found.findings)
    parse(read(changed, "a.py"))
