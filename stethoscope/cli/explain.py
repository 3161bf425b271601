"""`stethoscope explain`: a pasted error message, read and never run: its cause, what to look at, the way to the proof."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stethoscope.cli.answers import JsonOption, failing_well
from stethoscope.cli.printed import print_json
from stethoscope.codec import SCHEMA_VERSION, plain
from stethoscope.errors import BadInput, UnreadableFile

if TYPE_CHECKING:
    from stethoscope.pasted.reading.explanation import Card, Explanation

MOST_BYTES = 8 << 20
_USAGE = """Paste an error message, a traceback or a log, then press Ctrl-D; or give it a file, or a pipe:

  stethoscope explain error.txt
  python train.py 2>&1 | stethoscope explain
  dmesg | tail -50 | stethoscope explain -
"""


def explain(
    message: Annotated[
        str, typer.Argument(help="A file with the message; - or nothing for standard input.", metavar="[FILE|-]")
    ] = "-",
    as_json: JsonOption = False,
) -> None:
    """Say what an error message means: the cause, the line it points to, what to do, and what proves it."""
    with failing_well():
        from stethoscope.pasted.reading.explaining import explain as read
        from stethoscope.pasted.reading.mistaken import check_is_message

        pasted = _pasted(message)
        name = "" if message == "-" else Path(message).name
        check_is_message(pasted, name)
        explained = read(_text(pasted))
        if as_json:
            print_json(to_json(explained))
        else:
            from stethoscope.cli.explained_text import explanation

            explanation(explained)


def _text(given: bytes) -> str:
    """As text; a file that PowerShell wrote is UTF-16."""
    if given[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return given.decode("utf-16", "replace")
    return given.decode("utf-8-sig", "replace")


def _pasted(message: str) -> bytes:
    """The bytes that were given.

    Raises:
        StethoscopeError: there are none.
    """
    if message == "-":
        if sys.stdin.isatty():
            sys.stderr.write(_USAGE)
        given = sys.stdin.buffer.read(MOST_BYTES)
    else:
        try:
            with Path(message).open("rb") as file:
                given = file.read(MOST_BYTES)
        except OSError as error:
            raise UnreadableFile(f"{message}: cannot be read ({error.strerror}). Check the path.") from error
    if not given.strip():
        raise BadInput("No message: expected an error message or a traceback, got nothing. Give a file, or pipe it in.")
    return given


def to_json(explained: Explanation) -> dict[str, Any]:
    """The answer of `--json`; under "findings" the kinds that fit, in the form that findings have everywhere."""
    findings = [_finding(card) for card in explained.cards]
    return {"schema_version": SCHEMA_VERSION, "status": "ok", **plain(explained), "findings": findings}


def _finding(card: Card) -> dict[str, Any]:
    where = card.where
    codes = [step.code for step in card.steps if step.code]
    return {
        "check_id": card.kind,
        "fault": card.title,
        "severity": card.severity,
        "confidence": card.certainty.value,
        "where": f"{where.file}:{where.line}" if where else "",
        "message": card.cause,
        "evidence": plain(card.read),
        "fix": codes[0] if codes else None,
        "proof": None,
        "source": card.sources[0] if card.sources else "",
    }
