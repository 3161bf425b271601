"""What an expression of a script is, without running it."""

from __future__ import annotations

import ast
from typing import Any

from stethoscope.pasted.scripts.arithmetic import folded
from stethoscope.pasted.scripts.names import exists
from stethoscope.pasted.scripts.scopes import Scope
from stethoscope.pasted.scripts.values import (
    Assignment,
    Attribute,
    Call,
    Class,
    Const,
    Cut,
    Either,
    Element,
    Function,
    Items,
    Made,
    Operation,
    Pairs,
    Ref,
    Step,
    Unknown,
    Use,
    Value,
    ancestors,
)

_MOST_CALLS = 40_000


class Evaluator:
    """Expressions, and what is noted of them on the way."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.uses: list[Use] = []
        self.assignments: list[Assignment] = []
        self.stored: list[tuple[Assignment, Value]] = []
        """`target[key] = value`."""
        self.dropped: list[tuple[ast.Expr, Value, Step]] = []
        """Statements that are one expression."""
        self.stars: list[str] = []
        """Modules of which everything is imported."""
        self.functions: list[Function] = []
        self.dicts: list[tuple[ast.Dict, Pairs]] = []
        self._free: dict[str, Ref] = {}
        """Names that the script does not say what they are."""
        self._order = 0
        self._within = ""
        self._loops: tuple[ast.AST, ...] = ()
        self._contexts: tuple[Value, ...] = ()
        self._guarded = False
        self._maybe = False
        self._reached = True

    def step(self, node: Any) -> Step:
        """Here, and now."""
        self._order += 1
        return Step(
            node=node,
            line=getattr(node, "lineno", 0),
            order=self._order,
            within=self._within,
            loops=self._loops,
            contexts=self._contexts,
            guarded=self._guarded,
            maybe=self._maybe,
            reached=self._reached,
        )

    def noted(self, function: Function) -> Function:
        """A function that the script makes; gone through last where nobody calls it."""
        self.functions.append(function)
        return function

    def call_own(self, call: Call) -> Value | None:
        """What a function of the script returns, gone through here."""
        raise NotImplementedError

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression; names of libraries in it are noted."""
        match node:
            case ast.Constant():
                return Const(node.value)
            case ast.Name():
                value = self._named(node, scope)
                if isinstance(value, Ref) and "." in value.name and isinstance(node.ctx, ast.Load):
                    self.uses.append(Use(**vars(self.step(node)), name=value.name))
                return value
            case ast.Attribute():
                value = self._attribute(node, scope)
                if isinstance(value, Ref):
                    self.uses.append(Use(**vars(self.step(node)), name=value.name))
                return value
            case ast.Call():
                return self._call(node, scope)
            case ast.Tuple() | ast.List() | ast.Set():
                items = [self.evaluate(item, scope) for item in node.elts]
                return (
                    Unknown(tuple(items)) if any(isinstance(item, ast.Starred) for item in node.elts) else Items(items)
                )
            case ast.Dict():
                return self._dict(node, scope)
            case ast.BinOp():
                left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
                return folded(Operation(type(node.op).__name__, left, right, node.lineno))
            case ast.UnaryOp():
                value = self.evaluate(node.operand, scope)
                if isinstance(value, Const) and isinstance(value.value, int | float):
                    if isinstance(node.op, ast.USub):
                        return Const(-value.value)
                    if isinstance(node.op, ast.Not):
                        return Const(not value.value)
                return Unknown((value,))
            case ast.Subscript():
                part = self.part_of(self.evaluate(node.value, scope), self.evaluate(node.slice, scope))
                if isinstance(part, Element) and part.node is None:
                    part.node = node
                return part
            case ast.IfExp():
                self.evaluate(node.test, scope)
                return Either((self.evaluate(node.body, scope), self.evaluate(node.orelse, scope)))
            case ast.Slice():
                ends = [self.evaluate(one, scope) for one in (node.lower, node.upper, node.step) if one is not None]
                return Cut(tuple(ends))
            case ast.Lambda():
                return self.noted(Function(node, scope))
            case ast.NamedExpr():
                value = self.evaluate(node.value, scope)
                scope.put(node.target.id, value)
                return value
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, scope)
            case _:
                parts = [
                    self.evaluate(child, scope) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)
                ]
                return Unknown(tuple(parts))

    def _comprehension(self, node: Any, scope: Scope) -> Value:
        inner = Scope(parent=scope)
        sources = []
        for generator in node.generators:
            over = self.evaluate(generator.iter, inner)
            sources.append(over)
            self._bind_names(generator.target, self.turn_of(over), inner)
            for condition in generator.ifs:
                self.evaluate(condition, inner)
        before = self._loops
        self._loops = (*before, node)
        element = (
            [self.evaluate(node.key, inner), self.evaluate(node.value, inner)]
            if isinstance(node, ast.DictComp)
            else [self.evaluate(node.elt, inner)]
        )
        self._loops = before
        return Unknown((*element, *sources))

    def _bind_names(self, target: ast.expr, value: Value, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for place, one in enumerate(target.elts):
                self._bind_names(one, self.part_of(value, Const(place)), scope)

    def _named(self, node: ast.Name, scope: Scope) -> Value:
        found = scope.find(node.id)
        if found is not None:
            return found
        for module in reversed(self.stars):
            if exists(f"{module}.{node.id}"):
                return Ref(f"{module}.{node.id}")
        return self._free.setdefault(node.id, Ref(node.id))

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        if isinstance(node.value, ast.Attribute):
            owner = self._attribute(node.value, scope)
        elif isinstance(node.value, ast.Name):
            owner = self._named(node.value, scope)
        else:
            owner = self.evaluate(node.value, scope)
        if isinstance(owner, Ref):
            return Ref(f"{owner.name}.{node.attr}")
        default = self._default_of(owner, node.attr)
        if default is not None:
            return default
        attributes = self.attributes_of(owner)
        if attributes is not None and node.attr in attributes:
            return attributes[node.attr]
        kind = self._class_of(owner)
        if kind is not None and node.attr in kind.methods:
            method = kind.methods[node.attr]
            return Function(method.node, method.scope, kind, owner, origin=method, decorators=method.decorators)
        return Attribute(owner, node.attr, node)

    def _default_of(self, value: Value, name: str) -> Value | None:
        """The default of an argument of the command line: what runs where nothing else is said."""
        if not isinstance(value, Made) or value.call.method not in ("parse_args", "parse_known_args"):
            return None
        for call in self.calls:
            if call.method == "add_argument" and call.receiver is value.call.receiver and not call.spread:
                flags = [flag.value for flag in call.args if isinstance(flag, Const) and isinstance(flag.value, str)]
                own = call.keywords.get("dest")
                said = [own.value] if isinstance(own, Const) else [flag.lstrip("-").replace("-", "_") for flag in flags]
                found = call.keywords.get("default")
                if name in said and isinstance(found, Const) and type(found.value) in (int, float, str):
                    return found
        return None

    @staticmethod
    def _class_of(value: Value) -> Class | None:
        if isinstance(value, Class):
            return value
        if isinstance(value, Made) and isinstance(value.call.function, Class):
            return value.call.function
        return None

    def attributes_of(self, value: Value) -> dict[str, Value] | None:
        """The attributes of an object of a class of the script."""
        kind = self._class_of(value)
        return None if kind is None else kind.attributes

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        pairs: dict[Any, Value] = {}
        whole = True
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.evaluate(item, scope)
            name = None if key is None else self.evaluate(key, scope)
            if isinstance(name, Const) and isinstance(name.value, str | int | float | bool):
                pairs[name.value] = value
            else:
                whole = False
                pairs[f"\0{len(pairs)}"] = value
        found = Pairs(pairs) if whole else Unknown(tuple(pairs.values()))
        if isinstance(found, Pairs):
            self.dicts.append((node, found))
        return found

    def part_of(self, value: Value, key: Value) -> Value:
        """`value[key]`."""
        if isinstance(key, Const):
            if (
                isinstance(value, Items)
                and not value.more
                and isinstance(key.value, int)
                and -len(value.items) <= key.value < len(value.items)
            ):
                return value.items[key.value]
            if isinstance(value, Pairs) and key.value in value.pairs:
                return value.pairs[key.value]
        return Element(value, key)

    def turn_of(self, value: Value) -> Value:
        """One turn of a loop over a value."""
        if isinstance(value, Items) and (value.items or value.more):
            if not value.more:
                return value.items[0] if len(value.items) == 1 else Either(tuple(value.items))
            held = tuple(one for one in value.parents() if not isinstance(one, Either))
            return Either(held) if len(held) == len(value.parents()) else Unknown(held)
        return Element(value, None)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.evaluate(node.func, scope)
        receiver = None
        if isinstance(node.func, ast.Attribute) and not isinstance(function, Ref):
            receiver = function.of if isinstance(function, Attribute) else getattr(function, "owner_instance", None)
            if receiver is None:
                receiver = self.evaluate(node.func.value, scope)
        args = tuple(self.evaluate(arg.value if isinstance(arg, ast.Starred) else arg, scope) for arg in node.args)
        keywords: dict[str, Value] = {}
        spread = any(isinstance(arg, ast.Starred) for arg in node.args)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Pairs) and all(isinstance(key, str) for key in value.pairs):
                keywords |= value.pairs
            else:
                spread = True
        name = function.name if isinstance(function, Ref) else ""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else name.rpartition(".")[2]
        call = Call(
            **vars(self.step(node)),
            function=function,
            name=name,
            method=method,
            receiver=receiver,
            args=args,
            keywords=keywords,
            spread=spread,
        )
        if len(self.calls) < _MOST_CALLS:
            self.calls.append(call)
        result = self.call_own(call)
        if result is None:
            result = self._of_container(call)
        call.result = result if result is not None else Made(call)
        return call.result

    def _of_container(self, call: Call) -> Value | None:
        """What a call on a list or a dict of the script gives; lists grow by it."""
        owner = call.receiver
        if call.name == "dict" and not call.args and not call.spread and call.keywords:
            return Pairs(dict(call.keywords))
        if isinstance(owner, Items) and call.method == "append" and len(call.args) == 1:
            if isinstance(call.args[0], Items | Either) and any(one is owner for one in ancestors(call.args[0])):
                return Const(None)  # a list within itself
            (owner.more if self._loops or self._maybe or owner.more else owner.items).append(call.args[0])
            return Const(None)
        if isinstance(owner, Pairs) and call.method == "get" and call.args and isinstance(call.args[0], Const):
            return owner.pairs.get(call.args[0].value)
        return None
