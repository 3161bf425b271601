"""Choosing runs by a short text: `adam lr<0.01 val_loss<0.3`, `status=FINISHED`, `run=baseline*`, `last.loss>=nan`.

Conditions stand side by side, all must hold; `or` between two of them asks for either, `not` before one for its opposite,
and parentheses group. A word without a sign is looked for in the names of run and group and in parameters that are texts.
Texts are compared without regard to case, `*` stands for anything. Names may be given without the folders before them (`lr` for
`params.yaml:train.lr`), and in quotes where they hold spaces or signs.

A metric stands for its best value, `last.NAME` for its last. A condition on something a run does not have is not met.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from stethoscope.errors import BadSetting
from stethoscope.logs.runs.axes import is_number, name_of
from stethoscope.logs.runs.compare import Comparison, Metric, short_names

MAX_LENGTH = 1_000
_MAX_DEPTH, _MAX_SEARCHED = 20, 200
_TOKEN = re.compile(
    r"""\s*(?:(?P<sign><=|>=|!=|==|=|<|>)|(?P<mark>[()])|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<word>[^\s()<>=!"']+))"""
)
_Test = Callable[[int], bool]


class _Token(NamedTuple):
    kind: str
    """"sign", "mark" or "word"; "text" for a word in quotes, "end" after the last."""
    text: str


def matching(text: str, compared: Comparison, metric: Callable[[str], Metric], tags: Sequence[str]) -> tuple[int, ...]:
    """Places of the runs that a text asks for, in the log's order; all for an empty text.

    Args:
        text: see this module's description.
        compared: the runs.
        metric: gives what the runs reached in a tag; only asked for tags the text names.
        tags: names of all tags.

    Raises:
        BadSetting: the text cannot be understood, or names what no run has; says which part.
    """
    if len(text) > MAX_LENGTH:
        raise BadSetting(f"Filter: expected at most {MAX_LENGTH:,} characters, got {len(text):,}. Shorten it.")
    tokens = _tokens(text)
    if len(tokens) == 1:
        return tuple(range(len(compared.runs)))
    reader = _Reader(tokens, _Names(compared, metric, tags))
    test = reader.either(0)
    if reader.next.kind != "end":
        raise BadSetting(f"Filter: expected a condition, got {reader.next.text!r}. Check the parentheses.")
    return tuple(place for place in range(len(compared.runs)) if test(place))


def _tokens(text: str) -> list[_Token]:
    found, at, stripped = [], 0, text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise BadSetting(f"Filter: expected a condition, got {stripped[at:].strip()[:40]!r}. Close its quotes.")
        kind = str(match.lastgroup)
        found.append(_Token("text" if kind in ("double", "single") else kind, match.group(kind)))
        at = match.end()
    return [*found, _Token("end", "the end")]


class _Reader:
    """Conditions joined by "or", "and" (or nothing) and "not", in parentheses or without."""

    def __init__(self, tokens: list[_Token], names: _Names) -> None:
        self._tokens, self._names, self._at = tokens, names, 0

    @property
    def next(self) -> _Token:
        """What is read next."""
        return self._tokens[self._at]

    def either(self, depth: int) -> _Test:
        """One or more conditions of which one must hold."""
        if depth > _MAX_DEPTH:
            raise BadSetting(f"Filter: expected at most {_MAX_DEPTH} levels of parentheses, got more. Simplify it.")
        tests = [self._all(depth)]
        while self._took("or"):
            tests.append(self._all(depth))
        return tests[0] if len(tests) == 1 else lambda place: any(test(place) for test in tests)

    def _all(self, depth: int) -> _Test:
        tests = [self._one(depth)]
        while self._took("and") or (self.next.kind in ("word", "text") and not self._is("or")) or self._mark("("):
            tests.append(self._one(depth))
        return tests[0] if len(tests) == 1 else lambda place: all(test(place) for test in tests)

    def _one(self, depth: int) -> _Test:
        if self._took("not"):
            test = self._one(depth)
            return lambda place: not test(place)
        if self._mark("("):
            self._at += 1
            inner = self.either(depth + 1)
            if not self._mark(")"):
                raise BadSetting(f"Filter: expected a closing parenthesis, got {self.next.text!r}. Add it.")
            self._at += 1
            return inner
        if self.next.kind not in ("word", "text") or self._is("or") or self._is("and"):
            raise BadSetting(
                f"Filter: expected a name or a word, got {self.next.text!r}. Write conditions like lr<0.01."
            )
        subject = self._taken().text
        if self.next.kind != "sign":
            return self._names.mentions(subject)
        sign = self._taken().text
        if self.next.kind not in ("word", "text"):
            raise BadSetting(f"Filter: expected a value after {subject}{sign}, got {self.next.text!r}. Add it.")
        return self._names.compares(subject, sign, self._taken().text)

    def _taken(self) -> _Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _is(self, word: str) -> bool:
        return self.next.kind == "word" and self.next.text.lower() == word

    def _mark(self, mark: str) -> bool:
        return self.next == _Token("mark", mark)

    def _took(self, word: str) -> bool:
        if not self._is(word):
            return False
        self._at += 1
        return True


class _Names:
    """What the words of a filter stand for."""

    def __init__(self, compared: Comparison, metric: Callable[[str], Metric], tags: Sequence[str]) -> None:
        self._compared, self._metric, self._tags = compared, metric, tags

    def mentions(self, word: str) -> _Test:
        """Whether the run's or group's name, or one of its parameters, holds the word."""
        return lambda place: like(self._words[place], f"*{word}*")

    @functools.cached_property
    def _words(self) -> list[str]:
        """Of each run, all that a word alone is looked for in."""
        found = [[run, group] for run, group in zip(self._compared.runs, self._compared.groups, strict=True)]
        for values in self._compared.parameters.values():
            for place, value in enumerate(values):
                if isinstance(value, str):
                    found[place].append(value[:_MAX_SEARCHED])
        return ["\n".join(texts) for texts in found]

    def compares(self, name: str, sign: str, wanted: str) -> _Test:
        """Whether the run's value of that name compares so with `wanted`."""
        value = self._value_of(name)
        number = _number(wanted)

        def test(place: int) -> bool:
            got = value(place)
            if got is None:
                return False
            if number is not None and is_number(got):
                return _holds(sign, float(got), number)
            if sign in ("<", "<=", ">", ">="):
                return False
            same = like(name_of(got), wanted)
            return same if sign in ("=", "==") else not same

        return test

    def _value_of(self, name: str) -> Callable[[int], Any]:
        plain = {"run": self._compared.runs, "group": self._compared.groups, "experiment": self._compared.groups}
        if name.lower() in plain:
            return plain[name.lower()].__getitem__
        kinds: Mapping[str, tuple[Sequence[str], Callable[[str], Callable[[int], Any]]]] = {
            "params": (tuple(self._compared.parameters), lambda known: self._compared.parameters[known].__getitem__),
            "metrics": (self._tags, lambda known: _reached(self._metric(known), last=False)),
            "last": (self._tags, lambda known: _reached(self._metric(known), last=True)),
            "notes": (tuple(self._compared.notes), lambda known: self._compared.notes[known].__getitem__),
        }
        before, dot, rest = name.partition(".")
        kind = {"best": "metrics", "tags": "notes"}.get(before, before)
        if dot and kind in kinds and (found := _known(rest, kinds[kind][0])):
            return kinds[kind][1](found)
        for names, getter in (kinds["params"], kinds["metrics"], kinds["notes"]):
            if found := _known(name, names):
                return getter(found)
        raise BadSetting(
            f"Filter: expected a parameter, a metric or a note of these runs, got {name!r}. Check its name."
        )


def _known(name: str, names: Sequence[str]) -> str:
    """The full name a shorter one stands for; empty when there is none."""
    if name in names:
        return name
    short = [full for full, text in short_names(names).items() if text.lower() == name.lower()]
    if short:
        return short[0]
    ends = [
        full
        for full in names
        if full.lower() == name.lower()
        or full.lower().endswith(("/" + name.lower(), "." + name.lower(), ":" + name.lower()))
    ]
    return ends[0] if len(ends) == 1 else ""


def _reached(metric: Metric, *, last: bool) -> Callable[[int], Any]:
    values = metric.last if last else metric.best
    return lambda place: float(values[place]) if metric.points[place] else None


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text.replace("−", "-"))
    except ValueError:
        return None


def _holds(sign: str, got: float, wanted: float) -> bool:
    if sign in ("=", "==", "!="):
        same = got == wanted or (math.isnan(got) and math.isnan(wanted)) or math.isclose(got, wanted, rel_tol=1e-9)
        return same is (sign != "!=")
    return {"<": got < wanted, "<=": got <= wanted, ">": got > wanted, ">=": got >= wanted}[sign]


def like(text: str, pattern: str) -> bool:
    """Whether a text is a pattern in which `*` stands for anything, in any case. Takes time in proportion to both lengths.

    A pattern of only the text's words is looked for exactly: "adam" is not "adamw".
    """
    text, parts = text.lower(), pattern.lower().split("*")
    if len(parts) == 1:
        return text == parts[0]
    first, last = parts[0], parts[-1]
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in parts[1:-1]:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
