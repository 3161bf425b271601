"""What `explain` prints for people: the cause first, then the line, what to do with code, and the way to the proof."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from stethoscope.pasted.messages.message import Step, Way
from stethoscope.pasted.reading.explanation import Explanation, Where

_COLOURS = {"certain": "red", "likely": "yellow", "possible": "cyan"}
_WORDS = {"certain": "certain: the message says so", "likely": "likely", "possible": "possible, one of several causes"}


def explanation(explained: Explanation) -> None:
    """Prints the answer."""
    console = Console(highlight=False)
    colour = _COLOURS.get(explained.certainty, "dim")
    console.print(f"[{colour}]●[/] [bold]{escape(explained.title)}[/]", end="")
    console.print(f"  [dim]{_WORDS.get(explained.certainty, 'no cause is known')}[/]")
    console.print(Padding(escape(explained.cause), (0, 0, 0, 2)))
    if explained.telling_line:
        console.print(Text(f"  {explained.telling_line}", style="dim"), soft_wrap=True)
    if explained.where:
        console.print(Text(f"  your line  {_place(explained.where)}"), soft_wrap=True)
    if explained.read:
        read = ", ".join(f"{item.name} {item.value}" for item in explained.read)
        console.print(Text(f"  read       {read}", style="dim"), soft_wrap=True)
    console.print()
    _steps(console, explained.steps)
    _ways(console, explained.next)
    for other in explained.others:
        console.print(f"[dim]or[/] [bold]{escape(other.title)}[/]  [dim]{_WORDS[other.certainty.value]}[/]")
        console.print(Padding(escape(other.cause), (0, 0, 0, 3)))
    for notice in explained.notices:
        console.print(f"[dim]means nothing by itself: {escape(notice.line)}[/]", soft_wrap=True)
    for source in explained.sources[:2]:
        console.print(f"  [dim]source  {escape(source)}[/]", soft_wrap=True)


def _place(where: Where) -> str:
    line = f":{where.line}" if where.line else ""
    function = f" in {where.function}" if where.function else ""
    code = f"    {where.code}" if where.code else ""
    return f"{where.file}{line}{function}{code}"


def _steps(console: Console, steps: Sequence[Step]) -> None:
    for number, step in enumerate(steps, 1):
        console.print(Padding(f"[green]{number}[/] {escape(step.text)}", (0, 0, 0, 2)))
        # Never wrapped or cut at the terminal's width: it is there to be copied.
        for line in (
            Syntax("", "python", background_color="default").highlight(step.code).split("\n") if step.code else ()
        ):
            console.print(Text("      ") + line, soft_wrap=True)


def _ways(console: Console, ways: Sequence[Way]) -> None:
    for way in ways:
        console.print(Text.assemble("  ", ("prove it", "green"), f"  {way.command}"), soft_wrap=True)
