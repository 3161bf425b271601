"""Which names in a statement of a module are the module's: those that no function, lambda or comprehension inside binds itself."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class _Scope:
    """What is bound in a function, lambda or comprehension, or in the body of a class."""

    bound: frozenset[str]
    of_class: bool = False


def module_names(statement: ast.AST) -> tuple[list[ast.Name], list[str]]:
    """(the names in a statement that may be names of its module, the functions and classes that it defines there).

    What a function imports counts as a name of the module, whose imports are read together.
    """
    reader = _Reader()
    reader.visit(statement)
    return reader.names, reader.defined


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: list[ast.Name] = []
        self.defined: list[str] = []
        self._scopes: list[_Scope] = []

    def visit_Name(self, node: ast.Name) -> None:
        if any(node.id in scope.bound for scope in self._scopes if not scope.of_class):
            return
        in_class = bool(self._scopes) and self._scopes[-1].of_class
        if not (in_class and isinstance(node.ctx, ast.Store)):
            self.names.append(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if not self._scopes:
            self.defined.append(node.name)
        self._visit_all([*node.decorator_list, *_outside(node.args), *([node.returns] if node.returns else [])])
        self._within(_Scope(_bound_in(node.body) | _parameters(node.args)), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_all(_outside(node.args))
        self._within(_Scope(_bound_in([node.body]) | _parameters(node.args)), [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not self._scopes:
            self.defined.append(node.name)
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
        self._within(_Scope(frozenset(), of_class=True), node.body)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        first, *further = node.generators
        self.visit(first.iter)
        targets = [part.id for loop in node.generators for part in ast.walk(loop.target) if _is_bound(part)]
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._within(_Scope(frozenset(targets)), [first.target, *first.ifs, *further, *results])

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def _within(self, scope: _Scope, nodes: Iterable[ast.AST]) -> None:
        self._scopes.append(scope)
        self._visit_all(nodes)
        self._scopes.pop()

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def _outside(arguments: ast.arguments) -> list[ast.AST]:
    """What is read where a function is defined: defaults, and the types of parameters."""
    types = [one.annotation for one in _all_parameters(arguments) if one.annotation]
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default), *types]


def _all_parameters(arguments: ast.arguments) -> list[ast.arg]:
    further = [one for one in (arguments.vararg, arguments.kwarg) if one]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *further]


def _parameters(arguments: ast.arguments) -> frozenset[str]:
    return frozenset(one.arg for one in _all_parameters(arguments))


def _is_bound(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))


def _bound_in(body: Iterable[ast.AST]) -> frozenset[str]:
    """The names that a function's body binds in the function itself, apart from by importing."""
    bound, elsewhere = set[str](), set[str]()
    for node in _own(body):
        if isinstance(node, ast.Name) and _is_bound(node):
            bound.add(node.id)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            elsewhere |= set(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            elsewhere |= {one.asname or one.name.split(".")[0] for one in node.names}
    return frozenset(bound - elsewhere)


def _own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes below, without what has a scope of its own; what `:=` binds in a comprehension is bound outside of it."""
    for node in nodes:
        if isinstance(node, _COMPREHENSIONS):
            yield from (part.target for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
            continue
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            yield from _own(ast.iter_child_nodes(node))
