"""Goes through a script in the order of its statements, without running it: who calls what with what, where.

Functions of the script are gone through where they are called, as deep as six, each at most twelve times; those that nobody calls, last.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from stethoscope.errors import TooLarge
from stethoscope.pasted.scripts.arithmetic import folded
from stethoscope.pasted.scripts.evaluate import Evaluator
from stethoscope.pasted.scripts.scopes import Scope, is_static, merged, yields
from stethoscope.pasted.scripts.values import (
    Assignment,
    Call,
    Class,
    Const,
    Either,
    Function,
    Items,
    Made,
    Operation,
    Pairs,
    Param,
    Ref,
    Unknown,
    Use,
    Value,
)

_DEEPEST_CALL = 6
_MOST_EVALUATIONS = 12
_MOST_STATEMENTS = 60_000
_FAILS = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "NameError", "KeyError")
_VERSION = ("__version__", "hasattr", "version_info", "VersionInfo", "LooseVersion", "parse_version", "version.parse")


class _Return(Exception):
    pass


class Walker(Evaluator):
    """All that happens in a script, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._returns: list[Value] = []
        self._depth = 0
        self._statements = 0
        self.classes: list[Class] = []
        self._in_class: Class | None = None

    def walk(self, tree: ast.Module) -> None:
        """Goes through the script, then through what nobody called."""
        top = Scope()
        with suppress(_Return):
            self._block(tree.body, top)
        self._reached = False
        for function in list(self.functions):
            if not function.evaluated:
                self._enter(function, None)

    def _block(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._statements += 1
            if self._statements > _MOST_STATEMENTS:
                raise TooLarge("Expected a training script, got one whose functions call each other without end.")
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                scope.put(node.name, self._function(node, scope))
            case ast.ClassDef():
                self._class(node, scope)
            case ast.Import():
                for name in node.names:
                    self._use(name.name, node, imported=True, bound=name.asname or name.name.split(".")[0])
                    scope.put(
                        name.asname or name.name.split(".")[0],
                        Ref(name.name if name.asname else name.name.split(".")[0]),
                    )
            case ast.ImportFrom():
                self._import_from(node, scope)
            case ast.Assign():
                value = self.evaluate(node.value, scope)
                for target in node.targets:
                    self._assign(target, value, scope, node)
            case ast.AnnAssign():
                if node.value is not None:
                    self._assign(node.target, self.evaluate(node.value, scope), scope, node)
            case ast.AugAssign():
                value = self.evaluate(node.value, scope)
                before = self.evaluate(node.target, scope)
                changed = Operation(type(node.op).__name__, before, value, node.lineno)
                self._assign(node.target, Unknown((changed,)) if self._loops else folded(changed), scope, node)
            case ast.Expr():
                value = self.evaluate(node.value, scope)
                self.dropped.append((node, value, self.step(node)))
            case ast.Return():
                self._returns.append(Const(None) if node.value is None else self.evaluate(node.value, scope))
                raise _Return
            case ast.If():
                self._if(node, scope)
            case ast.For() | ast.AsyncFor():
                over = self.evaluate(node.iter, scope)
                with self._looping(node):
                    self._assign(node.target, self.turn_of(over), scope, node)
                    self._branch(node.body, scope)
                self._branch(node.orelse, scope)
            case ast.While():
                self.evaluate(node.test, scope)
                with self._looping(node):
                    self._branch(node.body, scope)
                self._branch(node.orelse, scope)
            case ast.With() | ast.AsyncWith():
                self._with(node, scope)
            case ast.Try() | ast.TryStar():
                self._try(node, scope)
            case ast.Global() | ast.Nonlocal():
                scope.outside.update(node.names)
            case ast.Match():
                self.evaluate(node.subject, scope)
                for case in node.cases:
                    self._branch(case.body, scope)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.evaluate(child, scope)

    def _branch(self, body: Sequence[ast.stmt], scope: Scope) -> bool:
        """Goes through statements that may be left early; says whether they were."""
        try:
            self._block(body, scope)
        except _Return:
            return True
        return bool(body) and isinstance(body[-1], ast.Raise | ast.Continue | ast.Break)

    def _if(self, node: ast.If, scope: Scope) -> None:
        test = self.evaluate(node.test, scope)
        written = ast.unparse(node.test)
        if "__name__" in written or (isinstance(test, Const) and test.value is True):
            self._block(node.body, scope)
            return
        guarded, maybe = self._guarded, self._maybe
        self._guarded = guarded or any(word in written for word in _VERSION)
        self._maybe = True
        before = dict(scope.names)
        left_first = self._branch(node.body, scope)
        first = dict(scope.names)
        scope.names.clear()
        scope.names.update(before)
        left_second = self._branch(node.orelse, scope)
        second = dict(scope.names)
        scope.names.clear()
        if left_first and left_second and node.orelse:
            self._guarded, self._maybe = guarded, maybe
            scope.names.update(merged(first, second))
            raise _Return
        scope.names.update(second if left_first else first if left_second and node.orelse else merged(first, second))
        self._guarded, self._maybe = guarded, maybe

    def _try(self, node: ast.Try | ast.TryStar, scope: Scope) -> None:
        guarded, maybe = self._guarded, self._maybe
        expected = any(
            handler.type is None or any(name in ast.unparse(handler.type) for name in _FAILS)
            for handler in node.handlers
        )
        self._guarded = guarded or expected
        left = self._branch(node.body, scope)
        self._maybe = True
        for handler in node.handlers:
            known = dict(scope.names)
            self._branch(handler.body, scope)
            scope.names.update(known)
        self._guarded, self._maybe = guarded, maybe
        self._branch(node.orelse, scope)
        self._branch(node.finalbody, scope)
        if left and not node.handlers:
            raise _Return

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        opened = []
        for item in node.items:
            value = self.evaluate(item.context_expr, scope)
            opened.append(value)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, value, scope, node)
        before = self._contexts
        self._contexts = (*before, *opened)
        try:
            self._block(node.body, scope)
        finally:
            self._contexts = before

    @contextmanager
    def _looping(self, node: ast.AST) -> Iterator[None]:
        before = self._loops
        self._loops = (*before, node)
        try:
            yield
        finally:
            self._loops = before

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = "." * node.level + (node.module or "")
        for name in node.names:
            if name.name == "*":
                self._use(module, node, imported=True)
                self.stars.append(module)
                continue
            full = f"{module}.{name.name}"
            self._use(full, name, imported=True, bound=name.asname or name.name)
            scope.put(name.asname or name.name, Ref(full))

    def _use(self, name: str, node: Any, *, imported: bool = False, bound: str = "") -> None:
        self.uses.append(Use(**vars(self.step(node)), name=name, imported=imported, bound=bound))

    def _assign(self, target: ast.AST, value: Value, scope: Scope, node: ast.AST) -> None:
        match target:
            case ast.Name():
                scope.put(target.id, value)
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value, scope, node)
            case ast.Starred():
                self._assign(target.value, Unknown((value,)), scope, node)
            case ast.Attribute():
                owner = self.evaluate(target.value, scope)
                attributes = self.attributes_of(owner)
                if attributes is not None:
                    attributes[target.attr] = value
                self.assignments.append(
                    Assignment(**vars(self.step(node)), target=owner, attribute=target.attr, value=value)
                )
            case ast.Subscript():
                owner, key = self.evaluate(target.value, scope), self.evaluate(target.slice, scope)
                if isinstance(owner, Pairs) and isinstance(key, Const):
                    owner.store(key.value, value, bool(self._loops) or self._maybe)
                self.stored.append((Assignment(**vars(self.step(node)), target=owner, value=value), key))

    def _unpack(self, targets: Sequence[ast.expr], value: Value, scope: Scope, node: ast.AST) -> None:
        items = (
            value.items if isinstance(value, Items) and len(value.items) == len(targets) and not value.more else None
        )
        plain = not any(isinstance(target, ast.Starred) for target in targets)
        for place, target in enumerate(targets):
            known = items[place] if items is not None else self.part_of(value, Const(place))
            part = known if plain else Unknown((value,))
            self._assign(target, part, scope, node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Function:
        decorators = tuple(self.evaluate(one, scope) for one in node.decorator_list)
        for default in (*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)):
            self.evaluate(default, scope)
        return self.noted(Function(node, scope, self._in_class, decorators=decorators))

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        found = Class(node, tuple(self.evaluate(base, scope) for base in node.bases))
        scope.put(node.name, found)
        self.classes.append(found)
        for base in found.bases:
            if isinstance(base, Class):
                found.methods.update(base.methods)
                found.attributes.update(base.attributes)
        inner, before = Scope(parent=scope), self._in_class
        self._in_class = found
        self._branch(node.body, inner)
        self._in_class = before
        found.methods.update({name: value for name, value in inner.names.items() if isinstance(value, Function)})
        found.attributes.update({name: value for name, value in inner.names.items() if not isinstance(value, Function)})

    def call_own(self, call: Call) -> Value | None:
        """Goes through a function of the script that is called; what it returns, or None where it is not gone through."""
        function = call.function
        if isinstance(function, Class):
            instance = Made(call)
            if "__init__" in function.methods:
                self._enter(function.methods["__init__"], call, instance)
            return instance
        return self._enter(function, call, function.owner_instance) if isinstance(function, Function) else None

    def _enter(self, function: Function, call: Call | None, instance: Value | None = None) -> Value | None:
        origin = function.origin or function
        if self._depth >= _DEEPEST_CALL or origin.evaluated >= _MOST_EVALUATIONS:
            return None
        origin.evaluated += 1
        scope = Scope(parent=function.scope)
        self._bind(function, call, instance, scope)
        kept = (self._within, self._returns, self._loops if call is None else None)
        self._within, self._returns = function.name, []
        self._depth += 1
        if call is None:
            self._loops = ()
        try:
            if isinstance(function.node, ast.Lambda):
                self._returns.append(self.evaluate(function.node.body, scope))
            else:
                self._branch(function.node.body, scope)
                if yields(function.node.body):
                    return None if call is None else Unknown((Made(call),))
            found = self._returns
        except RecursionError:
            return None
        finally:
            self._depth -= 1
            self._within, self._returns = kept[0], kept[1]
            if kept[2] is not None:
                self._loops = kept[2]
        if not found:
            return Const(None)
        return found[0] if len(found) == 1 else Either(tuple(found))

    def _bind(self, function: Function, call: Call | None, instance: Value | None, scope: Scope) -> None:
        arguments = function.node.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        defaults: dict[str, ast.expr] = dict(zip(names[::-1], arguments.defaults[::-1], strict=False))
        defaults |= {
            one.arg: default
            for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=False)
            if default is not None
        }
        if function.owner is not None and names and not is_static(function):
            scope.names[names.pop(0)] = instance if instance is not None else function.owner
        given: Iterable[tuple[str, Value]] = ()
        if call is not None and not call.spread:
            given = [*zip(names, call.args, strict=False), *call.keywords.items()]
        for name in (*names, *(one.arg for one in arguments.kwonlyargs)):
            value = defaults.get(name) if call is not None else None
            scope.names[name] = Param(name) if value is None else self.evaluate(value, function.scope)
        for name, found in given:
            scope.names[name] = found
        for rest in (arguments.vararg, arguments.kwarg):
            if rest is not None:
                scope.names[rest.arg] = Unknown()
