"""All that is known of a script: its calls in order, the names it uses, the models it builds, and which Keras it is for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from stethoscope.checks.findings import Excerpt, Fault, Finding, Severity
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.errors import TooLarge
from stethoscope.pasted.scripts.models_built import (
    METHODS,
    Head,
    Loss,
    Model,
    head_of_tensor,
    is_model_class,
    layer_of_tensor,
    loss_of,
)
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.parsing import Parsed
from stethoscope.pasted.scripts.patches import Spans, patch
from stethoscope.pasted.scripts.values import (
    Call,
    Class,
    Const,
    Either,
    Function,
    Items,
    Made,
    Pairs,
    Ref,
    Step,
    Value,
    text,
)
from stethoscope.pasted.scripts.walk import Walker

_LEGACY_PIN = re.compile(
    r"(?:tensorflow(?:-gpu|-cpu)?\s*(?:==|<=?|~=)\s*['\"]?(?:1\.|2\.(?:\d|1[0-5])(?!\d))|(?<![\w-])keras\s*(?:==|<=?|~=)\s*['\"]?[012]\.)"
)
_AROUND = 2
Node = TypeVar("Node", bound=ast.AST)


class Facts:
    """What a script says, read and never run."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.source = parsed.source
        self._nodes: dict[type[ast.AST], list[ast.AST]] = {}
        for node in ast.walk(parsed.tree):
            self._nodes.setdefault(type(node), []).append(node)
        self.spans = Spans(parsed.source)
        walker = Walker()
        try:
            walker.walk(parsed.tree)
        except RecursionError as error:
            raise TooLarge(f"{self.source.name}: expected a training script, got code nested too deeply.") from error
        self.calls = sorted(walker.calls, key=lambda call: call.order)
        self.uses = walker.uses
        self.assignments = walker.assignments
        self.stored = walker.stored
        self.dropped = walker.dropped
        self.dicts = walker.dicts
        """Dicts as they are written, with what is known of each."""
        self.stars = tuple(walker.stars)
        self._classes = tuple(walker.classes)
        self.models = self._models()
        self.legacy = self._legacy()
        """Why it is for Keras 2 and says so; "" otherwise."""

    def nodes(self, kind: type[Node]) -> list[Node]:
        """All nodes of one kind in the syntax tree, outer ones first."""
        return cast("list[Node]", self._nodes.get(kind, []))

    def named(self, *names: str) -> Iterator[Call]:
        """Calls of these, by their one name."""
        wanted = set(names)
        return (call for call in self.calls if call.name and meaning(call.name) in wanted)

    def methods(self, *names: str) -> Iterator[Call]:
        """Calls of methods of these names, on whatever."""
        return (call for call in self.calls if call.method in names and call.receiver is not None)

    def imports(self, root: str) -> bool:
        """Whether a package is imported."""
        return any(use.imported and use.name.split(".")[0] == root for use in self.uses) or any(
            star.split(".")[0] == root for star in self.stars
        )

    @property
    def uses_keras(self) -> bool:
        """Whether it is about TensorFlow or Keras at all."""
        return any(self.imports(root) for root in ("tensorflow", "keras", "tf_keras"))

    def model_of(self, value: Value | None) -> Model | None:
        """The model that a value is, if there is one it must be."""
        if isinstance(value, Either):
            found = {id(model): model for one in value.made_of if (model := self.model_of(one)) is not None}
            return next(iter(found.values())) if len(found) == 1 and len(value.made_of) == 1 else None
        if isinstance(value, Made):
            return self._by_call.get(id(value.call))
        return None

    def classes(self) -> Iterator[Class]:
        """Classes of the script, as far as its statements reach them."""
        yield from self._classes

    def compiles(self) -> Iterator[tuple[Model, Call, Head | None, Loss | None]]:
        """Each model with each of its calls of `compile`, how it ends, and its loss; each line once."""
        seen: set[int] = set()
        for model in self.models:
            for call in model.compiled:
                if id(call.node) not in seen:
                    seen.add(id(call.node))
                    yield from ((model, call, head, loss) for head, loss in _ends(model, call))

    def finding(
        self,
        at: Step | int,
        fault: Fault,
        severity: Severity,
        confidence: float,
        message: str,
        summary: str = "",
        edits: Sequence[Edit] = (),
        code: str = "",
    ) -> Finding:
        """A finding at a line, with the lines around it and the patch that `edits` make, or advice."""
        line = at if isinstance(at, int) else at.line
        fix: Fix | None = patch(self.source, summary, edits) if edits else None
        if fix is None and summary:
            fix = Advice(summary, code)
        return Finding(
            fault=fault,
            severity=severity,
            confidence=confidence,
            where=self.source.where(line),
            message=message,
            evidence=(self.excerpt(line),),
            fix=fix,
        )

    def excerpt(self, line: int) -> Excerpt:
        """The lines around one."""
        part, within = self.source.place(line)
        rows = part.text.split("\n")
        first = max(1, within - _AROUND)
        shown = [row[:200] for row in rows[first - 1 : within + _AROUND]]
        return Excerpt(self.source.where(line), "\n".join(shown), first)

    def _models(self) -> list[Model]:
        found: dict[int, Model] = {}
        for call in self.calls:
            kind = _kind(call)
            if kind:
                found[id(call)] = _model(call, kind)
        self._by_call = found
        for call in self.calls:
            model = self.model_of(call.receiver) if call.method in METHODS else None
            if model is not None:
                model.used.append(call)
                if call.method == "add":
                    model.layers.extend(call.args[:1])
                if call.method == "pop" and model.layers:
                    model.layers.pop()
        for assigned in self.assignments:
            model = self.model_of(assigned.target)
            if model is not None:
                model.set.append(assigned)
        self._search(found)
        # One call may be gone through several times, with a function that builds a model.
        return list(found.values())

    def _search(self, found: dict[int, Model]) -> None:
        """A tuner trains what the function it is given builds: its `search` is taken for the `fit` of that model."""
        for call in self.calls:
            tuner = call.receiver.call if call.method == "search" and isinstance(call.receiver, Made) else None
            if tuner is None or tuner.name.partition(".")[0] not in ("keras_tuner", "kerastuner"):
                continue
            builder = tuner.argument("hypermodel", 0)
            for model in found.values():
                if isinstance(builder, Function) and model.call.within == builder.name:
                    last = max((one.order for one in model.used), default=call.order)
                    model.used.append(replace(call, method="fit", order=max(last, call.order)))

    def _legacy(self) -> str:
        for line, command in self.parsed.shell:
            if _LEGACY_PIN.search(command):
                return f"{self.source.where(line)} installs an older version"
        for assigned, key in self.stored:
            if text(key) == "TF_USE_LEGACY_KERAS" and text(assigned.value) in ("1", "true", "True"):
                return f"{self.source.where(assigned.line)} asks for Keras 2 (TF_USE_LEGACY_KERAS)"
        return ""


def _ends(model: Model, call: Call) -> Iterator[tuple[Head | None, Loss | None]]:
    """Each output with its loss, where there are several and both are told apart by place or name."""
    losses = call.argument("loss", 1)
    if len(model.outputs) < 2:
        yield model.head, model.loss(call)
    elif isinstance(losses, Items) and len(losses.items) == len(model.outputs) and not losses.more:
        for tensor, loss in zip(model.outputs, losses.items, strict=True):
            yield head_of_tensor(tensor), loss_of(loss)
    elif isinstance(losses, Pairs):
        names = {_output_name(tensor) for tensor in model.outputs}
        misspelt = [key for key in losses.pairs if key not in names]
        for tensor in model.outputs:
            name = _output_name(tensor)
            if name not in losses.pairs and len(misspelt) == 1 and len(names - set(losses.pairs)) == 1:
                name = misspelt[0]
            if name in losses.pairs:
                yield head_of_tensor(tensor), loss_of(losses.pairs[name])
    else:
        yield None, model.loss(call)


def _output_name(tensor: Value) -> str | None:
    step = layer_of_tensor(tensor)
    layer = step[0] if step is not None else None
    return text(layer.call.argument("name")) if isinstance(layer, Made) else None


def _kind(call: Call) -> str:
    name = meaning(call.name)
    if name == "keras.Sequential":
        return "sequential"
    if name == "keras.Model":
        return "functional"
    if name in (
        "keras.models.load_model",
        "keras.saving.load_model",
        "keras.models.model_from_json",
        "keras.models.clone_model",
    ):
        return "loaded"
    parts = name.split(".")
    if parts[:2] == ["keras", "applications"] and parts[-1][:1].isupper():
        return "application"
    return "subclass" if is_model_class(call.function) else ""


def _model(call: Call, kind: str) -> Model:
    model = Model(call, kind)
    if kind == "sequential":
        layers = call.argument("layers", 0)
        if isinstance(layers, Items):
            model.layers.extend(layers.items)
            model.whole = not layers.more
        elif layers is not None and not (isinstance(layers, Const) and layers.value is None):
            model.whole = False
    elif kind == "functional":
        outputs = call.argument("outputs", 1)
        if outputs is None:
            outputs = call.argument("output", 1)
        model.outputs = tuple(outputs.items) if isinstance(outputs, Items) else () if outputs is None else (outputs,)
    else:
        model.whole = False
    return model


def library(value: Value) -> str:
    """The one name of something of a library, "" for others."""
    return meaning(value.name) if isinstance(value, Ref) else ""
