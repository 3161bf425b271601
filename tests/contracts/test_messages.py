"""Every kind of message: a text it was met in, a source, an answer without one, and ways that exist."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from urllib.parse import urlsplit

from typer.testing import CliRunner

from dashboard import navigation
from stethoscope.cli.app import app
from stethoscope.pasted import messages
from stethoscope.pasted.messages import all_messages
from stethoscope.pasted.messages.message import Read, Role
from tests.pasted.messages.test_messages import TEXTS, kind_of

LEAST = 60
SPEAK_OF_NONE = {"none-values", "no-gradient", "undefined-axis", "picture-not-read", "none-taken"}
ODD = ("", "?", "0", "1", "9" * 18, "(None, 4)", "[2,3]", "()", "-1")


@functools.cache
def help_of(command: str) -> str:
    return CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "300"}).output


def test_there_is_a_file_for_each_of_many_kinds():
    assert sum(message.role is not Role.NOTICE for message in all_messages().values()) >= LEAST
    folder = Path(messages.__file__).parent
    assert not [kind for kind in all_messages() if not (folder / f"{kind.replace('-', '_')}.py").is_file()]


def test_a_kind_has_a_text_it_was_met_in():
    met = {kind_of(path) for path in TEXTS}
    within = "\n".join(path.read_text("utf-8") for path in TEXTS)
    silent = {
        kind
        for kind, message in all_messages().items()
        if kind not in met and not (message.role is Role.NOTICE and any(one.has in within for one in message.wordings))
    }
    assert not silent and met <= set(all_messages())


def test_a_quoted_text_says_where_it_is_from():
    for path in TEXTS:
        if path.parent.name == "quoted":
            assert re.match(r"Source: https://\S+\n\n\S", path.read_text("utf-8")), path.name


def test_a_kind_names_sources_that_are_addresses():
    for kind, message in all_messages().items():
        assert message.sources, kind
        for source in message.sources:
            parts = urlsplit(source)
            assert parts.scheme == "https" and "." in parts.netloc and not re.search(r"\s|TODO", source), kind


def test_a_kind_explains_whatever_was_read():
    for kind, message in all_messages().items():
        names = {name for wording in message.wordings for name in wording.compiled.groupindex}
        for values in ({}, *(dict.fromkeys(names, odd) for odd in ODD)):
            cause = message.explain(Read(values))
            assert cause.sentence.strip() and all(step.text.strip() for step in cause.steps), (kind, values)
        cause = message.explain(Read())
        assert kind in SPEAK_OF_NONE or "None" not in re.findall(r"\w+", cause.sentence), kind


def test_the_code_of_a_step_is_shown_in_a_box_and_not_in_its_sentence():
    for kind, message in all_messages().items():
        steps = message.explain(Read()).steps
        assert message.role is Role.NOTICE or steps, kind
        assert not [step.text for step in steps if "`" in step.text or "\n" in step.text], kind


def test_a_way_leads_to_a_page_and_a_command_that_exist():
    pages = {page.url_path for page in navigation.page_files()}
    for kind, message in all_messages().items():
        assert message.ways, kind
        for way in message.ways:
            words = way.command.split()
            assert way.page in pages and words[0] == "stethoscope", kind
            shown = help_of(words[1])
            assert not [word for word in words if word.startswith("--") and word not in shown], (kind, way.command)
