"""What is known of a value in a script without running it: a constant, a name of a library, what a call made, or nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_MOST_ANCESTORS = 3_000


@dataclass(eq=False)
class Value:
    """Any value. Compared by identity: two equal calls make two things."""

    def parents(self) -> Sequence[Value]:
        """What it was made of."""
        return ()


@dataclass(eq=False)
class Unknown(Value):
    """What nobody can say; `made_of` is what went into it."""

    made_of: tuple[Value, ...] = ()

    def parents(self) -> Sequence[Value]:
        """What went into it."""
        return self.made_of


@dataclass(eq=False)
class Either(Unknown):
    """One of several, by the branch that was taken."""


@dataclass(eq=False)
class Cut(Unknown):
    """A slice, between brackets."""


@dataclass(eq=False)
class Param(Value):
    """A parameter of a function that nobody calls here."""

    name: str


@dataclass(eq=False)
class Const(Value):
    """A plain value of Python."""

    value: Any


@dataclass(eq=False)
class Ref(Value):
    """Something of a library, by its full name as the script imports it: "tensorflow.keras.layers.Dense"."""

    name: str


@dataclass(eq=False)
class Items(Value):
    """A list, tuple or set."""

    items: list[Value]
    more: list[Value] = field(default_factory=list)
    """What is appended in a loop or a branch: nobody knows how often."""

    def parents(self) -> Sequence[Value]:
        """What it holds."""
        return [*self.items, *self.more]


@dataclass(eq=False)
class Pairs(Value):
    """A dict whose keys are plain."""

    pairs: dict[Any, Value]

    def parents(self) -> Sequence[Value]:
        """What it holds."""
        return list(self.pairs.values())

    def store(self, key: Any, value: Value, unsure: bool) -> None:
        """`pairs[key] = value`; unsure where it stands in a loop or a branch."""
        before = self.pairs.get(key)
        self.pairs[key] = Either((before, value)) if unsure and before is not None else value


@dataclass(eq=False)
class Element(Value):
    """A part of another value: `of[key]`, or one turn of a loop over it (`key` is None)."""

    of: Value
    key: Value | None
    node: ast.expr | None = None
    """Where it is written `of[key]`."""

    def parents(self) -> Sequence[Value]:
        """What it is a part of."""
        return (self.of,)


@dataclass(eq=False)
class Attribute(Value):
    """`of.name`."""

    of: Value
    name: str
    node: ast.expr | None = None
    """Where it is written."""

    def parents(self) -> Sequence[Value]:
        """Whose it is."""
        return (self.of,)


@dataclass(eq=False)
class Operation(Value):
    """`left operator right`; the operator by the name of its class in `ast`."""

    operator: str
    left: Value
    right: Value
    line: int = 0

    def parents(self) -> Sequence[Value]:
        """Both sides."""
        return (self.left, self.right)


@dataclass(eq=False)
class Function(Value):
    """A function of the script."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Any
    owner: Class | None = None
    owner_instance: Value | None = None
    evaluated: int = 0
    origin: Function | None = None
    """Of a bound method, the method."""
    decorators: tuple[Value, ...] = ()

    @property
    def name(self) -> str:
        """As it is written."""
        return getattr(self.node, "name", "lambda")


@dataclass(eq=False)
class Class(Value):
    """A class of the script."""

    node: ast.ClassDef
    bases: tuple[Value, ...]
    methods: dict[str, Function] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)
    """What is assigned to `self` in its methods."""


@dataclass(eq=False)
class Made(Value):
    """What a call gives."""

    call: Call

    def parents(self) -> Sequence[Value]:
        """What it was called with, and on."""
        own = () if self.call.receiver is None else (self.call.receiver,)
        called = (self.call.function,) if isinstance(self.call.function, Made) else ()
        return (*own, *called, *self.call.args, *self.call.keywords.values())


@dataclass(eq=False)
class Step:
    """Where something happens: its line, and what it stands within."""

    node: ast.AST
    line: int
    order: int
    """Of what happens in the script, from the first; what no statement reaches comes last."""
    within: str
    """The function, "" for the script itself."""
    loops: tuple[ast.AST, ...]
    contexts: tuple[Value, ...]
    """What `with` statements hold open."""
    guarded: bool
    """Under a question for the version or in a `try` that expects it to fail."""
    maybe: bool
    """In a branch."""
    reached: bool
    """By statements of the script, and not only read."""


@dataclass(eq=False)
class Call(Step):
    """A call."""

    function: Value = field(default_factory=Unknown)
    name: str = ""
    """The full name of what is called, "" where it is not of a library."""
    method: str = ""
    """The last part of what is called: "fit" of `model.fit`."""
    receiver: Value | None = None
    args: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    spread: bool = False
    """Has `*more` or `**more`: not all arguments are known."""
    result: Value | None = None

    def argument(self, name: str, place: int = -1) -> Value | None:
        """An argument by its name or place."""
        if name in self.keywords:
            return self.keywords[name]
        return self.args[place] if 0 <= place < len(self.args) and not self.spread else None

    @property
    def call_node(self) -> ast.Call:
        """The node, as the call that it is."""
        assert isinstance(self.node, ast.Call)
        return self.node


@dataclass(eq=False)
class Assignment(Step):
    """`target.attribute = value`."""

    target: Value = field(default_factory=Unknown)
    attribute: str = ""
    value: Value = field(default_factory=Unknown)


@dataclass(eq=False)
class Use(Step):
    """A name of a library, where it stands."""

    name: str = ""
    imported: bool = False
    """In an import statement."""
    bound: str = ""
    """The name an import gives it."""

    @property
    def expression(self) -> ast.expr:
        """The node, where it is not imported but used."""
        assert isinstance(self.node, ast.expr)
        return self.node


def plain(value: Value | None) -> Any:
    """The plain Python value, or None where it is not known."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Items) and not value.more:
        found = [plain(item) for item in value.items]
        return None if any(item is None for item in found) else found
    return None


def is_const(value: Value | None, wanted: Any) -> bool:
    """Whether a value is known to be this constant."""
    return (isinstance(value, Const) and value.value is wanted) or (
        isinstance(value, Const) and type(value.value) is type(wanted) and value.value == wanted
    )


def number(value: Value | None) -> float | None:
    """A number, where it is known."""
    found = plain(value)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def text(value: Value | None) -> str | None:
    """A string, where it is known."""
    found = plain(value)
    return found if isinstance(found, str) else None


def ancestors(value: Value) -> Iterator[Value]:
    """A value and all that went into it, nearest first; at most 3,000."""
    queue, seen = [value], {id(value)}
    place = 0
    while place < len(queue) and place < _MOST_ANCESTORS:
        here = queue[place]
        place += 1
        yield here
        for parent in here.parents():
            if id(parent) not in seen:
                seen.add(id(parent))
                queue.append(parent)


def calls_behind(value: Value) -> Iterator[Call]:
    """The calls that a value went through, nearest first."""
    for one in ancestors(value):
        if isinstance(one, Made):
            yield one.call
