"""What the command line says of cards: who holds their memory now, and the lines to ask that with."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from stethoscope.devices import Machine
from stethoscope.memory.card_programs import who_holds
from stethoscope.sizes import human_bytes


def cards(console: Console, machine: Machine) -> None:
    """Prints the processes that hold each card, and code that asks the same on any machine."""
    for card in machine.gpus:
        for holder in card.holders:
            held = (
                "a part that the driver does not tell" if holder.used_bytes is None else human_bytes(holder.used_bytes)
            )
            console.print(f"card {card.index}: process {holder.pid or 'hidden'} holds {held}")
    for snippet in who_holds():
        console.print(f"\n[bold]{escape(snippet.title)}[/]")
        if snippet.note:
            console.print(escape(snippet.note), style="dim", soft_wrap=True)
        console.print(escape(snippet.code), soft_wrap=True, end="")
