"""From a pasted text to its explanation: the telling line, the user's own line, the kinds that fit, the surest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stethoscope.pasted.messages import all_messages
from stethoscope.pasted.messages.library_check import MESSAGE as LIBRARY_CHECK
from stethoscope.pasted.messages.library_check import SURE_LENGTH
from stethoscope.pasted.messages.message import BEFORE, Certainty, Message, Read, Role
from stethoscope.pasted.raised.table import MOST_SAID, place_of
from stethoscope.pasted.reading.context import context
from stethoscope.pasted.reading.explanation import Card, Explanation, Notice, Reading, Where
from stethoscope.pasted.reading.plain_text import PlainText, plain_text
from stethoscope.pasted.reading.tracebacks import Raised, exceptions, of_another_library, own_frame

UNKNOWN = "unknown"
_AROUND = 1_200
_SHOWN = 300
_MOST_OTHERS = 3
_LOOKED_AT = 8_000
"""Lines, from the end, that are looked through for one that complains."""
_SURE = (Certainty.POSSIBLE, Certainty.LIKELY, Certainty.CERTAIN)
_FINAL, _CHAINED, _EARLIER, _ELSEWHERE = 3, 3, 2, 1


@dataclass(frozen=True)
class _Found:
    message: Message
    at: int
    """In the flat text; the number of the line for a whole line."""
    line: int
    place: int
    length: int
    values: Mapping[str, str]
    raised: Raised | None

    @property
    def order(self) -> tuple[int, ...]:
        role = 2 if self.message.role is Role.ERROR else 1
        return role, self.place, self.message.rank, self.length, self.at


def explain(pasted: str) -> Explanation:
    """Says what a pasted text means; that it does not know where it does not."""
    text = plain_text(pasted)
    raised = exceptions(text.lines)
    found = sorted(_found(text, raised), key=lambda one: one.order, reverse=True)
    notices = tuple(_notices(found, text))
    kinds = _one_of_each(one for one in found if one.message.role is not Role.NOTICE)
    last = raised[-1] if raised else None
    if not any(one.message.role is Role.ERROR for one in kinds):
        kinds = [*_in_a_library(text, raised), *kinds]
    cards = [_card(one, text, last) for one in kinds[: 1 + _MOST_OTHERS]]
    known = bool(kinds) and (last is None or kinds[0].message.role is Role.ERROR or kinds[0].raised is last)
    if known:
        first, others = cards[0], tuple(_beside(kinds, cards))
        return Explanation(
            first.kind,
            first.title,
            first.certainty.value,
            first.telling_line,
            last.type if last else "",
            first.where or _where(raised),
            first.cause,
            first.read,
            first.steps,
            first.next[0] if first.next else None,
            first.next,
            first.sources,
            others,
            notices,
            text.shortened,
            first.severity,
        )
    return _unknown(text, raised, tuple(cards), notices)


def of_kind(kind: str) -> Explanation | None:
    """A kind without a message: what it means in general, and so no more than possible."""
    message = all_messages().get(kind)
    if message is None:
        return None
    cause = message.explain(Read())
    ways = message.ways
    return Explanation(
        message.id,
        message.title,
        Certainty.POSSIBLE.value,
        "",
        "",
        None,
        cause.sentence,
        (),
        cause.steps,
        ways[0] if ways else None,
        ways,
        message.sources,
    )


def _found(text: PlainText, raised: Sequence[Raised]) -> Iterator[_Found]:
    flat, foreign = text.flat, of_another_library(raised[-1].frames) if raised else False
    known: dict[str, list[int]] = {}
    for message in all_messages().values():
        if message.general and foreign:
            continue
        for at, wording, values in message.found_in(flat, known):
            line = text.line_at(at)
            place, block = _place(line, raised)
            yield _Found(message, at, line, place, len(wording.has), values, block)
    lines = {word: message for message in all_messages().values() for word in message.whole_lines()}
    after = raised[-1].head if raised else -1
    for number, written in enumerate(text.lines):
        if (bare := written.strip().rstrip(".")) in lines:
            place = _FINAL if number > after else _ELSEWHERE
            yield _Found(lines[bare], len(flat), number, place, 60, {}, None)


def _in_a_library(text: PlainText, raised: Sequence[Raised]) -> list[_Found]:
    """Where a message comes from that no kind knows: that of the last exception, else of those that led to it, else of the end."""
    spans: list[tuple[int, int, Raised | None]] = [
        (text.start_of(one.head), text.start_of(one.end), one) for one in _chain(raised)
    ]
    for start, end, block in spans or [(max(0, len(text.flat) - MOST_SAID), len(text.flat), None)]:
        said = text.flat[start : min(end, start + MOST_SAID)]
        place = place_of(said, block.type if block else "")
        if place is not None:
            at, site = start + place.at, place.site
            values = {"raised_by": site.raises, "condition": site.condition, "_said": said[place.at :][:_SHOWN]}
            length = sum(len(part) for part in site.fixed) * place.share
            if length >= SURE_LENGTH:
                values["_sure"] = "yes"
            number = text.line_at(at)
            return [
                _Found(
                    LIBRARY_CHECK, at, number, _place(number, raised)[0], int(length), {**place.values, **values}, block
                )
            ]
    return []


def _chain(raised: Sequence[Raised]) -> list[Raised]:
    found = list(raised[-1:])
    for one in reversed(raised[:-1]):
        if not one.chained:
            break
        found.append(one)
    return found


def _place(line: int, raised: Sequence[Raised]) -> tuple[int, Raised | None]:
    for number, block in enumerate(reversed(raised)):
        if block.head <= line < block.end:
            return (_FINAL if not number else _CHAINED if block.chained else _EARLIER), block
    return (_ELSEWHERE if raised else _FINAL), None


def _one_of_each(found: Iterator[_Found]) -> list[_Found]:
    kept: dict[str, _Found] = {}
    for one in found:
        kept.setdefault(one.message.id, one)
    return list(kept.values())


def _beside(kinds: Sequence[_Found], cards: Sequence[Card]) -> Iterator[Card]:
    """Further kinds, those left out that say the same line less exactly."""
    for one, card in zip(kinds[1:], cards[1:], strict=False):
        if one.line != kinds[0].line or one.message.rank == kinds[0].message.rank:
            yield card


def _card(found: _Found, text: PlainText, last: Raised | None) -> Card:
    flat, message = text.flat, found.message
    end = min(found.at + _AROUND, text.start_of(found.raised.end) if found.raised else len(flat))
    start = text.start_of(found.raised.head) if found.raised else max(0, found.at - BEFORE)
    around = context(flat[max(start, found.at - 4 * _AROUND) : max(end, found.at)])
    values = {**around, **{name.replace("_", " "): value.strip() for name, value in found.values.items()}}
    read = Read({**around, **found.values}, flat)
    cause = message.explain(read)
    certainty = cause.certainty
    if last is not None and found.place < _EARLIER and found.raised is None:
        certainty = _SURE[max(0, _SURE.index(certainty) - 1)]  # the program ended by another message
    return Card(
        message.id,
        message.title,
        certainty,
        _shown(text.lines[found.line]),
        _where((found.raised,)) if found.raised else None,
        cause.sentence,
        tuple(Reading(name, value) for name, value in values.items() if not name.startswith(("_", " "))),
        cause.steps,
        message.ways,
        message.sources,
        "high" if message.role is Role.ERROR else "medium",
    )


def _where(raised: Sequence[Raised]) -> Where | None:
    for block in reversed(raised):
        if frame := own_frame(block.frames):
            return Where(frame.file, frame.line, frame.function, frame.code)
    return None


def _notices(found: Sequence[_Found], text: PlainText) -> Iterator[Notice]:
    for one in _one_of_each(one for one in found if one.message.role is Role.NOTICE):
        cause = one.message.explain(Read(one.values, text.flat))
        yield Notice(one.message.id, _shown(text.lines[one.line]), cause.sentence)


_EMPTY_HEADS = re.compile(r"(?:Graph execution error|in user code|in converted code):?$")
_NOT_TELLING = re.compile(
    r"\s*(?:File \"|Detected at node|Node: '|\[\[\{\{|\^+$|~|Traceback|The above exception|During handling|Original stack|"
    r"Arguments received|Call arguments|• |- |\d{1,9} successful op|\d{1,9} derived err|Errors may have|Input Source|Function call stack)"
)
_COMPLAINS = re.compile(
    r"(?i)\berror\b|\bfail(?:ed|ure)?\b|cannot|could not|unable|abort|terminat|crash|killed|denied|not found|invalid|corrupt"
)


def _telling(text: PlainText, raised: Sequence[Raised]) -> str:
    """The line that says most, where no kind is known."""
    if raised:
        block = raised[-1]
        head = text.lines[block.head].strip()
        if not _EMPTY_HEADS.search(head):
            return _shown(head)
        inner = [
            line.strip()
            for before, line in zip(
                text.lines[block.head : block.end], text.lines[block.head + 1 : block.end], strict=False
            )
            if line.strip() and not _NOT_TELLING.match(line) and not before.lstrip().startswith("File ")
        ]
        return _shown(inner[-1] if inner else head)
    complaining = (
        line for line in reversed(text.lines[-_LOOKED_AT:]) if line.strip() and _COMPLAINS.search(line[:2_000])
    )
    return _shown(next(complaining, "").strip())


def _unknown(
    text: PlainText, raised: Sequence[Raised], cards: tuple[Card, ...], notices: tuple[Notice, ...]
) -> Explanation:
    line, where = _telling(text, raised), _where(raised)
    if not raised and not line:
        title = "No error in this text"
        cause = "No line of it says that anything went wrong."
        if notices:
            cause += " Lines that look alarming and mean nothing by themselves are explained below."
    else:
        title = "This message is not known here"
        place = f" It points to {_place_in_words(where)}." if where else ""
        cause = (
            f"No kind of message fits it, so no cause is named.{place} The line that tells most is shown as it stands."
        )
    return Explanation(
        None,
        title,
        UNKNOWN,
        line,
        raised[-1].type if raised else "",
        where,
        cause,
        others=cards,
        notices=notices,
        shortened=text.shortened,
    )


def _place_in_words(where: Where) -> str:
    return f"{where.file}{f', line {where.line}' if where.line else ''}{f', in {where.function}' if where.function else ''}"


def _shown(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
