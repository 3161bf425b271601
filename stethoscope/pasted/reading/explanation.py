"""The answer about a pasted message: a cause in words, what was read, what to do, and where the product proves it."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.pasted.messages.message import Certainty, Step, Way


@dataclass(frozen=True)
class Where:
    """The place in the user's own program."""

    file: str
    line: int | None
    function: str
    code: str


@dataclass(frozen=True)
class Reading:
    """One thing that was read from the message."""

    name: str
    value: str


@dataclass(frozen=True)
class Card:
    """One kind that fits."""

    kind: str
    title: str
    certainty: Certainty
    telling_line: str
    where: Where | None
    cause: str
    read: tuple[Reading, ...]
    steps: tuple[Step, ...]
    next: tuple[Way, ...]
    sources: tuple[str, ...]
    severity: str = "high"
    """ "high" of what ends a program, "medium" of a warning."""


@dataclass(frozen=True)
class Notice:
    """A line that means nothing by itself."""

    kind: str
    line: str
    cause: str


@dataclass(frozen=True)
class Explanation:
    """What a pasted text says.

    Attributes:
        kind: the id of the kind of message; None where none is known.
        title: what is wrong, in a few words; says so where no kind is known.
        certainty: how sure the cause is; "unknown" without one.
        telling_line: the line that says it.
        exception: the class of the last exception; "" where there is none.
        where: the user's own line that led to it.
        cause: what happened, in the names and numbers of the message.
        read: what was read from it.
        steps: what to look at and to do, with code.
        product: the first of `next`.
        next: commands and pages that prove it.
        sources: where people have met it.
        others: further kinds that fit, most likely first.
        notices: lines that alarm people and mean nothing.
        shortened: whether the middle of a very long text was left out.
        severity: "high" of what ends a program, "medium" of a warning; "" without a kind.
    """

    kind: str | None
    title: str
    certainty: str
    telling_line: str
    exception: str
    where: Where | None
    cause: str
    read: tuple[Reading, ...] = ()
    steps: tuple[Step, ...] = ()
    product: Way | None = None
    next: tuple[Way, ...] = ()
    sources: tuple[str, ...] = ()
    others: tuple[Card, ...] = ()
    notices: tuple[Notice, ...] = ()
    shortened: bool = False
    severity: str = ""

    @property
    def cards(self) -> tuple[Card, ...]:
        """Every kind that fits, the first one included."""
        if self.kind is None:
            return self.others
        first = Card(
            self.kind,
            self.title,
            Certainty(self.certainty),
            self.telling_line,
            self.where,
            self.cause,
            self.read,
            self.steps,
            self.next,
            self.sources,
            self.severity,
        )
        return (first, *self.others)
