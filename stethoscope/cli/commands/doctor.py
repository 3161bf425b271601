"""`stethoscope doctor`: what is installed, and which containment layers hold."""

from __future__ import annotations

from stethoscope.cli.answers import JsonOption, failing_well
from stethoscope.cli.printed import print_json
from stethoscope.codec import plain


def doctor(as_json: JsonOption = False) -> None:
    """Say what is installed and which containment layers hold: tried, not guessed."""
    with failing_well():
        from stethoscope.studies.doctor import examine

        examined = examine()
        if as_json:
            print_json(plain(examined))
        else:
            from stethoscope.cli import text as cli_text

            cli_text.examination(examined)
