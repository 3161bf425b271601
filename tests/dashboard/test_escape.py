"""Names out of files never become Markdown, HTML, links, math, colours or icons."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from dashboard import escape

HOSTILE = [
    '"><img src=x onerror=alert(1)>',
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "![a](http://evil.example/x.png)",
    "$x^2$",
    ":red[alarm]",
    ":material/delete:",
    ":smile:",
    "**bold** _it_ ~~gone~~ `code`",
    "http://evil.example/?a=1 www.evil.example a@evil.example",
    "# heading",
    "1. list",
    "| a | b |",
    "a `` b ``` c",
    "back\\slash \\[x\\](y)",
    "a\nb\r\n# c",
]


def words_of(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\u2060", "")).strip()


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_shows_the_name_and_nothing_else(name):
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parseInline(escape.markdown(name))[0].children
    assert {token.type for token in tokens} <= {"text", "text_special"}
    assert words_of("".join(token.content for token in tokens)) == words_of(name)


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_has_nothing_left_that_is_rewritten_after_parsing(name):
    shown = MarkdownIt("commonmark").parseInline(escape.markdown(name))[0].children
    text = "".join(token.content for token in shown)
    assert not re.search(r":[\w+-]+:|:material/|:[a-z]+\[|https?://|www\.|\w@\w", text)


@pytest.mark.parametrize("name", HOSTILE)
def test_code_is_one_code_span_with_the_whole_name(name):
    tokens = MarkdownIt("commonmark").parseInline(escape.code(name))[0].children
    assert [token.type for token in tokens] == ["code_inline"]
    assert words_of(tokens[0].content) == words_of(name)


@pytest.mark.parametrize("name", HOSTILE)
def test_figure_has_no_tags_and_no_templates(name):
    shown = escape.figure(name, 200)
    assert "<" not in shown
    assert "%{" not in escape.figure("%{x}" + name)


def test_characters_that_cannot_be_seen_become_visible():
    assert escape.clip("a\u202egnp.exe\x00") == "a\\u202egnp.exe\\u0000"


def test_a_long_name_keeps_its_start_and_end():
    shown = escape.clip("encoder/" + "x" * 5000 + "/last", 60)
    assert len(shown) == 60
    assert shown.startswith("encoder/")
    assert shown.endswith("…" + shown.rpartition("…")[2])


def test_an_empty_name_is_still_something_to_click():
    assert escape.code("  ") == "(no name)"


@pytest.mark.parametrize(
    ("name", "file"), [("a/b:0", "a_b_0"), ("../../etc/passwd", "etc_passwd"), ("", "model"), ("<>", "model")]
)
def test_file_names_are_plain(name, file):
    assert escape.file_name(name) == file


def test_sentences_keep_their_lines_and_lose_their_markup():
    assert escape.sentences("a <b>\n\n[c](d)").count("  \n") == 1
